"""The audit log: one entry for each change, written in its transaction: actor, subject, action, reason, IP address.

Security events, such as a sign-in or a refusal, are written by `security_log.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar, Final, LiteralString
from uuid import UUID

from gatepass.base.database import Address, Tx
from gatepass.base.ids import new_id
from gatepass.base.paging import END, Place
from gatepass.domain.visibility import WORDS, Columns

# Replacing and merging write the number of the other card; in a reason people write what they like.
GUEST: Final[Columns] = {"was": WORDS, "becomes": WORDS, "reason": WORDS}

# A page with a filter reads at most this many entries, however few of them match.
LOOKED_THROUGH: Final = 10_000
EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SubjectEntry:
    """An entry in the list of one subject."""

    guest: ClassVar[Columns] = GUEST

    at: datetime
    actor: str
    action: str
    was: str | None
    becomes: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An entry with all its columns."""

    guest: ClassVar[Columns] = GUEST

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
class AuditFilter:
    """The entries that a list shows: from `since` to before `until`."""

    actor: str | None = None
    subject: str | None = None
    subject_id: UUID | None = None
    action: str | None = None
    since: datetime | None = None
    until: datetime | None = None


async def record(
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
    await tx.run(
        RECORD, organization_id, at, new_id(), by, subject, subject_id, action, was, becomes, reason, tx.address
    )


async def record_all(
    tx: Tx,
    organization_id: UUID,
    subject: str,
    subject_ids: Sequence[UUID],
    action: str,
    *,
    by: str,
    at: datetime,
    was: Sequence[str | None] | None = None,
    becomes: str | None = None,
    reason: str | None = None,
) -> None:
    """The same entry for many subjects, in one statement. `was` has one for each of them."""
    if subject_ids:
        ids = [new_id() for _ in subject_ids]
        each_was = [None] * len(ids) if was is None else list(was)
        subjects = list(subject_ids)
        await tx.run(
            RECORD_ALL, organization_id, at, ids, by, subject, subjects, action, becomes, tx.address, each_was, reason
        )


async def of_subject(tx: Tx, organization_id: UUID, subject_id: UUID) -> list[SubjectEntry]:
    """The last hundred entries of one subject, newest first."""
    return await tx.all(SubjectEntry, OF_SUBJECT, organization_id, subject_id)


async def entries_of(
    tx: Tx, organization_id: UUID, wanted: AuditFilter, *, after: Place | None = None, limit: int
) -> tuple[list[AuditEntry], Place | None]:
    """Entries, newest first, and where the next page begins. With a filter a page may be short and not the last."""
    place = after or (END if wanted.until is None else Place(wanted.until, UUID(int=0)))
    here = (organization_id, place.at, place.id, wanted.since or EARLIEST)
    filters = (wanted.subject, wanted.action, wanted.actor, LOOKED_THROUGH, limit + 1)
    page, last, indexed = _statements(wanted)
    found = await tx.all(AuditEntry, page, *here, *filters, *indexed)
    if len(found) > limit:
        return found[:limit], Place(found[limit - 1].at, found[limit - 1].id)
    return found, await tx.one(Place, last, *here, LOOKED_THROUGH - 1, *indexed)


def _statements(wanted: AuditFilter) -> tuple[LiteralString, LiteralString, tuple[UUID | str, ...]]:
    """The statements for a page and for its end, by the narrowest index that fits, and the value for that index."""
    if wanted.subject_id is not None:
        return PAGE_OF_SUBJECT, LAST_OF_SUBJECT, (wanted.subject_id,)
    if wanted.actor is not None:
        return PAGE_OF_ACTOR, LAST_OF_ACTOR, (wanted.actor,)
    return PAGE, LAST, ()


RECORD: Final = """
    INSERT INTO audit_log (organization_id, at, id, actor, subject, subject_id, action, was, becomes, reason,
                           address)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
"""

RECORD_ALL: Final = """
    INSERT INTO audit_log (organization_id, at, id, actor, subject, subject_id, action, was, becomes, reason,
                           address)
    SELECT $1, $2, u.id, $4, $5, u.subject_id, $7, u.was, $8, $11, $9
      FROM unnest($3::uuid[], $6::uuid[], $10::text[]) u (id, subject_id, was)
"""

OF_SUBJECT: Final = """
    SELECT at, actor, action, was, becomes, reason
      FROM audit_log
     WHERE organization_id = $1
       AND subject_id = $2
     ORDER BY at DESC, id DESC
     LIMIT 100
"""

# The six statements of a page are joined of these constants, never of values.
COLUMNS: Final = "c.at, c.id, c.actor, c.subject, c.subject_id, c.action, c.was, c.becomes, c.reason, c.address"
OF_ORGANIZATION: Final = " FROM audit_log c WHERE c.organization_id = $1"
# Keyset pagination: the entries before ($2, $3), newest first, and none older than $4.
BEFORE: Final = """
       AND c.at <= $2
       AND (c.at, c.id) < ($2, $3)
       AND c.at >= $4
     ORDER BY c.at DESC, c.id DESC
"""
FILTERED: Final = """
     LIMIT $8) looked
     WHERE ($5::text IS NULL OR looked.subject = $5)
       AND ($6::text IS NULL OR replace(looked.action, '_', ' ') = replace($6, '_', ' '))
       AND ($7::text IS NULL OR looked.actor = $7)
     ORDER BY looked.at DESC, looked.id DESC
     LIMIT $9
"""
PAGE_END: Final = " OFFSET $5 LIMIT 1"

PAGE: Final = "SELECT * FROM (SELECT " + COLUMNS + OF_ORGANIZATION + BEFORE + FILTERED
PAGE_OF_ACTOR: Final = "SELECT * FROM (SELECT " + COLUMNS + OF_ORGANIZATION + " AND c.actor = $10" + BEFORE + FILTERED
PAGE_OF_SUBJECT: Final = (
    "SELECT * FROM (SELECT " + COLUMNS + OF_ORGANIZATION + " AND c.subject_id = $10" + BEFORE + FILTERED
)

LAST: Final = "SELECT c.at, c.id" + OF_ORGANIZATION + BEFORE + PAGE_END
LAST_OF_ACTOR: Final = "SELECT c.at, c.id" + OF_ORGANIZATION + " AND c.actor = $6" + BEFORE + PAGE_END
LAST_OF_SUBJECT: Final = "SELECT c.at, c.id" + OF_ORGANIZATION + " AND c.subject_id = $6" + BEFORE + PAGE_END
