"""Making events and moving them through their life. Cancelled and ended are final."""

import re
from datetime import datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

from gatepass.base.clock import rfc3339
from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.base.refusals import InvalidRequest, NotAllowedFromHere
from gatepass.domain import changes, webhooks
from gatepass.domain.events.event import GRACE, MOVES, EventNotFound, EventStatus
from gatepass.domain.events.money import to_minor
from gatepass.domain.webhooks import Message, MessageType

COUNTRY: Final = re.compile("[A-Z]{2}")


async def create(
    tx: Tx,
    organization_id: UUID,
    title: str,
    starts_at: datetime,
    ends_at: datetime,
    *,
    by: str,
    at: datetime,
    description: str | None = None,
    venue: str | None = None,
    city: str | None = None,
    country: str | None = None,
    cover_url: str | None = None,
) -> UUID:
    """Make an event; it begins as a draft."""
    if not starts_at < ends_at:
        raise InvalidRequest("An event starts before it ends.", param="ends_at")
    if country is not None and not COUNTRY.fullmatch(country):
        raise InvalidRequest("A country is two capital letters, as in ISO 3166-1.", param="country")
    event_id = new_id()
    await tx.run(
        CREATE,
        organization_id,
        event_id,
        title,
        description,
        venue,
        city,
        country,
        starts_at,
        ends_at,
        cover_url,
        at,
    )
    await changes.note(tx, organization_id, "event", event_id, "created", by=by, at=at, becomes=EventStatus.DRAFT)
    return event_id


async def add_category(
    tx: Tx,
    organization_id: UUID,
    event_id: UUID,
    name: str,
    price: Decimal,
    currency: str,
    quantity_total: int,
    *,
    tier: str = "standard",
) -> UUID:
    if await tx.value(STATUS, organization_id, event_id) is None:
        raise EventNotFound
    category_id = new_id()
    minor = to_minor(price, currency)
    await tx.run(ADD_CATEGORY, organization_id, category_id, event_id, name, tier, minor, currency, quantity_total)
    return category_id


async def move(
    tx: Tx,
    organization_id: UUID,
    event_id: UUID,
    to: EventStatus,
    *,
    by: str,
    at: datetime,
    reason: str | None = None,
) -> None:
    """Publish, cancel or end an event. Its tickets are cancelled by the worker, in batches that no gate notices."""
    status = await tx.value(LOCK, organization_id, event_id)
    if status is None:
        raise EventNotFound
    if to not in MOVES[EventStatus(status)]:
        raise NotAllowedFromHere(f"An event that is {status} cannot become {to}.")
    await tx.run(MOVE, organization_id, event_id, to)
    await changes.note(tx, organization_id, "event", event_id, to, by=by, at=at, was=status, becomes=to, reason=reason)
    if to is EventStatus.CANCELLED:
        data = {"event_id": str(event_id), "cancelled_at": rfc3339(at), "reason": reason}
        message = Message(new_id(), MessageType.EVENT_CANCELLED, data, ordering_key=event_id)
        await webhooks.emit(tx, organization_id, [message], at=at)


async def end_past(tx: Tx, *, at: datetime) -> int:
    """End what ended more than GRACE ago, in every organization; how many that were."""
    ended = await tx.rows(END_PAST, at - GRACE)
    for row in ended:
        await changes.note(
            tx,
            row["organization_id"],
            "event",
            row["id"],
            EventStatus.ENDED,
            by="upkeep",
            at=at,
            was=EventStatus.PUBLISHED,
            becomes=EventStatus.ENDED,
        )
    return len(ended)


CREATE: Final = """
    INSERT INTO event (organization_id, id, title, description, venue, city, country, starts_at, ends_at, cover_url,
                       created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
"""

STATUS: Final = """
    SELECT status
      FROM event
     WHERE organization_id = $1
       AND id = $2
"""

ADD_CATEGORY: Final = """
    INSERT INTO ticket_category (organization_id, id, event_id, name, tier, price_minor, currency, quantity_total)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""

LOCK: Final = """
    SELECT status
      FROM event
     WHERE organization_id = $1
       AND id = $2
       FOR NO KEY UPDATE
"""

MOVE: Final = """
    UPDATE event
       SET status = $3
     WHERE organization_id = $1
       AND id = $2
"""

END_PAST: Final = """
    -- every organization: upkeep ends what is over, wherever it is
    UPDATE event
       SET status = 'ended'
     WHERE status = 'published'
       AND ends_at <= $1
    RETURNING organization_id, id
"""
