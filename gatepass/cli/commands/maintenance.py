"""`gatepass maintenance`: do what is due now, once or at an interval. Several may run at a time."""

import asyncio
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from gatepass.base.server_clock import ServerClock
from gatepass.base.settings import Settings
from gatepass.cli import database
from gatepass.cli.errors import CommandError
from gatepass.cli.operator import log_events
from gatepass.cli.settings import read_operator_settings
from gatepass.domain.maintenance import MaintenanceReport, run_due
from gatepass.server.run import until_stopped


def maintenance(
    every: Annotated[
        float | None, typer.Option(min=1, metavar="SECONDS", help="Repeat it after this many seconds, until stopped.")
    ] = None,
) -> None:
    """Make and drop partitions, rotate idempotency keys, end events that are over, erase closed organizations."""
    settings = read_operator_settings()
    log_events(settings)
    if every is None:
        print(summary(asyncio.run(once(settings))))
        return
    with until_stopped():
        asyncio.run(_repeat(settings, every))


async def once(settings: Settings) -> MaintenanceReport:
    async with database.database(settings) as db:
        async with db.autocommit() as tx:
            at = await ServerClock().agreed(tx)
        return await run_due(db, at=at)


def summary(done: MaintenanceReport) -> str:
    """A line with every count that is not zero."""
    counts = [f"{name.replace('_', ' ')}: {count}" for name, count in asdict(done).items() if count]
    return f"Maintenance is done ({', '.join(counts) or 'nothing was due'})."


async def _repeat(settings: Settings, seconds: float) -> None:
    """Go on if the database is away: the next round tries again."""
    while True:
        try:
            print(summary(await once(settings)), flush=True)
        except CommandError as error:
            print(error, file=sys.stderr, flush=True)
        await asyncio.sleep(seconds)
