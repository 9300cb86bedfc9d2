"""Examining the database, for `gatepass doctor`: which PostgreSQL it is, what its clock says, what it lacks."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gatepass.base.database import Tx


@dataclass(frozen=True, slots=True)
class Server:
    version: str
    major: int
    clock: datetime


async def examine(tx: Tx) -> Server:
    server = await tx.one(Server, EXAMINE)
    assert server is not None  # noqa: S101  a SELECT without FROM has a row
    return server


async def missing_partitions(tx: Tx, *, at: datetime) -> list[str]:
    """The pieces of history for now and for the step after it that do not exist."""
    return [row["piece"] for row in await tx.rows(MISSING_PARTITIONS, at)]


EXAMINE: Final = """
    SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
           current_setting('server_version_num')::integer / 10000 AS major,
           clock_timestamp() AS clock
"""

# The names are those that make_missing_partition in upkeep.sql gives.
MISSING_PARTITIONS: Final = """
    SELECT piece
      FROM history h
     CROSS JOIN generate_series(0, 1) n
     CROSS JOIN LATERAL (
           SELECT date_bin(h.step, $1, timestamptz '2001-01-01 00:00:00+00') + n * h.step AS starts) s
     CROSS JOIN LATERAL (
           SELECT h.name || to_char(s.starts AT TIME ZONE 'UTC', '_YYYYMMDD') AS piece) p
     WHERE to_regclass(p.piece) IS NULL
     ORDER BY piece
"""
