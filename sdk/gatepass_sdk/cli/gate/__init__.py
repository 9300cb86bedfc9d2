"""`gatepass-cli gate`: this machine as a gate that keeps admitting."""

import typer

from gatepass_sdk.cli.gate.device import retire, status, upload
from gatepass_sdk.cli.gate.pair import pair
from gatepass_sdk.cli.gate.run import run

gate = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="This machine as a gate: pair it, scan with a USB reader, online or not.",
)
for command in (pair, run, status, upload, retire):
    gate.command()(command)
