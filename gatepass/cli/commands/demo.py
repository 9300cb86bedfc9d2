"""`gatepass demo`: two organizations to try things with, in the configured database."""

import json
from dataclasses import asdict
from typing import Annotated, Final

import typer
import uvloop
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gatepass.cli.demo.build import TICKETS, Demo, build
from gatepass.cli.dev import first_scan
from gatepass.cli.output import print_whole
from gatepass.cli.settings import read_settings_with_vault

MOST_TICKETS: Final = 10_000_000


def demo(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="First delete the demo organizations made earlier.")] = False,
    count: Annotated[
        int, typer.Option("--tickets", min=1, max=MOST_TICKETS, metavar="N", help="How many unused cards to make.")
    ] = TICKETS,
) -> None:
    """Make two demo organizations with keys, events, cards and tickets. It prints secrets: never on a live system."""
    made = uvloop.run(build(read_settings_with_vault(), count=count, reset=reset))
    if as_json:
        print_whole(json.dumps(asdict(made), indent=2))
    else:
        _show(made, count, Console())


def _show(made: Demo, count: int, console: Console) -> None:
    table = Table("key", "text", box=None, pad_edge=False)
    for name, text in made.keys.items():
        table.add_row(name, Text(text, overflow="fold"))
    unused = made.cards["unused"]
    console.print(f"[bold]Gatepass Demo[/bold] {made.organization_id}, with {count:,} unused tickets\n")
    console.print(table)
    if isinstance(unused, list):
        console.print("\nThe first scan of a card opens the gate, the second does not:\n")
        command = first_scan.scan_command(
            made.base_url, made.keys["live"], made.events["published"], unused[0].card_number
        )
        console.print(command, soft_wrap=True, markup=False, highlight=False)
