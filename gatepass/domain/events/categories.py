"""Ticket categories: what is sold, for how much, and how many. Never fewer places than were sold."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.base.refusals import InvalidRequest, NotAllowedFromHere, Refusal
from gatepass.domain import changes
from gatepass.domain.events.details import text_problem
from gatepass.domain.events.editing import lock
from gatepass.domain.events.event import FINAL, TicketCategory
from gatepass.domain.events.money import to_minor, written

TIER: Final = re.compile("[a-z][a-z0-9_-]{0,31}", re.ASCII)
LONGEST_NAME: Final = 100
# A page shows them all, and the API sends them with each event.
MOST: Final = 50
MOST_PLACES: Final = 10_000_000


class CategoryNotFound(Refusal):
    """There is no such ticket category."""

    code = "category_not_found"


@dataclass(frozen=True, slots=True)
class Offer:
    """A category as an organizer describes it."""

    name: str
    price: Decimal
    currency: str
    quantity_total: int
    tier: str = "standard"


def offer_problems(offer: Offer) -> dict[str, str]:
    """What is wrong, by field; of each the first."""
    found: dict[str, str] = {}
    for field, sentence in _problems(offer):
        found.setdefault(field, sentence)
    return found


def _problems(offer: Offer) -> Iterator[tuple[str, str]]:
    if not offer.name.strip():
        yield "name", "A category has a name."
    problem = text_problem(offer.name, LONGEST_NAME)
    if problem:
        yield "name", problem
    if not TIER.fullmatch(offer.tier):
        yield "tier", "A tier is a short lower-case word, such as standard or vip."
    if not 0 <= offer.quantity_total <= MOST_PLACES:
        yield "quantity_total", f"From 0 to {MOST_PLACES:,} places."
    try:
        to_minor(offer.price, offer.currency)
    except InvalidRequest as refusal:
        yield refusal.param or "price", str(refusal)


async def add_category(
    tx: Tx,
    organization_id: UUID,
    event_id: UUID,
    name: str,
    price: Decimal,
    currency: str,
    quantity_total: int,
    *,
    by: str,
    at: datetime,
    tier: str = "standard",
) -> UUID:
    offer = Offer(name, price, currency, quantity_total, tier)
    await _open_for_changes(tx, organization_id, event_id, offer)
    if await tx.value(COUNT, organization_id, event_id) >= MOST:
        raise NotAllowedFromHere(f"An event has at most {MOST} categories.")
    category_id, minor = new_id(), to_minor(price, currency)
    await tx.run(ADD, organization_id, category_id, event_id, name, tier, minor, currency, quantity_total)
    becomes = _described(offer)
    await changes.note(tx, organization_id, "event", event_id, "category added", by=by, at=at, becomes=becomes)
    return category_id


async def edit_category(
    tx: Tx, organization_id: UUID, event_id: UUID, category_id: UUID, offer: Offer, *, by: str, at: datetime
) -> None:
    """Describe a category anew. A new price is for those who buy from now on."""
    await _open_for_changes(tx, organization_id, event_id, offer)
    was = await _lock(tx, organization_id, event_id, category_id)
    if offer.quantity_total < was.quantity_sold:
        sentence = f"{was.quantity_sold:,} are sold: there cannot be fewer places."
        raise InvalidRequest(sentence, param="quantity_total")
    if was.quantity_sold and offer.currency != was.currency:
        raise InvalidRequest(f"Some are sold for {was.currency}: the currency stays.", param="currency")
    minor = to_minor(offer.price, offer.currency)
    new = (offer.name, offer.tier, minor, offer.currency, offer.quantity_total)
    if new == (was.name, was.tier, was.price_minor, was.currency, was.quantity_total):
        return
    await tx.run(EDIT, organization_id, category_id, *new)
    await changes.note(
        tx, organization_id, "event", event_id, "category changed", by=by, at=at,
        was=_described_as_it_is(was), becomes=_described(offer),
    )  # fmt: skip


async def remove_category(
    tx: Tx, organization_id: UUID, event_id: UUID, category_id: UUID, *, by: str, at: datetime
) -> None:
    """Take a category out while nobody has a ticket of it. Cancelled tickets go on naming it."""
    await _open_for_changes(tx, organization_id, event_id, None)
    was = await _lock(tx, organization_id, event_id, category_id)
    if was.quantity_sold:
        raise NotAllowedFromHere(f"{was.quantity_sold:,} tickets of {was.name} are sold, so it cannot be removed.")
    await tx.run(REMOVE, organization_id, category_id, at)
    was_described = _described_as_it_is(was)
    await changes.note(tx, organization_id, "event", event_id, "category removed", by=by, at=at, was=was_described)


async def _open_for_changes(tx: Tx, organization_id: UUID, event_id: UUID, offer: Offer | None) -> None:
    if offer is not None:
        for field, sentence in _problems(offer):
            raise InvalidRequest(sentence, param=field)
    event = await lock(tx, organization_id, event_id)
    if event.status in FINAL:
        raise NotAllowedFromHere(f"An event that is {event.status} cannot be changed.")


async def _lock(tx: Tx, organization_id: UUID, event_id: UUID, category_id: UUID) -> TicketCategory:
    found = await tx.one(TicketCategory, LOCK, organization_id, event_id, category_id)
    if found is None:
        raise CategoryNotFound
    return found


def _described(offer: Offer) -> str:
    price = written(to_minor(offer.price, offer.currency), offer.currency)
    return f"{offer.name} ({offer.tier}), {price} {offer.currency}, {offer.quantity_total:,} places"


def _described_as_it_is(category: TicketCategory) -> str:
    price = written(category.price_minor, category.currency)
    return f"{category.name} ({category.tier}), {price} {category.currency}, {category.quantity_total:,} places"


COUNT: Final = """
    SELECT count(*)
      FROM ticket_category
     WHERE organization_id = $1
       AND event_id = $2
       AND removed_at IS NULL
"""

ADD: Final = """
    INSERT INTO ticket_category (organization_id, id, event_id, name, tier, price_minor, currency, quantity_total)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""

LOCK: Final = """
    SELECT id, event_id, name, tier, price_minor, currency, quantity_total, quantity_sold
      FROM ticket_category
     WHERE organization_id = $1
       AND event_id = $2
       AND id = $3
       AND removed_at IS NULL
       FOR NO KEY UPDATE
"""

EDIT: Final = """
    UPDATE ticket_category
       SET name = $3, tier = $4, price_minor = $5, currency = $6, quantity_total = $7
     WHERE organization_id = $1
       AND id = $2
"""

# Without places nothing can be sold of it, however late a sale comes.
REMOVE: Final = """
    UPDATE ticket_category
       SET removed_at = $3, quantity_total = 0
     WHERE organization_id = $1
       AND id = $2
"""
