"""A database whose sessions can be looked at on the server."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import asyncpg

from gatepass.base.database import Database
from gatepass.base.ids import new_id

DEADLINE: Final = 0.3


@asynccontextmanager
async def opened(url: str, *, connections: int = 1, deadline: float = DEADLINE) -> AsyncGenerator[Database]:
    """A database with an application name that BACKENDS finds. At the end its sessions are terminated."""
    name = f"base {new_id().hex[-12:]}"
    database = Database(url, connections=connections, deadline=deadline, name=name)
    try:
        yield database
    finally:
        await database.close()
        await on_server(url, TERMINATE, name)


async def on_server(url: str, statement: str, *values: object) -> list[asyncpg.Record]:
    """Query over a connection of its own."""
    link = await asyncpg.connect(url)
    try:
        return await link.fetch(statement, *values)
    finally:
        await link.close()


TERMINATE: Final = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1"

BACKENDS: Final = """
    SELECT state, query, wait_event, pid FROM pg_stat_activity WHERE application_name = $1 AND datname IS NOT NULL
"""


async def answers(database: Database) -> bool:
    async with database.autocommit() as tx:
        return await tx.value("SELECT 1") == 1
