"""An announcement: what there is to tell, how many would read it, beginning and stopping it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import Refusal
from gatepass.base.ids import new_id
from gatepass.domain import audit_log
from gatepass.domain.events import Event, EventStatus
from gatepass.domain.mail import LetterKind, Mailer
from gatepass.domain.tickets.cancellation import EVENT_CANCELLED

# Somebody who corrects the time twice wants to tell it twice. More in a day is a mistake, or a nuisance.
MOST_A_DAY: Final = 3
DAY: Final = timedelta(days=1)


class AnnouncementUnderWay(Refusal):
    """The letters about this event are being written already."""

    code = "announcement_under_way"


class TooManyAnnouncements(Refusal):
    """The holders of this event were told three times today. Wait until tomorrow."""

    code = "too_many_announcements"


class NothingToAnnounce(Refusal):
    """There is nobody to tell: the event is a draft or over, nobody has an address, or no mail is sent from here."""

    code = "nothing_to_announce"


class AnnouncementState(StrEnum):
    WRITING = "writing"
    WRITTEN = "written"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Announcement:
    """`holders` were counted when somebody chose to tell them; `written` is how many letters there are."""

    organization_id: UUID
    id: UUID
    event_id: UUID
    kind: LetterKind
    state: AnnouncementState
    reached: UUID
    holders: int
    written: int
    begun_at: datetime
    begun_by: str


def kind_for(event: Event, *, at: datetime) -> LetterKind | None:
    """What there is to tell of this event: that it was changed, or cancelled; None once it is over, and for a draft."""
    if event.ends_at <= at:
        return None
    if event.status is EventStatus.CANCELLED:
        return LetterKind.EVENT_CANCELLED
    return LetterKind.EVENT_CHANGED if event.status is EventStatus.PUBLISHED else None


async def count_readers(tx: Tx, organization_id: UUID, event_id: UUID, kind: LetterKind) -> int:
    """How many addresses a letter would go to. Several cards of one address get one letter."""
    return await tx.value(COUNT, organization_id, event_id, counts_cancelled(kind), EVENT_CANCELLED)


async def begin(tx: Tx, mailer: Mailer, organization_id: UUID, event: Event, *, by: str, at: datetime) -> Announcement:
    """Let a worker tell everybody with a ticket of this event, whom the caller has counted and shown."""
    kind = kind_for(event, at=at)
    if kind is None or not mailer.sends_for(organization_id):
        raise NothingToAnnounce
    await tx.run(LOCK_EVENT, organization_id, event.id)
    earlier = await recent(tx, organization_id, event.id, at=at)
    if any(one.state is AnnouncementState.WRITING for one in earlier):
        raise AnnouncementUnderWay
    if len(earlier) >= MOST_A_DAY:
        raise TooManyAnnouncements
    holders = await count_readers(tx, organization_id, event.id, kind)
    if not holders:
        raise NothingToAnnounce
    id = new_id()
    await tx.run(BEGIN, organization_id, id, event.id, kind, holders, at, by)
    await audit_log.record(
        tx, organization_id, "event", event.id, "announced", by=by, at=at, becomes=f"{kind} to {holders}"
    )
    return Announcement(organization_id, id, event.id, kind, AnnouncementState.WRITING, UUID(int=0), holders, 0, at, by)


async def stop(tx: Tx, organization_id: UUID, announcement_id: UUID, *, by: str, at: datetime) -> bool:
    """Write no more letters; False if there were none left to write. Those that are written are sent."""
    row = await tx.rows(STOP, organization_id, announcement_id, at)
    if not row:
        return False
    await audit_log.record(
        tx, organization_id, "event", row[0]["event_id"], "announcement_stopped", by=by, at=at,
        becomes=f"{row[0]['written']} written",
    )  # fmt: skip
    return True


async def recent(tx: Tx, organization_id: UUID, event_id: UUID, *, at: datetime) -> list[Announcement]:
    """The announcements of the last day, the newest first."""
    return await tx.all(Announcement, RECENT, organization_id, event_id, at - DAY)


def counts_cancelled(kind: LetterKind) -> bool:
    """Of a cancelled event, also the tickets that were cancelled with it; those cancelled before are nobody's."""
    return kind is LetterKind.EVENT_CANCELLED


COUNT: Final = """
    WITH reason AS (
        SELECT coalesce(cancel_reason, $4) AS text FROM event WHERE organization_id = $1 AND id = $2
    )
    SELECT count(DISTINCT lower(h.email))
      FROM ticket t
      JOIN card_holder h ON h.organization_id = t.organization_id AND h.card_id = t.card_id
     WHERE t.organization_id = $1
       AND t.event_id = $2
       AND (t.cancelled_at IS NULL OR ($3 AND t.cancel_reason = (SELECT text FROM reason)))
       AND h.email <> ''
"""

LOCK_EVENT: Final = """
    SELECT id
      FROM event
     WHERE organization_id = $1
       AND id = $2
       FOR NO KEY UPDATE
"""

BEGIN: Final = """
    INSERT INTO announcement (organization_id, id, event_id, kind, holders, begun_at, begun_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
"""

STOP: Final = """
    UPDATE announcement
       SET state = 'stopped', ended_at = $3
     WHERE organization_id = $1
       AND id = $2
       AND state = 'writing'
    RETURNING event_id, written
"""

RECENT: Final = """
    SELECT organization_id, id, event_id, kind, state, reached, holders, written, begun_at, begun_by
      FROM announcement
     WHERE organization_id = $1
       AND event_id = $2
       AND (begun_at > $3 OR state = 'writing')
     ORDER BY begun_at DESC, id DESC
     LIMIT 10
"""
