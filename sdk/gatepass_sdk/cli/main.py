"""`gatepass-cli`: the commands, and what becomes of trouble."""

import sys
from typing import Annotated, Any, cast

import typer

from gatepass_sdk._version import __version__
from gatepass_sdk.cli.deliveries import deliveries, delivery, replay
from gatepass_sdk.cli.endpoints import webhooks
from gatepass_sdk.cli.events import events
from gatepass_sdk.cli.listen import listen
from gatepass_sdk.cli.login import login, profiles
from gatepass_sdk.cli.scan import scan
from gatepass_sdk.cli.status import status
from gatepass_sdk.cli.trigger import trigger
from gatepass_sdk.cli.trouble import EXIT_CODES, ExitCode, Trouble, say
from gatepass_sdk.cli.verify import keys, verify
from gatepass_sdk.errors import GatepassError

# Plain help: rich's would take longer to load than all the rest.
app = typer.Typer(
    name="gatepass-cli",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)
for command in (scan, verify, keys, listen, trigger, login, status):
    app.command()(command)
app.command("whoami", hidden=True)(status)
for command in (deliveries, delivery, replay):
    webhooks.command()(command)
app.add_typer(events, name="events")
app.add_typer(webhooks, name="webhooks")
app.add_typer(profiles, name="profiles")


def _say_version(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        print(f"gatepass-cli {__version__}")
        raise typer.Exit


@app.callback()
def gatepass_cli(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_say_version, is_eager=True)
    ] = False,
) -> None:
    """Gatepass from a terminal: scan cards, verify tokens, receive webhooks without a tunnel.

    `gatepass-cli login` keeps a key. GATEPASS_API_KEY, GATEPASS_BASE_URL and GATEPASS_PROFILE come before what is
    kept, and options before those.
    """


def run() -> None:
    """Run what was asked for. Trouble is told in a line; anything else is a fault of ours and shows its traceback."""
    as_json = "--json" in sys.argv
    try:
        code = app(standalone_mode=False)
    except (Trouble, GatepassError) as trouble:
        code = say(trouble, as_json=as_json)
    except OSError as error:
        code = say(Trouble(f"{error.filename}: {error.strerror}."), as_json=as_json)
    except typer.TyperException as usage:
        code = _say_usage(usage, as_json=as_json)
    except typer.Abort:
        code = INTERRUPTED
    sys.exit(code)


INTERRUPTED = 130


def _say_usage(usage: typer.TyperException, *, as_json: bool) -> int:
    if as_json:
        return say(Trouble(usage.format_message()), as_json=True)
    cast("Any", usage).show()
    return ExitCode.WRONG_USAGE
