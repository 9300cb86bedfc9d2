"""Events: the catalogue, and how organizers change it."""

from gatepass.domain.events.admin_list import EventFilter, EventOrder, EventPage, EventPeriod, list_events
from gatepass.domain.events.cancellation import Consequences, cancel, consequences
from gatepass.domain.events.catalogue import CatalogueEntry, find, published, titles_of
from gatepass.domain.events.catalogue_batch import NOTHING, CatalogueQuestion, CatalogueRead, entries, read_batch
from gatepass.domain.events.categories import (
    CategoryDetails,
    CategoryNotFound,
    add_category,
    category_problems,
    edit_category,
    find_category,
    lock_category,
    remove_category,
)
from gatepass.domain.events.covers import Cover, find_cover, store_cover
from gatepass.domain.events.deletion import delete
from gatepass.domain.events.details import Details, cover_address, problems
from gatepass.domain.events.duplication import duplicate, shifted_event
from gatepass.domain.events.editing import (
    change_status,
    create,
    edit,
    end_past_events,
    has_ended_by_itself,
    lock,
    reopen,
)
from gatepass.domain.events.event import (
    DoorsClosed,
    Event,
    EventCodes,
    EventNotActive,
    EventNotFound,
    EventStatus,
    OfflineAdmission,
    TicketCategory,
)
from gatepass.domain.events.money import to_major, to_minor
from gatepass.domain.events.publication import CheckArea, CheckFinding, PublicationCheck, blockers, checklist, publish

__all__ = [
    "NOTHING",
    "CatalogueEntry",
    "CatalogueQuestion",
    "CatalogueRead",
    "CategoryDetails",
    "CategoryNotFound",
    "CheckArea",
    "CheckFinding",
    "Consequences",
    "Cover",
    "Details",
    "DoorsClosed",
    "Event",
    "EventCodes",
    "EventFilter",
    "EventNotActive",
    "EventNotFound",
    "EventOrder",
    "EventPage",
    "EventPeriod",
    "EventStatus",
    "OfflineAdmission",
    "PublicationCheck",
    "TicketCategory",
    "add_category",
    "blockers",
    "cancel",
    "category_problems",
    "change_status",
    "checklist",
    "consequences",
    "cover_address",
    "create",
    "delete",
    "duplicate",
    "edit",
    "edit_category",
    "end_past_events",
    "entries",
    "find",
    "find_category",
    "find_cover",
    "has_ended_by_itself",
    "list_events",
    "lock",
    "lock_category",
    "problems",
    "publish",
    "published",
    "read_batch",
    "remove_category",
    "reopen",
    "shifted_event",
    "store_cover",
    "titles_of",
    "to_major",
    "to_minor",
]
