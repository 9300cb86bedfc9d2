"""`gatepass-cli`: its commands, and how their errors are printed."""

import sys
from typing import Annotated, Any, cast

import typer

from gatepass_sdk._version import __version__
from gatepass_sdk.cli.deliveries import deliveries, delivery, replay
from gatepass_sdk.cli.endpoints import webhooks
from gatepass_sdk.cli.errors import EXIT_CODES, CommandError, ExitCode, print_error
from gatepass_sdk.cli.events import events
from gatepass_sdk.cli.gate import gate
from gatepass_sdk.cli.listen import listen
from gatepass_sdk.cli.login import login, profiles
from gatepass_sdk.cli.platform import events as event_changes
from gatepass_sdk.cli.platform.cards import cards
from gatepass_sdk.cli.platform.imports import import_tickets
from gatepass_sdk.cli.platform.tickets import tickets
from gatepass_sdk.cli.resend import resend
from gatepass_sdk.cli.scan import scan
from gatepass_sdk.cli.status import status
from gatepass_sdk.cli.trigger import trigger
from gatepass_sdk.cli.verify import keys, verify
from gatepass_sdk.errors import GatepassError

# Plain help: rich takes longer to load than all the rest.
app = typer.Typer(
    name="gatepass-cli",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)
for command in (scan, resend, verify, keys, listen, trigger, login, status):
    app.command()(command)
app.command("import")(import_tickets)
app.command("whoami", hidden=True)(status)
for command in (deliveries, delivery, replay):
    webhooks.command()(command)
event_changes.add_to(events)
app.add_typer(events, name="events")
app.add_typer(cards, name="cards")
app.add_typer(tickets, name="tickets")
app.add_typer(webhooks, name="webhooks")
app.add_typer(gate, name="gate")
app.add_typer(profiles, name="profiles")


def _print_version(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        print(f"gatepass-cli {__version__}")
        raise typer.Exit


@app.callback()
def gatepass_cli(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Gatepass from a terminal: scan cards, issue tickets, verify tokens, receive webhooks without a tunnel.

    `gatepass-cli login` keeps a key. GATEPASS_API_KEY, GATEPASS_BASE_URL and GATEPASS_PROFILE come before what is
    kept, and options before those.
    """


def run() -> None:
    """Run the command. Expected errors are printed in a line; any other is a bug and shows its traceback."""
    as_json = "--json" in sys.argv
    try:
        code = app(standalone_mode=False)
    except (CommandError, GatepassError) as error:
        code = print_error(error, as_json=as_json)
    except OSError as error:
        code = print_error(CommandError(f"{error.filename}: {error.strerror}."), as_json=as_json)
    except typer.TyperException as usage:
        code = _print_usage(usage, as_json=as_json)
    except typer.Abort:
        code = INTERRUPTED
    sys.exit(code)


INTERRUPTED = 130


def _print_usage(usage: typer.TyperException, *, as_json: bool) -> int:
    if as_json:
        return print_error(CommandError(usage.format_message()), as_json=True)
    cast("Any", usage).show()
    return ExitCode.WRONG_USAGE
