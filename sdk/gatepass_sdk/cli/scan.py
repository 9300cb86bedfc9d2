"""`gatepass-cli scan`: show cards at a gate, and read what the gate says."""

import sys
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from gatepass_sdk import SANDBOX_EVENT_ID
from gatepass_sdk.cli.arguments import moment
from gatepass_sdk.cli.desk import Desk, at_desk
from gatepass_sdk.cli.progress import bar
from gatepass_sdk.cli.trouble import ExitCode, Trouble, code_of, told
from gatepass_sdk.errors import APIStatusError, GatepassError
from gatepass_sdk.models import ScanResult

TOKEN: Final = "SVC1."  # noqa: S105  what tokens begin with
STDIN: Final = "-"


@at_desk
def scan(
    desk: Desk,
    *,
    cards: Annotated[
        list[str] | None, typer.Argument(metavar="CARD", help="Card numbers or tokens; - reads them from stdin.")
    ] = None,
    event: Annotated[
        str | None, typer.Option("--event", "-e", metavar="ID", help="The event; a sandbox key has its own.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", exists=True, dir_okay=False, help="Cards, one a line.")
    ] = None,
    gate: Annotated[str | None, typer.Option("--gate", help="Where the card was shown.")] = None,
    scanner: Annotated[str | None, typer.Option("--scanner", metavar="ID", help="What read it.")] = None,
    occurred_at: Annotated[
        str | None, typer.Option("--occurred-at", metavar="TIME", help="When, if not now: a time, or 10m for ago.")
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="KEY", help="The Idempotency-Key of a scan whose answer was lost."),
    ] = None,
) -> None:
    """Scan cards: each one's ticket is activated, once.

    A green line lets them in, a red one does not; the exit code says the same.
    """
    shown = _cards(cards, file)
    if key is not None and (isinstance(shown, Iterator) or len(shown) > 1):
        raise Trouble("--key belongs to one scan: give one card with it.")
    gatekeeper = _Gatekeeper(desk, _event(desk, event), gate, scanner, moment(occurred_at, "--occurred-at"), key)
    worst = ExitCode.DONE
    how_many = 0 if isinstance(shown, Iterator) else len(shown)
    with bar("Scanning", how_many, wanted=how_many > 1) as advance:
        for place, card in enumerate(shown, 1):
            worst = max(worst, gatekeeper.admit(card, place))
            advance(place)
    raise typer.Exit(worst)


class _Gatekeeper:
    """Scans one card after the other, and says each verdict as it comes."""

    def __init__(
        self,
        desk: Desk,
        event_id: str,
        gate: str | None,
        scanner: str | None,
        occurred_at: datetime | None,
        key: str | None,
    ) -> None:
        self._client = desk.client
        self._out = desk.out
        self._event_id = event_id
        self._gate = gate
        self._scanner = scanner
        self._occurred_at = occurred_at
        self._key = key

    def admit(self, card: str, place: int) -> ExitCode:
        number, is_token = _number(card), card.startswith(TOKEN)
        try:
            result = self._client.scans.create(
                self._event_id,
                card_number=None if is_token else card,
                token=card if is_token else None,
                scanner_id=self._scanner,
                gate=self._gate,
                occurred_at=self._occurred_at,
                idempotency_key=self._key,
            )
        except GatepassError as error:
            if code_of(error) is ExitCode.KEY:
                raise
            self._turn_away(number, place, error)
            return code_of(error)
        self._let_in(number, place, result)
        return ExitCode.DONE

    def _let_in(self, number: str, place: int, result: ScanResult) -> None:
        if self._out.as_json:
            known = {"request_id": result.request_id, "idempotency_key": result.idempotency_key}
            said = {"line": place, "card_number": number, "verdict": "activated", **result.raw}
            self._out.data({**said, "replayed": result.replayed, **known})
            return
        again = "  (an earlier try of this scan did it)" if result.replayed else ""
        self._out.verdict("ENTER", f"{number}  {result.category_name} ({result.tier}){again}", good=True)

    def _turn_away(self, number: str, place: int, error: GatepassError) -> None:
        unknown = code_of(error) not in (ExitCode.REFUSED, ExitCode.WRONG_USAGE)
        if self._out.as_json:
            verdict = "unknown" if unknown else "refused"
            self._out.data({"line": place, "card_number": number, "verdict": verdict, **told(error)})
            return
        self._out.verdict("RETRY" if unknown else "STOP", f"{number}  {_why(error)}", good=False)
        if unknown and error.idempotency_key:
            self._out.line(f"          Ask again with --key {error.idempotency_key}", "faint")


def _why(error: GatepassError) -> str:
    if not isinstance(error, APIStatusError):
        return error.message
    first = [str(error.details[name]) for name in ("activated_at", "gate") if error.details.get(name)]
    since = f" First: {', '.join(first)}." if first else ""
    return f"{error.message}{since} ({error.request_id})"


def _event(desk: Desk, event: str | None) -> str:
    if event is not None:
        return event
    if not desk.client.is_sandbox:
        raise Trouble("Say which event with --event; gatepass-cli events lists them.")
    return SANDBOX_EVENT_ID


def _cards(cards: Sequence[str] | None, file: Path | None) -> Sequence[str] | Iterator[str]:
    """All of them at once, or as they come in: a hand scanner types a line for each."""
    if (not cards) == (file is None):
        raise Trouble("Say which cards: as arguments, with --file, or with - from stdin.")
    if file is not None:
        return list(_lines(file.read_text("utf-8", "replace").splitlines()))
    return _lines(sys.stdin) if cards == [STDIN] else cards or []


def _lines(lines: Iterable[str]) -> Iterator[str]:
    return (line.strip() for line in lines if line.strip())


def _number(card: str) -> str:
    """The card's number. A token is a secret and is not shown; the number in it is not."""
    if not card.startswith(TOKEN):
        return card
    part = card.split(".")[1]
    try:
        return urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode("ascii")
    except ValueError:
        return part if part.startswith("TEST_") else "token"
