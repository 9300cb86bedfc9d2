"""`gatepass upkeep`: what is due now, once or again and again. Several may run at a time."""

import asyncio
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from gatepass.base.clock import system_clock
from gatepass.base.settings import Settings
from gatepass.cli import environment, reaching
from gatepass.cli.stopping import until_told_to_stop
from gatepass.cli.trouble import Trouble
from gatepass.domain.upkeep import Done, keep


def upkeep(
    every: Annotated[
        float | None, typer.Option(min=1, metavar="SECONDS", help="Go on, and do it again after so many seconds.")
    ] = None,
) -> None:
    """Make and drop partitions, rotate retry keys, end events that are over."""
    settings = environment.read()
    if every is None:
        print(summary(asyncio.run(once(settings))))
        return
    with until_told_to_stop():
        asyncio.run(_again_and_again(settings, every))


async def once(settings: Settings) -> Done:
    async with reaching.database(settings) as db:
        return await keep(db, at=system_clock())


def summary(done: Done) -> str:
    """What was done, in one line; what was not is left out."""
    told = [f"{name.replace('_', ' ')}: {count}" for name, count in asdict(done).items() if count]
    return f"Upkeep is done ({', '.join(told) or 'nothing was due'})."


async def _again_and_again(settings: Settings, seconds: float) -> None:
    """A database that is away for a moment is no reason to stop: the next round finds it back."""
    while True:
        try:
            print(summary(await once(settings)), flush=True)
        except Trouble as trouble:
            print(trouble, file=sys.stderr, flush=True)
        await asyncio.sleep(seconds)
