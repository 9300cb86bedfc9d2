"""Ticket categories: names, prices, numbers of places, and when and where their tickets open the gate.

There are never fewer places than tickets issued.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

from gatepass.base.clock import rfc3339
from gatepass.base.database import Tx
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere, Refusal
from gatepass.base.ids import new_id
from gatepass.domain import audit_log
from gatepass.domain.events import messages
from gatepass.domain.events.details import text_problem, year_problem
from gatepass.domain.events.editing import lock
from gatepass.domain.events.event import FINAL_STATUSES, TicketCategory
from gatepass.domain.events.money import exact, to_minor, written

TIER: Final = re.compile("[a-z][a-z0-9_-]{0,31}", re.ASCII)
LONGEST_NAME: Final = 100
# A page shows all of them, and the API sends them with each event.
MOST: Final = 50
MOST_PLACES: Final = 10_000_000
# A refusal names them all, and a manifest carries them to each device.
MOST_GATES: Final = 50
# As in the body of a scan.
LONGEST_GATE: Final = 64


class CategoryNotFound(Refusal):
    """There is no such ticket category."""

    code = "category_not_found"


@dataclass(frozen=True, slots=True)
class CategoryDetails:
    """A category as an organizer describes it. An empty list of gates is none: its tickets open all of them."""

    name: str
    price: Decimal
    currency: str
    quantity_total: int
    tier: str = "standard"
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    gates: list[str] | None = None

    @classmethod
    def of(cls, category: TicketCategory) -> "CategoryDetails":
        """The present details of this category."""
        return cls(
            category.name, exact(category.price_minor, category.currency), category.currency, category.quantity_total,
            category.tier, category.valid_from, category.valid_until, category.gates,
        )  # fmt: skip


def category_problems(details: CategoryDetails) -> dict[str, str]:
    """The first problem of each field."""
    found: dict[str, str] = {}
    for field, sentence in _problems(details):
        found.setdefault(field, sentence)
    return found


def _problems(details: CategoryDetails) -> Iterator[tuple[str, str]]:
    if not details.name.strip():
        yield "name", "A category has a name."
    problem = text_problem(details.name, LONGEST_NAME)
    if problem:
        yield "name", problem
    if not TIER.fullmatch(details.tier):
        yield "tier", "A tier is a short lower-case word, such as standard or vip."
    if not 0 <= details.quantity_total <= MOST_PLACES:
        yield "quantity_total", f"From 0 to {MOST_PLACES:,} places."
    try:
        to_minor(details.price, details.currency)
    except InvalidRequest as refusal:
        yield refusal.param or "price", str(refusal)
    for field in ("valid_from", "valid_until"):
        if (problem := year_problem(getattr(details, field))) is not None:
            yield field, problem
    if details.valid_from is not None and details.valid_until is not None and details.valid_from >= details.valid_until:
        yield "valid_until", "It lies after the time from which they are good."
    if (problem := _gates_problem(details.gates or [])) is not None:
        yield "gates", problem


def _gates_problem(gates: list[str]) -> str | None:
    if len(gates) > MOST_GATES:
        return f"At most {MOST_GATES} gates."
    if any(not gate.strip() for gate in gates):
        return "A gate has a name."
    if len(set(gates)) < len(gates):
        return "A gate is named twice."
    return next((problem for gate in gates if (problem := text_problem(gate, LONGEST_GATE))), None)


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
    valid_from: datetime | None = None,
    valid_until: datetime | None = None,
    gates: list[str] | None = None,
) -> UUID:
    details = CategoryDetails(name, price, currency, quantity_total, tier, valid_from, valid_until, gates)
    await _open_for_changes(tx, organization_id, event_id, details)
    if await tx.value(COUNT, organization_id, event_id) >= MOST:
        raise NotAllowedFromHere(f"An event has at most {MOST} categories.")
    category_id = new_id()
    await tx.run(ADD, organization_id, category_id, event_id, *_columns(details))
    becomes = _described(details)
    await audit_log.record(tx, organization_id, "event", event_id, "category added", by=by, at=at, becomes=becomes)
    await messages.tell_updated(tx, organization_id, event_id, at=at)
    return category_id


async def edit_category(
    tx: Tx, organization_id: UUID, event_id: UUID, category_id: UUID, details: CategoryDetails, *, by: str, at: datetime
) -> None:
    """Replace the details of a category. A new price applies to later sales only."""
    await _open_for_changes(tx, organization_id, event_id, details)
    was = await _lock(tx, organization_id, event_id, category_id)
    if details.quantity_total < was.quantity_sold:
        sentence = f"{was.quantity_sold:,} are issued: there cannot be fewer places."
        raise InvalidRequest(sentence, param="quantity_total")
    if was.quantity_sold and details.currency != was.currency:
        raise InvalidRequest(f"Some are issued for {was.currency}: the currency stays.", param="currency")
    new = _columns(details)
    if new == _columns(CategoryDetails.of(was)):
        return
    await tx.run(EDIT, organization_id, category_id, *new)
    await audit_log.record(
        tx, organization_id, "event", event_id, "category changed", by=by, at=at,
        was=_described(CategoryDetails.of(was)), becomes=_described(details),
    )  # fmt: skip
    await messages.tell_updated(tx, organization_id, event_id, at=at)


async def lock_category(tx: Tx, organization_id: UUID, category_id: UUID) -> TicketCategory:
    """The category and its event, locked against changes until this transaction ends."""
    event_id = await tx.value(EVENT_OF, organization_id, category_id)
    if event_id is None:
        raise CategoryNotFound
    await lock(tx, organization_id, event_id)
    return await _lock(tx, organization_id, event_id, category_id)


async def find_category(tx: Tx, organization_id: UUID, category_id: UUID) -> TicketCategory:
    found = await tx.one(TicketCategory, FIND, organization_id, category_id)
    if found is None:
        raise CategoryNotFound
    return found


async def remove_category(
    tx: Tx, organization_id: UUID, event_id: UUID, category_id: UUID, *, by: str, at: datetime
) -> None:
    """Remove a category that has no tickets in use. Cancelled tickets keep referring to it."""
    await _open_for_changes(tx, organization_id, event_id, None)
    was = await _lock(tx, organization_id, event_id, category_id)
    if was.quantity_sold:
        raise NotAllowedFromHere(f"{was.quantity_sold:,} tickets of {was.name} are issued, so it cannot be removed.")
    await tx.run(REMOVE, organization_id, category_id, at)
    was_described = _described(CategoryDetails.of(was))
    await audit_log.record(tx, organization_id, "event", event_id, "category removed", by=by, at=at, was=was_described)
    await messages.tell_updated(tx, organization_id, event_id, at=at)


async def _open_for_changes(tx: Tx, organization_id: UUID, event_id: UUID, details: CategoryDetails | None) -> None:
    if details is not None:
        for field, sentence in _problems(details):
            raise InvalidRequest(sentence, param=field)
    event = await lock(tx, organization_id, event_id)
    if event.status in FINAL_STATUSES:
        raise NotAllowedFromHere(f"An event that is {event.status} cannot be changed.")


async def _lock(tx: Tx, organization_id: UUID, event_id: UUID, category_id: UUID) -> TicketCategory:
    found = await tx.one(TicketCategory, LOCK, organization_id, event_id, category_id)
    if found is None:
        raise CategoryNotFound
    return found


def _columns(details: CategoryDetails) -> tuple[object, ...]:
    """In the order of ADD and EDIT."""
    minor = to_minor(details.price, details.currency)
    window = (details.valid_from, details.valid_until)
    return (details.name, details.tier, minor, details.currency, details.quantity_total, *window, details.gates or None)


def _described(details: CategoryDetails) -> str:
    price = written(to_minor(details.price, details.currency), details.currency)
    parts = [f"{details.name} ({details.tier})", f"{price} {details.currency}", f"{details.quantity_total:,} places"]
    if details.valid_from is not None:
        parts.append(f"from {rfc3339(details.valid_from)}")
    if details.valid_until is not None:
        parts.append(f"until {rfc3339(details.valid_until)}")
    if details.gates:
        parts.append(f"at {'; '.join(details.gates)}")
    return ", ".join(parts)


COUNT: Final = """
    SELECT count(*)
      FROM ticket_category
     WHERE organization_id = $1
       AND event_id = $2
       AND removed_at IS NULL
