"""`gatepass migrate`: bring the database to this version, and make the partitions that it needs next."""

import asyncio
from typing import Annotated

import typer

from gatepass.base.settings import Settings
from gatepass.cli import environment, reaching, upkeep
from gatepass.cli.printing import print_whole
from gatepass.domain import examination
from gatepass.domain.examination import Server
from gatepass.domain.upkeep import Done


def migrate(
    *,
    sql: Annotated[bool, typer.Option("--sql", help="Print the SQL for an empty database and touch nothing.")] = False,
) -> None:
    """Bring the database to this version. It may be repeated, and done while the API runs."""
    if sql:
        from gatepass.cli import upgrading  # noqa: PLC0415

        print_whole(upgrading.as_sql())
        return
    settings = environment.read()
    asyncio.run(reached(settings))
    revision, done = bring_up(settings)
    place = reaching.where(settings.database_url.get_secret_value())
    print(f"The database at {place} is at {revision}. {upkeep.summary(done)}")


async def reached(settings: Settings) -> Server:
    """The server, if it answers. Asked first, because the migrations would explain a failure in forty lines."""
    async with reaching.database(settings, deadline=settings.database_deadline) as db, db.reading() as tx:
        return await examination.examine(tx)


def bring_up(settings: Settings) -> tuple[str, Done]:
    """Upgrade the schema and make the partitions; the revision, and what upkeep did."""
    from gatepass.cli import upgrading  # noqa: PLC0415

    return upgrading.upgrade(settings), asyncio.run(upkeep.once(settings))
