"""Publishing an event: the checklist of what it needs first, and what is only advised."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import twin
from gatepass.domain.events.catalogue import CatalogueEntry, find
from gatepass.domain.events.editing import change_status, lock
from gatepass.domain.events.event import GRACE, Event, EventStatus, TicketCategory
from gatepass.domain.keys import Mode, Scope

GATE_SCOPES: Final = [Scope.TICKETS_ACTIVATE, Scope.ADMIN]


class CheckFinding(StrEnum):
    OK = "ok"
    # It must be fixed first.
    MISSING = "missing"
    # It can wait, or may be intended.
    ADVICE = "advice"


class CheckArea(StrEnum):
    """The part of the studio where it is fixed."""

    DETAILS = "details"
    CATEGORIES = "categories"
    SIGNING_KEYS = "signing keys"
    API_KEYS = "API keys"


@dataclass(frozen=True, slots=True)
class PublicationCheck:
    name: str
    finding: CheckFinding
    sentence: str
    where: CheckArea


@dataclass(frozen=True, slots=True)
class Equipment:
    """The keys that the organization has for its gates. `gate_key_until` is when the last that may scan expires."""

    mode: Mode
    signs: bool
    has_gate_key: bool
    gate_key_until: datetime | None


async def checklist(tx: Tx, organization_id: UUID, event_id: UUID, *, at: datetime) -> list[PublicationCheck]:
    entry = await find(tx, organization_id, event_id)
    in_sandbox = twin.is_twin(organization_id)
    mode, owner_id = Mode.SANDBOX if in_sandbox else Mode.LIVE, twin.owner_of(organization_id)
    equipment = await tx.one(Equipment, EQUIPMENT, organization_id, at, GATE_SCOPES, owner_id, mode, in_sandbox)
    assert equipment is not None  # noqa: S101  a SELECT without FROM always has a row
    return _checks(entry, equipment, at)


async def publish(tx: Tx, organization_id: UUID, event_id: UUID, *, by: str, at: datetime) -> None:
    """Show the event and open it for scans, if nothing that it needs is missing."""
    event = await lock(tx, organization_id, event_id)
    if event.status is EventStatus.DRAFT:
        missing = blockers(await checklist(tx, organization_id, event_id, at=at))
        if missing:
            raise NotAllowedFromHere("It cannot be published yet. " + " ".join(one.sentence for one in missing))
    await change_status(tx, organization_id, event_id, EventStatus.PUBLISHED, by=by, at=at)


def blockers(checks: list[PublicationCheck]) -> list[PublicationCheck]:
    return [check for check in checks if check.finding is CheckFinding.MISSING]


def _checks(entry: CatalogueEntry, equipment: Equipment, at: datetime) -> list[PublicationCheck]:
    return [
        *_of_details(entry, at),
        _of_categories(entry),
        _of_signing(equipment),
        _of_gate_key(entry, equipment),
    ]


def _of_details(entry: CatalogueEntry, at: datetime) -> Iterator[PublicationCheck]:
    event = entry.event
    yield PublicationCheck("Title", CheckFinding.OK, f"It is called {event.title}.", CheckArea.DETAILS)
    if event.ends_at <= at:
        yield PublicationCheck(
            "Dates", CheckFinding.MISSING, "The event is over already. Give it a new date.", CheckArea.DETAILS
        )
    elif event.starts_at <= at:
        yield PublicationCheck(
            "Dates", CheckFinding.ADVICE, "The event has begun already. Is the date right?", CheckArea.DETAILS
        )
    else:
        yield PublicationCheck("Dates", CheckFinding.OK, "It lies in the future.", CheckArea.DETAILS)
    if event.doors_open_at is not None and event.doors_open_at > event.starts_at:
        yield PublicationCheck(
            "Doors", CheckFinding.ADVICE, "The doors open after the start. Is the time right?", CheckArea.DETAILS
        )
    if event.venue and event.city:
        yield PublicationCheck("Place", CheckFinding.OK, f"{event.venue}, {event.city}.", CheckArea.DETAILS)
    else:
        lacking = "venue nor city" if not (event.venue or event.city) else "city" if event.venue else "venue"
        sentence = f"It has neither {lacking}." if " " in lacking else f"It has no {lacking}."
        yield PublicationCheck(
            "Place", CheckFinding.ADVICE, f"{sentence} Guests will ask where it is.", CheckArea.DETAILS
        )


def _of_categories(entry: CatalogueEntry) -> PublicationCheck:
    name, where = "Tickets", CheckArea.CATEGORIES
    open_ones = [category for category in entry.categories if category.quantity_total > 0]
    if not open_ones:
        return PublicationCheck(name, CheckFinding.MISSING, "Add a ticket category with at least one place.", where)
    useless = next((category for category in open_ones if _opens_nothing(category, entry.event)), None)
    if useless is not None:
        sentence = f"Tickets of {useless.name} are good only while the gates let nobody in. Are their times right?"
        return PublicationCheck(name, CheckFinding.ADVICE, sentence, where)
    if len(open_ones) < len(entry.categories):
        return PublicationCheck(name, CheckFinding.ADVICE, "One of its categories has no places.", where)
    places = sum(category.quantity_total for category in open_ones)
    return PublicationCheck(name, CheckFinding.OK, f"{places:,} places in {_counted(len(open_ones))}.", where)


def _opens_nothing(category: TicketCategory, event: Event) -> bool:
    """Whether its time is over before the doors open, or begins when the event has ended by itself."""
    doors, until = event.doors_open_at, category.valid_until
    too_early = doors is not None and until is not None and until <= doors
    return too_early or (category.valid_from is not None and category.valid_from >= event.ends_at + GRACE)


def _counted(categories: int) -> str:
    return "one category" if categories == 1 else f"{categories} categories"


def _of_signing(equipment: Equipment) -> PublicationCheck:
    name, where = "Signing key", CheckArea.SIGNING_KEYS
    if equipment.signs:
        return PublicationCheck(name, CheckFinding.OK, "Cards can be signed, and gates can tell a true one.", where)
    return PublicationCheck(
        name, CheckFinding.MISSING, "Make a signing key: without one no card can be shown at a gate.", where
    )


def _of_gate_key(entry: CatalogueEntry, equipment: Equipment) -> PublicationCheck:
    name, where = "Key for the gates", CheckArea.API_KEYS
    if not equipment.has_gate_key:
        sentence = f"No {equipment.mode} API key may scan yet. Make one for your gates before the doors open."
        return PublicationCheck(name, CheckFinding.ADVICE, sentence, where)
    until = equipment.gate_key_until
    if until is not None and until < entry.event.ends_at:
        sentence = "Every API key that may scan expires before the event ends."
        return PublicationCheck(name, CheckFinding.ADVICE, sentence, where)
    return PublicationCheck(name, CheckFinding.OK, f"A {equipment.mode} API key may scan.", where)


# A twin gets its signing key with its first token.
EQUIPMENT: Final = """
    SELECT $5::text AS mode,
           $6 OR EXISTS (SELECT FROM signing_key s
                    WHERE s.organization_id = $1
                      AND s.retired_at IS NULL) AS signs,
           k.*
      FROM (SELECT count(*) > 0 AS has_gate_key,
                   CASE WHEN count(*) = count(expires_at) THEN max(expires_at) END AS gate_key_until
              FROM api_key
             WHERE organization_id = $4
               AND mode = $5
               AND scopes && $3::text[]
               AND revoked_at IS NULL
               AND (expires_at IS NULL OR expires_at > $2)) k
"""
