"""`gatepass-cli scan`: scan cards, and print each verdict."""

import sys
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from gatepass_sdk import SANDBOX_EVENT_ID
from gatepass_sdk.cli.arguments import moment
from gatepass_sdk.cli.context import Context, with_context
from gatepass_sdk.cli.errors import CommandError, ExitCode, code_of, error_fields, is_not_our_api
from gatepass_sdk.cli.progress import bar
from gatepass_sdk.errors import APIStatusError, GatepassError
from gatepass_sdk.models import ScanResult

TOKEN: Final = "SVC1."  # noqa: S105  the prefix of tokens
STDIN: Final = "-"


@with_context
def scan(
    context: Context,
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
        raise CommandError("--key belongs to one scan: give one card with it.")
    card_scanner = _CardScanner(
        context, _event(context, event), gate, scanner, moment(occurred_at, "--occurred-at"), key
    )
    worst = ExitCode.DONE
    how_many = 0 if isinstance(shown, Iterator) else len(shown)
    with bar("Scanning", how_many, wanted=how_many > 1) as advance:
        for line, card in enumerate(shown, 1):
            worst = max(worst, card_scanner.scan(card, line))
            advance(line)
    raise typer.Exit(worst)


class _CardScanner:
    """Scans one card after the other, and prints each verdict."""

    def __init__(
        self,
        context: Context,
        event_id: str,
        gate: str | None,
        scanner: str | None,
        occurred_at: datetime | None,
        key: str | None,
    ) -> None:
        self._client = context.client
        self._out = context.out
        self._event_id = event_id
        self._gate = gate
        self._scanner = scanner
        self._occurred_at = occurred_at
        self._key = key

    def scan(self, card: str, line: int) -> ExitCode:
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
            if code_of(error) is ExitCode.KEY or is_not_our_api(error):
                raise
            self._print_failure(number, line, error)
            return code_of(error)
        self._print_activated(number, line, result)
        return ExitCode.DONE

    def _print_activated(self, number: str, line: int, result: ScanResult) -> None:
        if self._out.as_json:
            known = {"request_id": result.request_id, "idempotency_key": result.idempotency_key}
            fields = {"line": line, "card_number": number, "verdict": "activated", **result.raw}
            self._out.data({**fields, "replayed": result.replayed, **known})
            return
        again = "  (an earlier try of this scan did it)" if result.replayed else ""
        self._out.verdict("ENTER", f"{number}  {result.category_name} ({result.tier}){again}", good=True)

    def _print_failure(self, number: str, line: int, error: GatepassError) -> None:
        unknown = code_of(error) not in (ExitCode.REFUSED, ExitCode.WRONG_USAGE)
        if self._out.as_json:
            verdict = "unknown" if unknown else "refused"
            self._out.data({"line": line, "card_number": number, "verdict": verdict, **error_fields(error)})
            return
        self._out.verdict("RETRY" if unknown else "STOP", f"{number}  {_reason(error)}", good=False)
        if unknown and error.idempotency_key:
            self._out.line(f"          Ask again with --key {error.idempotency_key}", "faint")


def _reason(error: GatepassError) -> str:
    if not isinstance(error, APIStatusError):
        return error.message
    first = [_time(error.details.get("activated_at")), error.details.get("gate")]
    since = f" First: {', '.join(str(one) for one in first if one)}." if any(first) else ""
    return f"{error.message}{since} ({error.request_id})"


def _time(text: object) -> str | None:
    """A time as the clock at the gate shows it, with its day if that is not today."""
    try:
        at = datetime.fromisoformat(str(text)).astimezone()
    except ValueError:
        return None
    return f"{at:%H:%M:%S}" if at.date() == datetime.now().astimezone().date() else f"{at:%Y-%m-%d %H:%M:%S}"


def _event(context: Context, event: str | None) -> str:
    if event is not None:
        return event
    if not context.client.is_sandbox:
        raise CommandError("Say which event with --event; gatepass-cli events lists them.")
    return SANDBOX_EVENT_ID


def _cards(cards: Sequence[str] | None, file: Path | None) -> Sequence[str] | Iterator[str]:
    """The arguments, the lines of the file, or an iterator over stdin, where a hand scanner types a line per card."""
    if (not cards) == (file is None):
        raise CommandError("Say which cards: as arguments, with --file, or with - from stdin.")
    if file is not None:
        return list(_lines(file.read_text("utf-8", "replace").splitlines()))
    return _lines(sys.stdin) if cards == [STDIN] else cards or []


def _lines(lines: Iterable[str]) -> Iterator[str]:
    return (line.strip() for line in lines if line.strip())


def _number(card: str) -> str:
    """The number of the card. A token is a secret and is not printed; the number in it is not secret."""
    if not card.startswith(TOKEN):
        return card
    part = card.split(".")[1]
    try:
        return urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode("ascii")
    except ValueError:
        return part if part.startswith("TEST_") else "token"
