"""`gatepass-cli verify` and `keys`: what a card token is worth, with a network and without."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from gatepass_sdk.cli import profiles
from gatepass_sdk.cli.desk import Desk, at_desk
from gatepass_sdk.cli.printing import Printer
from gatepass_sdk.cli.trouble import ExitCode, Trouble
from gatepass_sdk.tokens import CardKeys


@at_desk
def verify(
    desk: Desk,
    *,
    token: Annotated[str, typer.Argument(help="SVC1.…; - reads it from stdin.")],
    offline: Annotated[bool, typer.Option("--offline", help="By the keys that `keys` has saved; no network.")] = False,
    keys_file: Annotated[
        Path | None, typer.Option("--keys", metavar="FILE", help="Offline, by the keys in this file.")
    ] = None,
) -> None:
    """Say whether a card token is good. No ticket is activated."""
    text = sys.stdin.readline().strip() if token == "-" else token  # noqa: S105  a dash
    if offline or keys_file is not None:
        reading = _kept(keys_file or _place(desk)).verify(text)
        known: dict[str, Any] = {**vars(reading), "offline": True}
    else:
        known = dict(desk.client.cards.verify(text).raw)
    _show(known, desk.out)
    raise typer.Exit(ExitCode.DONE if known["valid"] else ExitCode.REFUSED)


@at_desk
def keys(
    desk: Desk,
    *,
    file: Annotated[Path | None, typer.Argument(help="Where to; without it, where `verify --offline` looks.")] = None,
) -> None:
    """Save public keys, to verify tokens offline.

    They are the organization's, and no secret.
    """
    found = desk.client.cards.keys()
    place = file or _place(desk)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(found.to_json() + "\n", "utf-8")
    if desk.out.as_json:
        desk.out.data({"file": str(place), "keys": len(found.keys)})
    else:
        desk.out.line(f"Saved {len(found.keys)} public keys in {place}")


def _place(desk: Desk) -> Path:
    return profiles.home() / "keys" / f"{desk.identity.fingerprint}.json"


def _kept(file: Path) -> CardKeys:
    try:
        return CardKeys.from_json(file.read_text("utf-8"))
    except FileNotFoundError:
        raise Trouble(f"There are no keys at {file}. Save them while there is a network: gatepass-cli keys") from None
    except (ValueError, AttributeError):
        raise Trouble(f"{file} is not a file of keys. Make it with gatepass-cli keys.") from None


def _show(known: dict[str, Any], out: Printer) -> None:
    if out.as_json:
        out.data(known)
        return
    about = "  ".join(str(known[name]) for name in ("card_number", "status", "reason") if known.get(name))
    out.verdict("VALID" if known["valid"] else "INVALID", about, good=known["valid"])
    if known.get("offline") and known["valid"]:
        out.line("          Offline: only a scan knows whether the card is suspended or its ticket used.", "faint")
