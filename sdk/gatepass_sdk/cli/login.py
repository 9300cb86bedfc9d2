"""`gatepass-cli login` and `profiles`: several keys by name. A key is typed or piped in, never an argument."""

import getpass
import os
import sys
from typing import Annotated

import typer

from gatepass_sdk import Gatepass
from gatepass_sdk.cli import profiles as profile_store
from gatepass_sdk.cli.context import Context, ProfileName, with_context
from gatepass_sdk.cli.errors import CommandError, ExitCode, is_not_our_api, no_api_at
from gatepass_sdk.cli.output import Printer
from gatepass_sdk.cli.profiles import Profile, Profiles
from gatepass_sdk.errors import APIStatusError, PermissionDenied

profiles = typer.Typer(rich_markup_mode=None)
Name = Annotated[str, typer.Argument(help="The profile.", autocompletion=profile_store.names)]


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
    name = profile_store.checked_name(profile or os.environ.get("GATEPASS_PROFILE") or profile_store.DEFAULT_NAME)
    url = base_url or os.environ.get("GATEPASS_BASE_URL") or _read_url()
    url = profile_store.checked_base_url(url)
    found = Profile(_read_key(), url)
    with Gatepass(found.api_key, base_url=found.base_url) as client:
        if check:
            _check_key(client, url)
    Profiles().save(name, found)
    text = f"Kept a {found.mode} key for {found.base_url} as profile {name}."
    _print_result(Printer(as_json=as_json), text, profile=name, mode=found.mode, base_url=found.base_url)


def _read_url() -> str:
    if not sys.stdin.isatty():
        raise CommandError("Say where Gatepass is: --base-url or GATEPASS_BASE_URL.")
    return str(typer.prompt("Base URL", err=True))


def _read_key() -> str:
    key = getpass.getpass("API key (it is not shown): ") if sys.stdin.isatty() else sys.stdin.readline()
    if not key.strip():
        raise CommandError("No key was given.", ExitCode.KEY)
    return key.strip()


def _check_key(client: Gatepass, base_url: str) -> None:
    try:
        client.events.list(limit=1).first()
    except PermissionDenied as refused:
        if refused.code != "insufficient_scope":
            raise  # otherwise the key is valid, with other scopes
    except APIStatusError as error:
        if is_not_our_api(error):
            raise no_api_at(base_url) from None
        raise


@profiles.callback(invoke_without_command=True)
@with_context
def every_profile(context: Context, *, typer_context: typer.Context) -> None:
    """List profiles, choose the default, or remove one. Without a command it lists them."""
    if context.is_without_command(typer_context):
        _list(context)


@profiles.command("list")
@with_context
def list_profiles(context: Context) -> None:
    """Every profile. Keys are not shown."""
    _list(context)


def _list(context: Context) -> None:
    found = Profiles()
    rows = [(name, one.mode, one.base_url, name == found.default) for name, one in sorted(found.named.items())]
    if context.out.as_json:
        for name, mode, url, is_default in rows:
            context.out.data({"profile": name, "mode": mode, "base_url": url, "default": is_default})
        return
    shown = [(name, mode, url, "default" if is_default else "") for name, mode, url, is_default in rows]
    context.out.table(("profile", "mode", "base url", ""), shown, "There are none. Make one: gatepass-cli login")


@profiles.command("use")
@with_context
def use_profile(context: Context, *, name: Name) -> None:
    """Make this profile the default."""
    Profiles().use(name)
    _print_result(context.out, f"{name} is the default now.", profile=name, default=True)


@profiles.command("remove")
@with_context
def remove_profile(context: Context, *, name: Name) -> None:
    """Forget this profile and its key."""
    Profiles().remove(name)
    _print_result(context.out, f"{name} is forgotten.", profile=name, removed=True)


def _print_result(out: Printer, text: str, **known: object) -> None:
    if out.as_json:
        out.data(known)
    else:
        out.line(text)
