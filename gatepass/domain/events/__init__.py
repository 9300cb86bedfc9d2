"""Events: the catalogue, and what organizers do to it."""

from gatepass.domain.events.browsing import Order, ProgrammePage, Wanted, When, programme
from gatepass.domain.events.calling_off import Consequences, cancel, consequences
from gatepass.domain.events.catalogue import Listing, find, published
from gatepass.domain.events.categories import (
    CategoryNotFound,
    Offer,
    add_category,
    edit_category,
    offer_problems,
    remove_category,
)
from gatepass.domain.events.covers import Cover, find_cover, keep
from gatepass.domain.events.details import Details, cover_address, problems
from gatepass.domain.events.duplication import duplicate, moved
from gatepass.domain.events.editing import create, edit, end_past, lock, move
from gatepass.domain.events.event import Event, EventNotActive, EventNotFound, EventStatus, TicketCategory
from gatepass.domain.events.money import to_major, to_minor
from gatepass.domain.events.publishing import Check, Finding, Where, blockers, checklist, publish

__all__ = [
    "CategoryNotFound",
    "Check",
    "Consequences",
    "Cover",
    "Details",
    "Event",
    "EventNotActive",
    "EventNotFound",
    "EventStatus",
    "Finding",
    "Listing",
    "Offer",
    "Order",
    "ProgrammePage",
    "TicketCategory",
    "Wanted",
    "When",
    "Where",
    "add_category",
    "blockers",
    "cancel",
    "checklist",
    "consequences",
    "cover_address",
    "create",
    "duplicate",
    "edit",
    "edit_category",
    "end_past",
    "find",
    "find_cover",
    "keep",
    "lock",
    "move",
    "moved",
    "offer_problems",
    "problems",
    "programme",
    "publish",
    "published",
    "remove_category",
    "to_major",
    "to_minor",
]
