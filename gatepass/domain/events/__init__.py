"""Events: the catalogue, and what organizers do to it."""

from gatepass.domain.events.catalogue import Listing, find, published
from gatepass.domain.events.editing import add_category, create, end_past, move
from gatepass.domain.events.event import Event, EventNotActive, EventNotFound, EventStatus, TicketCategory
from gatepass.domain.events.money import to_major, to_minor

__all__ = [
    "Event",
    "EventNotActive",
    "EventNotFound",
    "EventStatus",
    "Listing",
    "TicketCategory",
    "add_category",
    "create",
    "end_past",
    "find",
    "move",
    "published",
    "to_major",
    "to_minor",
]
