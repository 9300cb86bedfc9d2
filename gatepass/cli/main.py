"""`gatepass`: the commands, and what becomes of trouble."""

import sys
from typing import Annotated, Final

import typer

from gatepass import __version__
from gatepass.cli.demo import demo
from gatepass.cli.dev import dev
from gatepass.cli.doctor import doctor
from gatepass.cli.migrate import migrate
from gatepass.cli.organization import organization
from gatepass.cli.person import person
from gatepass.cli.reseal import reseal
from gatepass.cli.secret import secret
from gatepass.cli.serve import serve
from gatepass.cli.trouble import Trouble
from gatepass.cli.upkeep import upkeep
from gatepass.cli.worker import worker

PANELS: Final = {
    "Begin here": (dev, demo, doctor),
    "Run the service": (serve, worker, migrate, upkeep, secret, reseal),
}

app = typer.Typer(
    name="gatepass",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for panel, commands in PANELS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)
for group in (organization, person):
    app.add_typer(group, rich_help_panel="Let people in")


def _say_version(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        print(f"gatepass {__version__}")
        raise typer.Exit


@app.callback()
def gatepass(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_say_version, is_eager=True)
    ] = False,
) -> None:
    """One card, many tickets, each activated exactly once.

    `gatepass dev` starts everything on this machine. Settings are GATEPASS_… variables or a .env file.
    """


def run() -> None:
    """The entry point. Trouble is told in a line; anything else is a fault of ours and shows its traceback."""
    try:
        app()
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        sys.exit(trouble.code)
