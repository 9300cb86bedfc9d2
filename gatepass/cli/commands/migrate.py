"""`gatepass migrate`: bring the database to this version, and make the partitions that it needs next."""

import asyncio
from typing import Annotated

import typer

from gatepass.base.settings import Settings
from gatepass.cli import database
from gatepass.cli.commands import maintenance
from gatepass.cli.errors import CommandError
from gatepass.cli.output import print_whole
from gatepass.cli.settings import read_settings
from gatepass.domain import diagnostics
from gatepass.domain.diagnostics import DatabaseServer
from gatepass.domain.maintenance import MaintenanceReport


def migrate(
    *,
    sql: Annotated[bool, typer.Option("--sql", help="Print the SQL for an empty database and touch nothing.")] = False,
) -> None:
    """Bring the database to this version. It may be repeated, and done while the API runs."""
    if sql:
        print_whole(_as_sql())
        return
    settings = read_settings()
    asyncio.run(reached(settings))
    revision, done = bring_up(settings)
    place = database.where(settings.database_url.get_secret_value())
    print(f"The database at {place} is at {revision}. {maintenance.summary(done)}")


async def reached(settings: Settings) -> DatabaseServer:
    """The server, if it answers. Called first, because Alembic would report a failure in forty lines."""
    async with database.database(settings, deadline=settings.database_deadline) as db, db.autocommit() as tx:
        return await diagnostics.examine(tx)


def bring_up(settings: Settings) -> tuple[str, MaintenanceReport]:
    """Upgrade the schema and make the partitions; the revision, and the result of maintenance."""
    return _upgrade(settings), asyncio.run(maintenance.once(settings))


# Alembic and SQLAlchemy take a second to import, and `gatepass --help` should not wait for them.


def _upgrade(settings: Settings) -> str:
    """Bring the database to head; the revision it is at now."""
    from alembic.util.exc import CommandError as AlembicError  # noqa: PLC0415
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415

    from gatepass.migrations import runner  # noqa: PLC0415

    url = settings.database_url.get_secret_value()
    try:
        return runner.upgrade(url)
    except DBAPIError as error:
        said = str(error.orig).splitlines()[0]
        raise CommandError(f"PostgreSQL at {database.where(url)} says: {said}") from error
    except TimeoutError as error:
        raise CommandError(f"A change of the schema got {error}. Try again when the database is less busy.") from error
    except AlembicError as error:
        line = f"This version does not know the database's revision: {error}. Is the database newer?"
        raise CommandError(line) from error


def _as_sql() -> str:
    from gatepass.migrations import runner  # noqa: PLC0415

    return runner.as_sql()
