"""`gatepass`: its commands and their exit codes."""

import sys
from typing import Annotated, Final

import typer

from gatepass import __version__
from gatepass.base import log
from gatepass.cli.app import App
from gatepass.cli.commands.demo import demo
from gatepass.cli.commands.dev import dev
from gatepass.cli.commands.doctor import doctor
from gatepass.cli.commands.encryption import reencrypt, secret
from gatepass.cli.commands.key import key
from gatepass.cli.commands.maintenance import maintenance
from gatepass.cli.commands.migrate import migrate
from gatepass.cli.commands.organization import organization
from gatepass.cli.commands.person import person
from gatepass.cli.commands.serve import serve
from gatepass.cli.commands.worker import worker
from gatepass.cli.errors import WRONG_STATE, CommandError
from gatepass.server.run import CannotListen

PANELS: Final = {
    "Begin here": (dev, demo, doctor),
    "Run the service": (serve, worker, migrate, maintenance, secret, reencrypt),
}

app = App(
    "gatepass",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for panel, commands in PANELS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)
for group in (organization, person, key):
    app.add_typer(group, rich_help_panel="Organizations, people and keys")


def _print_version(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        print(f"gatepass {__version__}")
        raise typer.Exit


@app.callback()
def gatepass(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """One card, many tickets, each activated exactly once.

    `gatepass dev` starts everything on this machine. Settings are GATEPASS_… variables or a .env file.
    """


def run() -> None:
    """The entry point. An expected error is printed without a traceback; any other is a fault of ours and shows it."""
    # A command that ends prints its answer alone; `serve` and `worker` configure the log by their settings.
    log.configure("critical", "console")
    try:
        app()
    except CommandError as error:
        print(error, file=sys.stderr)
        sys.exit(error.code)
    except CannotListen as error:
        print(error, file=sys.stderr)
        sys.exit(WRONG_STATE)
