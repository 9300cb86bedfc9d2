"""What the page of a card shows: the card, its coming events, and the code that a gate scans.

Reading it changes nothing: programs that check mails open links too. An interface adds the words and the form of times.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.encryption import Vault
from gatepass.domain import card_look, cards, twin
from gatepass.domain.card_view.versions import SHOWN_AFTER, CardRef, read_versions
from gatepass.domain.cards import CardNotFound, CardStatus
from gatepass.domain.events import EventCodes, EventStatus
from gatepass.domain.events.event import GRACE

# More tickets for coming events than one person uses. The soonest are shown.
MOST_EVENTS: Final = 50
# The code on the page is valid until this long after the last event, because events run late; and at most this long.
CODE_AFTER_EVENTS: Final = timedelta(days=1)
LONGEST_CODE: Final = timedelta(days=90)


class ShownStatus(StrEnum):
    """The status of the card as its page says it. One that ended shows nothing, and has no view."""

    ACTIVE = "active"
    SUSPENDED = "suspended"


class EventState(StrEnum):
    COMING = "coming"
    # The card was scanned: its holder is in.
    IN = "in"
    CANCELLED = "cancelled"
    # Its time or its place changed after the ticket was issued.
    CHANGED = "changed"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class ShownEvent:
    id: UUID
    title: str
    starts_at: datetime
    ends_at: datetime
    time_zone: str
    venue: str | None
    city: str | None
    category: str
    status: EventStatus
    changed: bool
    activated_at: datetime | None
    gate: str | None
    codes: EventCodes

    def state(self, at: datetime) -> EventState:
        if self.status is EventStatus.CANCELLED:
            return EventState.CANCELLED
        if self.status is EventStatus.ENDED or self.ends_at + GRACE <= at:
            return EventState.OVER
        if self.activated_at is not None:
            return EventState.IN
        return EventState.CHANGED if self.changed else EventState.COMING

    def is_coming(self, at: datetime) -> bool:
        return self.state(at) not in (EventState.CANCELLED, EventState.OVER)


@dataclass(frozen=True, slots=True)
class Look:
    """What the organizer chose: the holder's name or none, a logo, a colour with the ink on it, a line of text."""

    name: str | None
    logo_id: UUID | None
    colour: str
    ink: str
    line: str | None


@dataclass(frozen=True, slots=True)
class CardCode:
    """A signed token that a gate scans, and when it stops being valid."""

    token: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class CardView:
    version: str
    at: datetime
    number: str
    status: ShownStatus
    sandbox: bool
    organizer: str
    locale: str | None
    look: Look
    events: Sequence[ShownEvent]
    code: CardCode | None
    # The number of the enrolled phone; None if none is.
    phone: int | None = None


@dataclass(frozen=True, slots=True)
class _Card:
    number: str
    status: CardStatus
    organizer: str
    organization_suspended: bool
    phone: int | None
    locale: str | None
    holder: str | None


async def read_view(tx: Tx, organization_id: UUID, card_id: UUID, vault: Vault, *, at: datetime) -> CardView:
    """The view of a card whose link is live.

    The version is read first: if the card changes meanwhile, the page has an old one and asks again.
    """
    ref = CardRef(organization_id, card_id)
    version = (await read_versions(tx, [ref], at=at)).get(ref)
    card = await tx.one(_Card, CARD, organization_id, card_id)
    if card is None or version is None or card.status is CardStatus.REVOKED:
        raise CardNotFound
    events = await tx.all(ShownEvent, EVENTS, organization_id, card_id, at - SHOWN_AFTER, MOST_EVENTS)
    is_active = card.status is CardStatus.ACTIVE and not card.organization_suspended
    # Whoever else has the link gets no code once a phone is enrolled.
    shows_code = is_active and card.phone is None
    return CardView(
        version=version,
        at=at,
        number=card.number,
        status=ShownStatus.ACTIVE if is_active else ShownStatus.SUSPENDED,
        sandbox=twin.is_twin(organization_id),
        organizer=card.organizer,
        locale=card.locale,
        look=await _look(tx, organization_id, card.holder),
        events=events,
        code=await _code(tx, organization_id, card.number, events, vault, at) if shows_code else None,
        phone=card.phone,
    )


async def _look(tx: Tx, organization_id: UUID, holder: str | None) -> Look:
    chosen = await card_look.find(tx, organization_id)
    name = holder if chosen.shows_name else None
    return Look(name, chosen.logo_id, chosen.colour, chosen.ink, chosen.line)


async def _code(
    tx: Tx, organization_id: UUID, number: str, events: Sequence[ShownEvent], vault: Vault, at: datetime
) -> CardCode | None:
    """None while every coming event wants the codes of phones, or if the organization cannot sign."""
    coming = [event for event in events if event.is_coming(at)]
    if coming and all(event.codes is EventCodes.PHONE for event in coming):
        return None
    sign = await cards.existing_signer(tx, organization_id, vault)
    if sign is None:
        return None
    expires_at = code_expiry(coming, at)
    return CardCode(sign(number, expires_at), expires_at)


def code_expiry(coming: Sequence[ShownEvent], at: datetime) -> datetime:
    last = max((event.ends_at for event in coming), default=at)
    return min(last + CODE_AFTER_EVENTS, at + LONGEST_CODE).replace(microsecond=0)


CARD: Final = """
    SELECT c.number, c.status, o.name AS organizer, w.suspended_at IS NOT NULL AS organization_suspended, c.phone,
           h.locale, h.name AS holder
      FROM card c
      JOIN organization o ON o.id = c.organization_id
      JOIN organization w ON w.id = coalesce(o.twin_of, o.id)
      LEFT JOIN card_holder h ON h.organization_id = c.organization_id AND h.card_id = c.id
     WHERE c.organization_id = $1
       AND c.id = $2
"""

# A ticket that was cancelled alone is not shown; those of a cancelled event are, to say so.
EVENTS: Final = """
    SELECT e.id, e.title, e.starts_at, e.ends_at, e.time_zone, e.venue, e.city, k.name AS category, e.status,
           EXISTS (SELECT FROM audit_log a
                    WHERE a.organization_id = $1
                      AND a.subject_id = e.id
                      AND a.at > t.issued_at
                      AND a.action IN ('starts_at changed', 'venue changed', 'city changed')) AS changed,
           t.activated_at, t.activated_gate AS gate, e.codes
      FROM (SELECT DISTINCT ON (x.event_id) x.*
              FROM ticket x
             WHERE x.organization_id = $1
               AND x.card_id = $2
             ORDER BY x.event_id, x.cancelled_at DESC NULLS FIRST) t
      JOIN event e ON e.organization_id = $1 AND e.id = t.event_id
      JOIN ticket_category k ON k.organization_id = $1 AND k.id = t.category_id
     WHERE e.status <> 'draft'
       AND (t.cancelled_at IS NULL OR e.status = 'cancelled')
       AND e.ends_at > $3
     ORDER BY e.starts_at, e.id
     LIMIT $4
"""
