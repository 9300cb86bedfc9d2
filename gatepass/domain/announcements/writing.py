"""Writing the letters of an announcement, batch by batch, in the worker."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from gatepass.base.database import Tx
from gatepass.base.language import Language, language_of, written
from gatepass.domain.announcements.announcement import Announcement, counts_cancelled
from gatepass.domain.cards import keep_holders
from gatepass.domain.mail import LetterKind, NewLetter, is_sendable, sendable
from gatepass.domain.mailings import CardLetters
from gatepass.domain.tickets.cancellation import EVENT_CANCELLED

# A batch is one transaction: some hundred milliseconds.
BATCH: Final = 500
# A letter is no place for more.
LONGEST_REASON: Final = 500
WHEN: Final = "EEEE d MMMM y, HH:mm"


@dataclass(frozen=True, slots=True)
class _Announced:
    organizer: str
    title: str
    venue: str | None
    city: str | None
    starts_at: datetime
    time_zone: str
    cancel_reason: str | None


@dataclass(frozen=True, slots=True)
class _Holder:
    """`email` is None for a card whose holder has no address, or no holder."""

    card_id: UUID
    name: str | None
    email: str | None
    locale: str | None


async def write_some(tx: Tx, card_letters: CardLetters, *, at: datetime) -> int:
    """Write the next batch of the announcement that has waited longest; how many cards were looked at."""
    mailer = card_letters.mailer
    job = await tx.one(Announcement, NEXT) if mailer.enabled else None
    if job is None:
        return 0
    told = await tx.one(_Announced, ANNOUNCED, job.organization_id, job.event_id)
    found = await tx.all(
        _Holder, HOLDERS, job.organization_id, job.event_id, job.reached, BATCH, counts_cancelled(job.kind),
        EVENT_CANCELLED,
    )  # fmt: skip
    letters = await _letters(tx, card_letters, job, told, found, at=at) if told is not None else []
    await mailer.write_all(tx, job.kind, letters, organization_id=job.organization_id, at=at)
    over = len(found) < BATCH
    reached = found[-1].card_id if found else job.reached
    await tx.run(ADVANCE, job.organization_id, job.id, reached, len(letters), over, at)
    return len(found)


async def _letters(
    tx: Tx, card_letters: CardLetters, job: Announcement, told: _Announced, found: list[_Holder], *, at: datetime
) -> list[NewLetter]:
    """One for each address that has none of this announcement yet. Who was just erased gets none."""
    first: dict[str, _Holder] = {}
    for one in found:
        if one.email and is_sendable(one.email):
            first.setdefault(sendable(one.email).lower(), one)
    rows = await tx.rows(WRITTEN, job.organization_id, job.id, list(first))
    written = {row["address"] for row in rows}
    readers = [holder for address, holder in first.items() if address not in written]
    kept = await keep_holders(tx, job.organization_id, [holder.card_id for holder in readers])
    links = await card_letters.links(tx, job.organization_id, kept, at=at)
    return [
        _letter(job, told, holder, language_of(holder.locale), links.get(holder.card_id, ""))
        for holder in readers
        if holder.card_id in kept
    ]


def _letter(job: Announcement, told: _Announced, holder: _Holder, language: Language, link: str) -> NewLetter:
    """The link is empty for a revoked card: the letter has no button then."""
    zone = ZoneInfo(told.time_zone)
    values = {
        "organizer": told.organizer,
        "event": told.title,
        "name": holder.name or "",
        "when": written(told.starts_at, WHEN, zone, language),
        "where": ", ".join(part for part in (told.venue, told.city) if part),
        "link": link,
    }
    if job.kind is LetterKind.EVENT_CANCELLED:
        values["reason"] = (told.cancel_reason or "")[:LONGEST_REASON]
    return NewLetter(
        holder.email or "", values, language, card_id=holder.card_id, event_id=job.event_id, mailing_id=job.id
    )


NEXT: Final = """
    -- every organization: a worker writes for each, whichever has waited longest
    SELECT organization_id, id, event_id, kind, state, reached, holders, written, begun_at, begun_by
      FROM announcement
     WHERE state = 'writing'
     ORDER BY begun_at, id
     LIMIT 1
       FOR UPDATE SKIP LOCKED
"""

ANNOUNCED: Final = """
    SELECT o.name AS organizer, e.title, e.venue, e.city, e.starts_at, e.time_zone, e.cancel_reason
      FROM event e
      JOIN organization o ON o.id = e.organization_id
     WHERE e.organization_id = $1
       AND e.id = $2
"""

# From two indexes: the tickets in use, and those that were cancelled with the event.
HOLDERS: Final = """
    WITH reason AS (
        SELECT coalesce(cancel_reason, $6) AS text FROM event WHERE organization_id = $1 AND id = $2
    ), held AS (
        (SELECT t.card_id
           FROM ticket t
          WHERE t.organization_id = $1
            AND t.event_id = $2
            AND t.cancelled_at IS NULL
            AND t.card_id > $3
          ORDER BY t.card_id
          LIMIT $4)
        UNION
        (SELECT t.card_id
           FROM ticket t
          WHERE t.organization_id = $1
            AND t.event_id = $2
            AND t.cancelled_at IS NOT NULL
            AND t.card_id > $3
            AND $5
            AND t.cancel_reason = (SELECT text FROM reason)
          ORDER BY t.card_id
          LIMIT $4)
    )
    SELECT held.card_id, h.name, h.email, h.locale
      FROM held
      LEFT JOIN card_holder h ON h.organization_id = $1 AND h.card_id = held.card_id
     ORDER BY held.card_id
     LIMIT $4
"""

WRITTEN: Final = """
    SELECT lower(address) AS address
      FROM letter
     WHERE organization_id = $1
       AND mailing_id = $2
       AND lower(address) = ANY ($3)
"""

ADVANCE: Final = """
    UPDATE announcement
       SET reached = $3, written = written + $4, state = CASE WHEN $5 THEN 'written' ELSE state END,
           ended_at = CASE WHEN $5 THEN $6 ELSE ended_at END
     WHERE organization_id = $1
       AND id = $2
       AND state = 'writing'
"""
