"""The findings about a cluster: what each host is, the pooler in front, replication, and whether a commit succeeds."""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterator
from typing import Final

from gatepass.base.commit_probe import NOT_PREPARED
from gatepass.base.database import Database
from gatepass.base.errors import NotNow, Unavailable
from gatepass.base.postgres_hosts import split
from gatepass.base.settings import Settings
from gatepass.cli import database
from gatepass.cli.doctor.report import Finding
from gatepass.domain import diagnostics
from gatepass.domain.diagnostics import Replication

NO_STANDBY: Final = "There is no standby: if this machine is lost, so is what was not archived."
# Settings of synchronous_commit with which a commit returns before a standby has it, or before it is on any disk.
UNSAFE: Final = {
    "off": "a crash of PostgreSQL loses scans that were acknowledged",
    "local": "a commit waits for no standby, so a failover loses scans that were acknowledged",
}
# ALTER ROLE, ALTER DATABASE and so on, by `source` in pg_settings.
PLACES: Final = {
    "client": "GATEPASS_DATABASE_URL",
    "user": "the role (ALTER ROLE … RESET synchronous_commit)",
    "database": "the database (ALTER DATABASE … RESET synchronous_commit)",
    "database user": "the role in this database (ALTER ROLE … IN DATABASE … RESET synchronous_commit)",
}


async def of_hosts(settings: Settings) -> AsyncGenerator[Finding, None]:
    """What each host is, if the URL has several."""
    urls = split(settings.database_url.get_secret_value(), target_session_attrs="any")
    if len(urls) == 1:
        return
    kinds = await asyncio.gather(*(_kind(url, settings.database_deadline) for url in urls))
    for url, kind in zip(urls, kinds, strict=True):
        place = database.where(url)
        if kind is None:
            remedy = "Until it is back, the cluster has one machine less to lose."
            yield Finding(True, f"{place} does not answer.", remedy, is_warning=True)
        else:
            yield Finding(True, f"{place} is a {kind}.")


async def _kind(url: str, deadline: float) -> str | None:
    db = Database(url, connections=1, deadline=deadline, name="gatepass cli")
    try:
        async with db.autocommit() as tx:
            return "standby" if await diagnostics.is_standby(tx) else "primary"
    except NotNow:
        return None
    finally:
        await db.close()


async def of_pooler(db: Database) -> Finding | None:
    """None if there is no pooler, or one that leaves us our server connections (session mode)."""
    try:
        is_pooled = await diagnostics.is_pooled(db)
    except Unavailable as refusal:
        if refusal.cause != "pooler":
            raise
        return Finding(False, NOT_PREPARED)
    line = "A pooler in transaction mode is in front of PostgreSQL, and keeps prepared statements."
    return Finding(True, line) if is_pooled else None


async def of_commits(db: Database) -> Finding:
    reason = await db.commits.probe.trouble()
    return Finding(True, "A commit succeeds.") if reason is None else Finding(False, reason)


def of_replication(found: Replication) -> Iterator[Finding]:
    if found.is_standby:
        yield Finding(False, "This server is a standby, which takes no changes.", database.NAME_THE_PRIMARY)
        return
    if found.synchronous_commit in UNSAFE:
        line = f"synchronous_commit is {found.synchronous_commit}: {UNSAFE[found.synchronous_commit]}."
        yield Finding(False, line, f"Set it to on, in {PLACES.get(found.set_by, 'postgresql.conf')}.")
    yield _synchronous(found) if found.synchronous_standby_names else _asynchronous(found)


def _asynchronous(found: Replication) -> Finding:
    """No fault: a standby may be there for reports or backups only, and never be promoted."""
    if not found.standbys:
        return Finding(True, NO_STANDBY, is_warning=True)
    line = f"Replication is asynchronous ({', '.join(found.standbys)}): a failover loses scans that were acknowledged."
    return Finding(True, line, "Set synchronous_standby_names.", is_warning=True)


def _synchronous(found: Replication) -> Finding:
    names, needed = found.synchronous_standby_names, _needed(found.synchronous_standby_names)
    if found.synchronous is None:
        line = f"Replication is synchronous ({names}); connected: {', '.join(found.standbys) or 'none'}."
        remedy = "GRANT pg_monitor to the role, to see which of them count."
        return Finding(bool(found.standbys), line, remedy)
    connected = found.synchronous
    line = f"Replication is synchronous ({names}); connected: {', '.join(connected) or 'none'}."
    if len(connected) < needed:
        return Finding(False, f"{line} {needed} must have a commit before it succeeds.", "Start the standbys.")
    return Finding(True, line)


def _needed(names: str) -> int:
    """How many standbys must have a commit: the number in `ANY 2 (a, b, c)`, `FIRST 2 (…)` or `2 (…)`; else one."""
    counted = re.match(r"\s*(?:(?:ANY|FIRST)\s+)?(\d+)\s*\(", names, re.IGNORECASE)
    return int(counted[1]) if counted else 1
