"""Who changed what, when, why and from where: one row for each change, written in its transaction."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, LiteralString
from uuid import UUID

from gatepass.base.database import Address, Tx
from gatepass.base.ids import new_id
from gatepass.base.paging import END, Place

# A page with a filter looks through so many and no more, however rare what it asks for is.
LOOKED_THROUGH: Final = 10_000
EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Change:
    at: datetime
    actor: str
    action: str
    was: str | None
    becomes: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A change, with all that is known about it."""

    at: datetime
    id: UUID
    actor: str
    subject: str
    subject_id: UUID
    action: str
    was: str | None
    becomes: str | None
    reason: str | None
    address: Address | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which changes a list shows. Times from `since`, up to and without `until`."""

    actor: str | None = None
    subject: str | None = None
    subject_id: UUID | None = None
    action: str | None = None
    since: datetime | None = None
    until: datetime | None = None


async def note(
    tx: Tx,
    organization_id: UUID,
    subject: str,
    subject_id: UUID,
    action: str,
    *,
    by: str,
    at: datetime,
    was: str | None = None,
    becomes: str | None = None,
    reason: str | None = None,
) -> None:
    await tx.run(NOTE, organization_id, at, new_id(), by, subject, subject_id, action, was, becomes, reason, tx.address)


async def of_subject(tx: Tx, organization_id: UUID, subject_id: UUID) -> list[Change]:
    """The last hundred changes of one thing, newest first."""
    return await tx.all(Change, OF_SUBJECT, organization_id, subject_id)


async def changes_of(
    tx: Tx, organization_id: UUID, wanted: Wanted, *, after: Place | None = None, limit: int
) -> tuple[list[Entry], Place | None]:
    """Changes, newest first, and where the next page begins. With a filter a page may be short, and not the last."""
    place = after or (END if wanted.until is None else Place(wanted.until, UUID(int=0)))
    here = (organization_id, place.at, place.id, wanted.since or EARLIEST)
    asked = (wanted.subject, wanted.action, wanted.actor, LOOKED_THROUGH, limit + 1)
    page, last, entered = _statements(wanted)
    found = await tx.all(Entry, page, *here, *asked, *entered)
    if len(found) > limit:
        return found[:limit], Place(found[limit - 1].at, found[limit - 1].id)
    return found, await tx.one(Place, last, *here, LOOKED_THROUGH - 1, *entered)


def _statements(wanted: Wanted) -> tuple[LiteralString, LiteralString, tuple[UUID | str, ...]]:
    """The page and its end, by the narrowest index that fits; and what that index is entered with."""
    if wanted.subject_id is not None:
        return PAGE_OF_SUBJECT, LAST_OF_SUBJECT, (wanted.subject_id,)
    if wanted.actor is not None:
        return PAGE_OF_ACTOR, LAST_OF_ACTOR, (wanted.actor,)
    return PAGE, LAST, ()


NOTE: Final = """
    INSERT INTO change (organization_id, at, id, actor, subject, subject_id, action, was, becomes, reason,
                        address)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
"""

OF_SUBJECT: Final = """
    SELECT at, actor, action, was, becomes, reason
      FROM change
     WHERE organization_id = $1
       AND subject_id = $2
     ORDER BY at DESC, id DESC
     LIMIT 100
"""

PAGE: Final = """
    SELECT *
      FROM (SELECT c.at, c.id, c.actor, c.subject, c.subject_id, c.action, c.was, c.becomes, c.reason, c.address
              FROM change c
             WHERE c.organization_id = $1
               AND c.at <= $2
               AND (c.at, c.id) < ($2, $3)
               AND c.at >= $4
             ORDER BY c.at DESC, c.id DESC
             LIMIT $8) looked
     WHERE ($5::text IS NULL OR looked.subject = $5)
       AND ($6::text IS NULL OR looked.action = $6)
       AND ($7::text IS NULL OR looked.actor = $7)
     ORDER BY looked.at DESC, looked.id DESC
     LIMIT $9
"""

LAST: Final = """
    SELECT c.at, c.id
      FROM change c
     WHERE c.organization_id = $1
       AND c.at <= $2
       AND (c.at, c.id) < ($2, $3)
       AND c.at >= $4
     ORDER BY c.at DESC, c.id DESC
    OFFSET $5
     LIMIT 1
"""

PAGE_OF_ACTOR: Final = """
    SELECT *
      FROM (SELECT c.at, c.id, c.actor, c.subject, c.subject_id, c.action, c.was, c.becomes, c.reason, c.address
              FROM change c
             WHERE c.organization_id = $1
               AND c.actor = $10
               AND c.at <= $2
               AND (c.at, c.id) < ($2, $3)
               AND c.at >= $4
             ORDER BY c.at DESC, c.id DESC
             LIMIT $8) looked
     WHERE ($5::text IS NULL OR looked.subject = $5)
       AND ($6::text IS NULL OR looked.action = $6)
       AND ($7::text IS NULL OR looked.actor = $7)
     ORDER BY looked.at DESC, looked.id DESC
     LIMIT $9
"""

LAST_OF_ACTOR: Final = """
    SELECT c.at, c.id
      FROM change c
     WHERE c.organization_id = $1
       AND c.actor = $6
       AND c.at <= $2
       AND (c.at, c.id) < ($2, $3)
       AND c.at >= $4
     ORDER BY c.at DESC, c.id DESC
    OFFSET $5
     LIMIT 1
"""

PAGE_OF_SUBJECT: Final = """
    SELECT *
      FROM (SELECT c.at, c.id, c.actor, c.subject, c.subject_id, c.action, c.was, c.becomes, c.reason, c.address
              FROM change c
             WHERE c.organization_id = $1
               AND c.subject_id = $10
               AND c.at <= $2
               AND (c.at, c.id) < ($2, $3)
               AND c.at >= $4
             ORDER BY c.at DESC, c.id DESC
             LIMIT $8) looked
     WHERE ($5::text IS NULL OR looked.subject = $5)
       AND ($6::text IS NULL OR looked.action = $6)
       AND ($7::text IS NULL OR looked.actor = $7)
     ORDER BY looked.at DESC, looked.id DESC
     LIMIT $9
"""

LAST_OF_SUBJECT: Final = """
    SELECT c.at, c.id
      FROM change c
     WHERE c.organization_id = $1
       AND c.subject_id = $6
       AND c.at <= $2
       AND (c.at, c.id) < ($2, $3)
       AND c.at >= $4
     ORDER BY c.at DESC, c.id DESC
    OFFSET $5
     LIMIT 1
"""
