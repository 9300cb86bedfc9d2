"""The configured PostgreSQL, and one line that says why it cannot be used. It never contains a password."""

import os
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

import asyncpg

from gatepass.base.commit_probe import NOT_PREPARED
from gatepass.base.database import Database
from gatepass.base.errors import NotNow
from gatepass.base.server_clock import ClocksDiffer
from gatepass.base.settings import Settings
from gatepass.base.tls import tls_fault
from gatepass.cli.errors import CommandError

# A person waits for the answer, not a gate, and a batch of the demo takes longer than a scan.
DEADLINE: Final = 120.0
NAME_THE_PRIMARY: Final = (
    "Name all hosts in GATEPASS_DATABASE_URL, with target_session_attrs=read-write,"
    " or a proxy that follows the primary."
)
# Errors that an operator can fix. Any other error of PostgreSQL is a fault of ours and needs its traceback.
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
    """The configured database for as long as the block lasts; its errors become CommandError."""
    url = settings.database_url.get_secret_value()
    db = Database(url, connections=2, deadline=deadline, name="gatepass cli")
    try:
        yield db
    except ClocksDiffer as error:
        raise CommandError(str(error)) from error
    except (NotNow, *KNOWN) as error:
        cause = error.__cause__ or error
        reason = _reason_of_url(cause, url) or _reason_of_cluster(cause, url) or _reason(cause, url)
        raise CommandError(reason) from error
    finally:
        await db.close()


def is_unverified(url: str) -> bool:
    """Whether somebody on the way to PostgreSQL could read and change everything."""
    hosts = [re.sub(r":\d+$", "", host).strip("[]") for host in _hosts(url).split(",")]
    return _sslmode(url) != "verify-full" and not all(map(is_this_machine, hosts))


def is_this_machine(host: str) -> bool:
    """Whether this host is loopback, or the directory of a socket."""
    if host.startswith("/") or host in ("", "localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _hosts(url: str) -> str:
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] or ",".join(parse_qs(parts.query).get("host", ["127.0.0.1"]))


def _sslmode(url: str) -> str:
    return parse_qs(urlsplit(url).query).get("sslmode", [os.environ.get("PGSSLMODE", "prefer")])[-1]


def where(url: str) -> str:
    """The host and port in a database URL, or the directory of its socket."""
    hosts = _hosts(url)
    if hosts.startswith("/"):
        return f"the socket in {hosts}"
    return ",".join(host if host.rpartition("]")[2].count(":") else f"{host}:5432" for host in hosts.split(","))


def _reason_of_url(cause: BaseException, url: str) -> str | None:
    """The reason, if the options of the URL are wrong or TLS does not come about with them."""
    fault = tls_fault(cause)
    if fault is not None:
        place = where(url)
        return f"PostgreSQL at {place} is not used: {fault}. See sslmode and sslrootcert in GATEPASS_DATABASE_URL."
    return f"GATEPASS_DATABASE_URL: {cause}." if isinstance(cause, asyncpg.ClientConfigurationError) else None


def _reason_of_cluster(cause: BaseException, url: str) -> str | None:
    """The reason, if PostgreSQL answers but not as a primary, or not through this pooler."""
    match cause:
        case asyncpg.ReadOnlySQLTransactionError() | asyncpg.TargetServerAttributeNotMatched():
            return f"PostgreSQL at {where(url)} is a standby, which takes no changes. {NAME_THE_PRIMARY}"
        case asyncpg.InvalidSQLStatementNameError():
            return NOT_PREPARED
        case _:
            return None


def _reason(cause: BaseException, url: str) -> str:
    place = where(url)
    match cause:
        case asyncpg.InvalidCatalogNameError():
            name = unquote(urlsplit(url).path.lstrip("/"))
            remedy = f"Make it with `createdb {name}`, or correct GATEPASS_DATABASE_URL."
            return f"There is no database {name} at {place}. {remedy}"
        case asyncpg.InvalidAuthorizationSpecificationError():
            return f"PostgreSQL at {place} refuses this user. Check user and password in GATEPASS_DATABASE_URL."
        case asyncpg.UndefinedTableError() | asyncpg.UndefinedColumnError() | asyncpg.UndefinedFunctionError():
            return f"The database at {place} does not have the tables of this version. Run `gatepass migrate`."
        case asyncpg.PostgresError():
            return f"PostgreSQL at {place} says: {str(cause).splitlines()[0]}"
        case _:
            return f"PostgreSQL does not answer at {place}. Is it running? GATEPASS_DATABASE_URL says where to look."
