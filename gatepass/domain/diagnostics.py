"""Diagnostics of the database, for `gatepass doctor`: version, clock, partitions, replication, a pooler in front."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gatepass.base.database import Database, Tx

# With other clients on the pooler, a call may come back to the server connection that it had before.
TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class DatabaseServer:
    version: str
    major: int
    clock: datetime


@dataclass(frozen=True, slots=True)
class Replication:
    """`standbys` are connected. `synchronous` are those that a commit waits for; None if this role may not see it."""

    is_standby: bool
    synchronous_commit: str
    set_by: str
    synchronous_standby_names: str
    standbys: list[str]
    synchronous: list[str] | None


async def examine(tx: Tx) -> DatabaseServer:
    server = await tx.one(DatabaseServer, EXAMINE)
    assert server is not None  # noqa: S101  a SELECT without FROM has a row
    return server


async def missing_partitions(tx: Tx) -> list[str]:
    """The partitions for the current and the next step that do not exist."""
    return [row["partition"] for row in await tx.rows(MISSING_PARTITIONS)]


async def replication(tx: Tx) -> Replication:
    found = await tx.one(Replication, REPLICATION)
    assert found is not None  # noqa: S101  the setting exists
    return found


async def is_standby(tx: Tx) -> bool:
    return await tx.value(IS_STANDBY)


async def is_pooled(db: Database) -> bool:
    """Whether a pooler gives us another server connection for each transaction.

    Unavailable with the cause `pooler`, if a statement that was prepared on one is not known on another.
    """
    async with db.autocommit() as tx:
        for _ in range(TRIES):
            before = await tx.value(SERVER_CONNECTION)
            async with db.transaction() as other:
                await other.value(SERVER_CONNECTION)  # takes the server connection that was free last
                if await tx.value(SERVER_CONNECTION) != before:
                    return True
    return False


EXAMINE: Final = """
    SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
           current_setting('server_version_num')::integer / 10000 AS major,
           clock_timestamp() AS clock
"""

IS_STANDBY: Final = "SELECT pg_is_in_recovery()"

SERVER_CONNECTION: Final = "SELECT pg_backend_pid()"

# Without the role pg_read_all_stats, which pg_monitor includes, `state` and `sync_state` are null. A subscriber of
# logical replication is no standby.
REPLICATION: Final = """
    SELECT pg_is_in_recovery() AS is_standby,
           c.setting AS synchronous_commit,
           c.source AS set_by,
           current_setting('synchronous_standby_names') AS synchronous_standby_names,
           s.standbys,
           CASE WHEN pg_has_role('pg_read_all_stats', 'USAGE') THEN s.synchronous END AS synchronous
      FROM pg_settings c
     CROSS JOIN (
           SELECT coalesce(array_agg(r.application_name ORDER BY r.application_name), '{}') AS standbys,
                  coalesce(array_agg(r.application_name ORDER BY r.application_name)
                           FILTER (WHERE r.sync_state <> 'async'), '{}') AS synchronous
             FROM pg_stat_replication r
            WHERE coalesce(r.state, 'streaming') IN ('streaming', 'catchup')
              AND NOT EXISTS (SELECT FROM pg_replication_slots l
                               WHERE l.active_pid = r.pid
                                 AND l.slot_type = 'logical')) s
     WHERE c.name = 'synchronous_commit'
"""

# They are called as make_missing_partition in maintenance.sql would.
MISSING_PARTITIONS: Final = """
    SELECT h.name || to_char(s.starts AT TIME ZONE 'UTC', '_YYYYMMDD') AS partition
      FROM history h
     CROSS JOIN generate_series(0, 1) n
     CROSS JOIN LATERAL (
           SELECT date_bin(h.step, clock_timestamp(), timestamptz '2001-01-01 00:00:00+00') + n * h.step AS starts) s
     WHERE NOT EXISTS (SELECT FROM history_partitions(h.name) p WHERE p.starts <= s.starts AND s.starts < p.ends)
     ORDER BY 1
"""
