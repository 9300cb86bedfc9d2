"""Reaching PostgreSQL, and saying in one line why it was not reached. A password is never part of it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

import asyncpg

from gatepass.base.database import Database
from gatepass.base.refusals import Overloaded, Unavailable
from gatepass.base.settings import Settings
from gatepass.cli.trouble import Trouble

# A person waits at this end, not a gate, and a batch of the demo takes longer than a scan.
DEADLINE: Final = 120.0
# What an operator can mend. Any other error of PostgreSQL is a fault of ours, and its traceback is wanted.
KNOWN: Final = (
    asyncpg.UndefinedTableError,
    asyncpg.UndefinedColumnError,
    asyncpg.UndefinedFunctionError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.InsufficientPrivilegeError,
    asyncpg.InsufficientResourcesError,
)


@asynccontextmanager
async def database(settings: Settings, *, deadline: float = DEADLINE) -> AsyncGenerator[Database, None]:
    """The configured database for as long as the block lasts; what goes wrong with it becomes Trouble."""
    url = settings.database_url.get_secret_value()
    db = Database(url, connections=2, deadline=deadline, name="gatepass cli")
    try:
        yield db
    except (Unavailable, Overloaded, *KNOWN) as error:
        raise Trouble(_told(error.__cause__ or error, url)) from error
    finally:
        await db.close()


def where(url: str) -> str:
    """The host and port in a database URL, or the directory of its socket."""
    parts = urlsplit(url)
    hosts = parts.netloc.rpartition("@")[2] or ",".join(parse_qs(parts.query).get("host", ["127.0.0.1"]))
    if hosts.startswith("/"):
        return f"the socket in {hosts}"
    return ",".join(host if host.rpartition("]")[2].count(":") else f"{host}:5432" for host in hosts.split(","))


def _told(cause: BaseException, url: str) -> str:
    place = where(url)
    match cause:
        case asyncpg.InvalidCatalogNameError():
            name = unquote(urlsplit(url).path.lstrip("/"))
            mend = f"Make it with `createdb {name}`, or mend GATEPASS_DATABASE_URL."
            return f"There is no database {name} at {place}. {mend}"
        case asyncpg.InvalidAuthorizationSpecificationError():
            return f"PostgreSQL at {place} refuses this user. Check user and password in GATEPASS_DATABASE_URL."
        case asyncpg.UndefinedTableError() | asyncpg.UndefinedColumnError() | asyncpg.UndefinedFunctionError():
            return f"The database at {place} does not have the tables of this version. Run `gatepass migrate`."
        case asyncpg.ReadOnlySQLTransactionError():
            return f"PostgreSQL at {place} is a standby, which takes no changes. Name the primary instead."
        case asyncpg.PostgresError():
            return f"PostgreSQL at {place} says: {str(cause).splitlines()[0]}"
        case _:
            return f"PostgreSQL does not answer at {place}. Is it running? GATEPASS_DATABASE_URL says where to look."
