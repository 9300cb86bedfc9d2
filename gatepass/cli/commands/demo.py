"""`gatepass demo`: two organizations to try things with, in the configured database."""

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated, Final

import typer
import uvloop
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from gatepass.base.settings import Settings
from gatepass.cli import environment, reaching, trying
from gatepass.cli.printing import print_whole
from gatepass.cli.staging import Demo, clear, stage

TICKETS: Final = 300
MOST_TICKETS: Final = 10_000_000
# Fewer are there before a bar could be read.
WORTH_A_BAR: Final = 5_000


def demo(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="First delete the demo organizations made earlier.")] = False,
    count: Annotated[
        int, typer.Option("--tickets", min=1, max=MOST_TICKETS, metavar="N", help="How many unused cards to make.")
    ] = TICKETS,
) -> None:
    """Make two demo organizations with keys, events, cards and tickets. It prints secrets: never on a live system."""
    made = uvloop.run(make(environment.read_with_vault(), count=count, reset=reset))
    if as_json:
        print_whole(json.dumps(asdict(made), indent=2))
    else:
        _show(made, count, Console())


async def make(settings: Settings, *, count: int = TICKETS, reset: bool = False) -> Demo:
    async with reaching.database(settings) as db:
        if reset:
            with Console(stderr=True).status("Clearing the demo made earlier"):
                await clear(db)
        with _bar(count) as loaded:
            return await stage(db, settings, count, loaded)


class _Speed(ProgressColumn):
    """The average since the beginning; rich's own is of the last few batches only."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.completed / task.elapsed if task.elapsed else 0:,.0f} tickets/s")


@contextmanager
def _bar(count: int) -> Generator[Callable[[int], None]]:
    columns = (TextColumn("Loading"), BarColumn(), MofNCompleteColumn(), _Speed(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=count < WORTH_A_BAR) as progress:
        task = progress.add_task("Loading", total=count)
        yield lambda size: progress.advance(task, size)


def _show(made: Demo, count: int, console: Console) -> None:
    table = Table("key", "text", box=None, pad_edge=False)
    for name, text in made.keys.items():
        table.add_row(name, Text(text, overflow="fold"))
    unused = made.cards["unused"]
    console.print(f"[bold]Gatepass Demo[/bold] {made.organization_id}, with {count:,} unused tickets\n")
    console.print(table)
    if isinstance(unused, list):
        console.print("\nThe first scan of a card opens the gate, the second does not:\n")
        command = trying.scan_command(made.base_url, made.keys["live"], made.events["published"], unused[0].card_number)
        console.print(command, soft_wrap=True, markup=False, highlight=False)
