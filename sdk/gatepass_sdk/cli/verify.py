"""`gatepass-cli verify` and `keys`: card tokens, verified online and offline."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from gatepass_sdk.cli import profiles
from gatepass_sdk.cli.context import Context, with_context
from gatepass_sdk.cli.errors import CommandError, ExitCode
from gatepass_sdk.cli.output import Printer
from gatepass_sdk.tokens import CardKeys


@with_context
def verify(
    context: Context,
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
        reading = _load_keys(keys_file or _keys_file(context)).verify(text)
        known: dict[str, Any] = {**vars(reading), "offline": True}
    else:
        known = dict(context.client.cards.verify(text).raw)
    _show(known, context.out)
    raise typer.Exit(ExitCode.DONE if known["valid"] else ExitCode.REFUSED)


@with_context
def keys(
    context: Context,
    *,
    file: Annotated[Path | None, typer.Argument(help="Where to; without it, where `verify --offline` looks.")] = None,
) -> None:
    """Save public keys, to verify tokens offline.

    They are the organization's, and no secret.
    """
    found = context.client.cards.keys()
    path = file or _keys_file(context)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(found.to_json() + "\n", "utf-8")
    if context.out.as_json:
        context.out.data({"file": str(path), "keys": len(found.keys)})
    else:
        context.out.line(_saved(len(found.keys), path, is_sandbox=context.client.is_sandbox))


def _saved(count: int, path: Path, *, is_sandbox: bool) -> str:
    if count:
        return f"Saved {count} public {'key' if count == 1 else 'keys'} in {path}"
    if is_sandbox:
        return "There is no public key to save: the sandbox has signed no token. verify --offline knows the test cards."
    return "There is no public key to save: the organization has no signing key."


def _keys_file(context: Context) -> Path:
    return profiles.config_folder() / "keys" / f"{context.identity.fingerprint}.json"


def _load_keys(file: Path) -> CardKeys:
    try:
        return CardKeys.from_json(file.read_text("utf-8"))
    except FileNotFoundError:
        raise CommandError(
            f"There are no keys at {file}. Save them while there is a network: gatepass-cli keys"
        ) from None
    except (ValueError, AttributeError):
        raise CommandError(f"{file} is not a file of keys. Make it with gatepass-cli keys.") from None


def _show(known: dict[str, Any], out: Printer) -> None:
    if out.as_json:
        out.data(known)
        return
    about = "  ".join(str(known[name]) for name in ("card_number", "status", "reason") if known.get(name))
    out.verdict("VALID" if known["valid"] else "INVALID", about, good=known["valid"])
    if known.get("offline") and known["valid"]:
        out.line("          Offline: only a scan knows whether the card is suspended or its ticket used.", "faint")
