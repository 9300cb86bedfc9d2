"""`gatepass`: its commands and their exit codes."""

import sys
from importlib import import_module
from typing import Annotated, Final

import typer

from gatepass import __version__
from gatepass.base import log
from gatepass.cli.app import App
from gatepass.cli.errors import WRONG_STATE, CommandError
from gatepass.server.errors import CannotListen

# The commands by the panels of the help, and the module of each.
PANELS: Final = {
    "Begin here": {"dev": "dev", "demo": "demo", "doctor": "doctor"},
    "Run the service": {
        "serve": "serve",
        "worker": "worker",
        "migrate": "migrate",
        "maintenance": "maintenance",
        "secret": "encryption",
        "reencrypt": "encryption",
    },
    "Organizations, people and keys": {
        "organization": "organization",
        "person": "person",
        "key": "key",
        "device": "device",
    },
}


def make_app(only: str | None = None) -> App:
    """All commands, or the one that is called: importing all of them takes longer than most commands."""
    app = App(
        "gatepass",
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(gatepass)
    known = any(only in modules for modules in PANELS.values())
    for panel, modules in PANELS.items():
        for name, module in modules.items():
            if known and name != only:
                continue
            command = getattr(import_module(f"gatepass.cli.commands.{module}"), name)
            if isinstance(command, typer.Typer):
                app.add_typer(command, rich_help_panel=panel)
            else:
                app.command(rich_help_panel=panel)(command)
    return app


def _print_version(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        print(f"gatepass {__version__}")
        raise typer.Exit


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
        make_app(only=sys.argv[1] if len(sys.argv) > 1 else None)()
    except CommandError as error:
        print(error, file=sys.stderr)
        sys.exit(error.code)
    except CannotListen as error:
        print(error, file=sys.stderr)
        sys.exit(WRONG_STATE)