"""

ADD: Final = """
    INSERT INTO ticket_category (organization_id, id, event_id, name, tier, price_minor, currency, quantity_total,
                                 valid_from, valid_until, gates)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
"""

LOCK: Final = """
    SELECT id, event_id, name, tier, price_minor, currency, quantity_total, quantity_sold, updated_at,
           valid_from, valid_until, gates
      FROM ticket_category
     WHERE organization_id = $1
       AND event_id = $2
       AND id = $3
       AND removed_at IS NULL
       FOR NO KEY UPDATE
"""

EVENT_OF: Final = """
    SELECT event_id
      FROM ticket_category
     WHERE organization_id = $1
       AND id = $2
"""

FIND: Final = """
    SELECT id, event_id, name, tier, price_minor, currency, quantity_total, quantity_sold, updated_at,
           valid_from, valid_until, gates
      FROM ticket_category
     WHERE organization_id = $1
       AND id = $2
       AND removed_at IS NULL
"""

EDIT: Final = """
    UPDATE ticket_category
       SET name = $3, tier = $4, price_minor = $5, currency = $6, quantity_total = $7, valid_from = $8,
           valid_until = $9, gates = $10
     WHERE organization_id = $1
       AND id = $2
"""

# Without places no ticket of it can be issued later.
REMOVE: Final = """
    UPDATE ticket_category
       SET removed_at = $3, quantity_total = 0
     WHERE organization_id = $1
       AND id = $2
"""
