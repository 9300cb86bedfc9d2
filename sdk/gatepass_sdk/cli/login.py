"""`gatepass-cli login` and `profiles`: several keys, by name. A key is typed or piped in, never an argument."""

import getpass
import os
import sys
from typing import Annotated

import typer

from gatepass_sdk import Gatepass
from gatepass_sdk.cli import profiles as kept
from gatepass_sdk.cli.desk import Desk, ProfileName, at_desk
from gatepass_sdk.cli.printing import Printer
from gatepass_sdk.cli.profiles import Profile, Profiles
from gatepass_sdk.cli.trouble import ExitCode, Trouble
from gatepass_sdk.errors import PermissionDenied

profiles = typer.Typer(rich_markup_mode=None)
Name = Annotated[str, typer.Argument(help="The profile.", autocompletion=kept.names)]


def login(
    *,
    profile: ProfileName = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="Where Gatepass is; it ends with /api/public/v1.")
    ] = None,
    check: Annotated[bool, typer.Option("--check/--no-check", help="Try the key before it is kept.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Keep a key under a name. It is asked for, or read from stdin: gatepass-cli login < key.txt"""
    name = kept.checked_name(profile or os.environ.get("GATEPASS_PROFILE") or kept.FIRST)
    url = base_url or os.environ.get("GATEPASS_BASE_URL") or _asked_url()
    kept.require_url(url, "The base URL")
    found = Profile(_asked_key(), url.rstrip("/"))
    with Gatepass(found.api_key, base_url=found.base_url) as client:
        if check:
            _try(client)
    Profiles().keep(name, found)
    text = f"Kept a {found.mode} key for {found.base_url} as profile {name}."
    _tell(Printer(as_json=as_json), text, profile=name, mode=found.mode, base_url=found.base_url)


def _asked_url() -> str:
    if not sys.stdin.isatty():
        raise Trouble("Say where Gatepass is: --base-url or GATEPASS_BASE_URL.")
    return str(typer.prompt("Base URL", err=True))


def _asked_key() -> str:
    key = getpass.getpass("API key (it is not shown): ") if sys.stdin.isatty() else sys.stdin.readline()
    if not key.strip():
        raise Trouble("No key was given.", ExitCode.KEY)
    return key.strip()


def _try(client: Gatepass) -> None:
    try:
        client.events.list(limit=1).first()
    except PermissionDenied:
        return  # it is a key, for other things


@profiles.callback(invoke_without_command=True)
@at_desk
def every_profile(desk: Desk, *, context: typer.Context) -> None:
    """List profiles, choose the default, or remove one. Without a command it lists them."""
    if desk.is_alone(context):
        _list(desk)


@profiles.command("list")
@at_desk
def list_profiles(desk: Desk) -> None:
    """Every profile. Keys are not shown."""
    _list(desk)


def _list(desk: Desk) -> None:
    found = Profiles()
    rows = [(name, one.mode, one.base_url, name == found.default) for name, one in sorted(found.named.items())]
    if desk.out.as_json:
        for name, mode, url, is_default in rows:
            desk.out.data({"profile": name, "mode": mode, "base_url": url, "default": is_default})
        return
    shown = [(name, mode, url, "default" if is_default else "") for name, mode, url, is_default in rows]
    desk.out.table(("profile", "mode", "base url", ""), shown, "There are none. Make one: gatepass-cli login")


@profiles.command("use")
@at_desk
def use_profile(desk: Desk, *, name: Name) -> None:
    """Make this profile the default."""
    Profiles().use(name)
    _tell(desk.out, f"{name} is the default now.", profile=name, default=True)


@profiles.command("remove")
@at_desk
def remove_profile(desk: Desk, *, name: Name) -> None:
    """Forget this profile and its key."""
    Profiles().remove(name)
    _tell(desk.out, f"{name} is forgotten.", profile=name, removed=True)


def _tell(out: Printer, text: str, **known: object) -> None:
    if out.as_json:
        out.data(known)
    else:
        out.line(text)
