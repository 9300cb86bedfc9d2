"""Erasing a closed organization, or a sandbox: all its rows, in pieces, each in a transaction of its own.

No statement touches another organization. A round of maintenance erases a bounded number of pieces and the next one
goes on, so that ten million tickets take hours and nobody waits for them. People stay: they may belong to others too.
A sandbox is erased before its owner.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final, LiteralString
from uuid import UUID

from gatepass.base.database import Database, Tx
from gatepass.base.log import logger
from gatepass.domain import twin
from gatepass.domain.lifecycle.erased_records import BY_TIME
from gatepass.domain.lifecycle.erased_tables import ERASE

# Few enough that a piece commits within a second, with the index entries and checks of references.
PIECE: Final = 5_000
# A round takes less than a minute, so that the other steps of maintenance come in time.
PIECES: Final = 40
# Pictures have up to 2 MiB.
PICTURES: Final = 20

# A clock that was set wrong for an hour must not erase what nobody can bring back.
AFTER_ITS_DAY: Final = timedelta(days=1)

BEFORE_ALL: Final = UUID(int=0)
EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)

log = logger("security")


async def erase_some(db: Database, *, at: datetime, pieces: int = PIECES) -> int:
    """Erase the organizations whose time came a day ago, at most `pieces` in all; the number of rows."""
    due = at - AFTER_ITS_DAY
    async with db.transaction() as tx:
        await tx.run(TWINS_TOO, due)
    return await _erase_due(db, DUE, at=due, pieces=pieces)


async def empty_sandboxes(db: Database, *, at: datetime, pieces: int = PIECES) -> int:
    """The same for sandboxes alone: somebody may wait to begin again."""
    return await _erase_due(db, TWIN_DUE, at=at, pieces=pieces)


async def _erase_due(db: Database, due: LiteralString, *, at: datetime, pieces: int) -> int:
    erased = 0
    while pieces > 0:
        async with db.autocommit() as tx:
            organization_id = await tx.value(due, at)
        if organization_id is None:
            return erased
        for tenant_id, table in _tables(organization_id):
            rows, taken = await _erase_table(db, organization_id, tenant_id, table, at=at, pieces=pieces)
            erased, pieces = erased + rows, pieces - taken
            if pieces <= 0:
                return erased
        async with db.transaction() as tx:
            erased += await erase_organization(tx, organization_id, at=at)
        pieces -= 1
    return erased


def _tables(organization_id: UUID) -> Iterator[tuple[UUID, str]]:
    """Whose rows, and in which tables. A scan in a sandbox may have left its row where there is no twin."""
    if not twin.is_twin(organization_id):
        yield twin.twin_id(organization_id), "scan"
    for table in ERASE:
        yield organization_id, table


async def erase_organization(tx: Tx, organization_id: UUID, *, at: datetime) -> int:
    """Erase the row of an organization that has no others. The line in the log is all that is left of it."""
    erased = await tx.run(ERASE_ORGANIZATION, organization_id, at)
    if erased:
        what = "sandbox_emptied" if twin.is_twin(organization_id) else "organization_erased"
        tx.after_commit(lambda: log.info(what, organization_ids=[str(twin.owner_of(organization_id))]))
    return erased


async def _erase_table(
    db: Database, organization_id: UUID, tenant_id: UUID, table: str, *, at: datetime, pieces: int
) -> tuple[int, int]:
    """Erase at most `pieces` of a table; the rows and the pieces. A piece begins where the one before ended."""
    erased, taken = 0, 0
    reached: Any = EARLIEST if table in BY_TIME else BEFORE_ALL
    most = PICTURES if table == "event_cover" else PIECE
    while taken < pieces:
        async with db.transaction() as tx:
            if await tx.value(STILL_DUE, organization_id, at) is None:  # resumed meanwhile
                return erased, pieces
            found = await tx.rows(ERASE[table], tenant_id, reached, most)
        if not found:
            return erased, taken
        erased, taken, reached = erased + found[0]["count"], taken + 1, found[0]["reached"]
        if found[0]["count"] < most:
            return erased, taken
    return erased, taken


# Before the organization that it belongs to, and to the end even if that is resumed meanwhile.
TWINS_TOO: Final = """
    UPDATE organization t
       SET erase_at = o.erase_at
      FROM organization o
     WHERE t.twin_of = o.id
       AND t.erase_at IS NULL
       AND o.erase_at <= $1
"""

DUE: Final = "SELECT id FROM organization WHERE erase_at <= $1 ORDER BY twin_of IS NULL, erase_at, id LIMIT 1"

TWIN_DUE: Final = """
    SELECT id
      FROM organization
     WHERE erase_at <= $1
       AND twin_of IS NOT NULL
     ORDER BY erase_at, id
     LIMIT 1
"""

# Resuming waits for this lock, and a piece waits for resuming.
STILL_DUE: Final = "SELECT id FROM organization WHERE id = $1 AND erase_at <= $2 FOR SHARE"

ERASE_ORGANIZATION: Final = "DELETE FROM organization WHERE id = $1 AND erase_at <= $2"
