"""Publishing: what an event needs before it is shown and scanned, and what would be wise."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.refusals import NotAllowedFromHere
from gatepass.domain.events.catalogue import Listing, find
from gatepass.domain.events.editing import lock, move
from gatepass.domain.events.event import EventStatus
from gatepass.domain.keys import Scope

OPENS_A_GATE: Final = [Scope.TICKETS_ACTIVATE, Scope.ADMIN]


class Finding(StrEnum):
    OK = "ok"
    # It must be mended first.
    MISSING = "missing"
    # It can wait, or may be meant.
    ADVICE = "advice"


class Where(StrEnum):
    """Where it is mended."""

    DETAILS = "details"
    CATEGORIES = "categories"
    SIGNING_KEYS = "signing keys"
    API_KEYS = "API keys"


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    finding: Finding
    sentence: str
    where: Where


@dataclass(frozen=True, slots=True)
class Equipment:
    """What the organization has for its gates. `gate_key_until` is when the last of the keys that open one expires."""

    signs: bool
    has_gate_key: bool
    gate_key_until: datetime | None


async def checklist(tx: Tx, organization_id: UUID, event_id: UUID, *, at: datetime) -> list[Check]:
    listing = await find(tx, organization_id, event_id)
    equipment = await tx.one(Equipment, EQUIPMENT, organization_id, at, OPENS_A_GATE)
    assert equipment is not None  # noqa: S101  a SELECT without FROM always has a row
    return judged(listing, equipment, at)


async def publish(tx: Tx, organization_id: UUID, event_id: UUID, *, by: str, at: datetime) -> None:
    """Show the event and open it for scans, if nothing that it needs is missing."""
    event = await lock(tx, organization_id, event_id)
    if event.status is EventStatus.DRAFT:
        missing = blockers(await checklist(tx, organization_id, event_id, at=at))
        if missing:
            raise NotAllowedFromHere("It cannot be published yet. " + " ".join(one.sentence for one in missing))
    await move(tx, organization_id, event_id, EventStatus.PUBLISHED, by=by, at=at)


def blockers(checks: list[Check]) -> list[Check]:
    return [check for check in checks if check.finding is Finding.MISSING]


def judged(listing: Listing, equipment: Equipment, at: datetime) -> list[Check]:
    return [
        *_of_details(listing, at),
        _of_categories(listing),
        _of_signing(equipment),
        _of_gate_key(listing, equipment),
    ]


def _of_details(listing: Listing, at: datetime) -> Iterator[Check]:
    event = listing.event
    yield Check("Title", Finding.OK, f"It is called {event.title}.", Where.DETAILS)
    if event.ends_at <= at:
        yield Check("Dates", Finding.MISSING, "The event is over already. Give it a new date.", Where.DETAILS)
    elif event.starts_at <= at:
        yield Check("Dates", Finding.ADVICE, "The event has begun already. Is the date right?", Where.DETAILS)
    else:
        yield Check("Dates", Finding.OK, "It lies in the future.", Where.DETAILS)
    if event.venue and event.city:
        yield Check("Place", Finding.OK, f"{event.venue}, {event.city}.", Where.DETAILS)
    else:
        lacking = "venue nor city" if not (event.venue or event.city) else "city" if event.venue else "venue"
        said = f"It has neither {lacking}." if " " in lacking else f"It has no {lacking}."
        yield Check("Place", Finding.ADVICE, f"{said} Guests will ask where it is.", Where.DETAILS)


def _of_categories(listing: Listing) -> Check:
    name, where = "Tickets", Where.CATEGORIES
    open_ones = [category for category in listing.categories if category.quantity_total > 0]
    if not open_ones:
        return Check(name, Finding.MISSING, "Add a ticket category with at least one place.", where)
    if len(open_ones) < len(listing.categories):
        return Check(name, Finding.ADVICE, "One of its categories has no places.", where)
    places = sum(category.quantity_total for category in open_ones)
    return Check(name, Finding.OK, f"{places:,} places in {_counted(len(open_ones))}.", where)


def _counted(categories: int) -> str:
    return "one category" if categories == 1 else f"{categories} categories"


def _of_signing(equipment: Equipment) -> Check:
    name, where = "Signing key", Where.SIGNING_KEYS
    if equipment.signs:
        return Check(name, Finding.OK, "Cards can be signed, and gates can tell a true one.", where)
    return Check(name, Finding.MISSING, "Make a signing key: without one no card can be shown at a gate.", where)


def _of_gate_key(listing: Listing, equipment: Equipment) -> Check:
    name, where = "Key for the gates", Where.API_KEYS
    if not equipment.has_gate_key:
        sentence = f"No live API key may scan yet. Make one with {Scope.TICKETS_ACTIVATE} before the doors open."
        return Check(name, Finding.ADVICE, sentence, where)
    until = equipment.gate_key_until
    if until is not None and until < listing.event.ends_at:
        sentence = "Every API key that may scan expires before the event ends."
        return Check(name, Finding.ADVICE, sentence, where)
    return Check(name, Finding.OK, "A live API key may scan.", where)


EQUIPMENT: Final = """
    SELECT EXISTS (SELECT FROM signing_key s
                    WHERE s.organization_id = $1
                      AND s.retired_at IS NULL) AS signs,
           k.*
      FROM (SELECT count(*) > 0 AS has_gate_key,
                   CASE WHEN count(*) = count(expires_at) THEN max(expires_at) END AS gate_key_until
              FROM api_key
             WHERE organization_id = $1
               AND mode = 'live'
               AND scopes && $3::text[]
               AND revoked_at IS NULL
               AND (expires_at IS NULL OR expires_at > $2)) k
"""
