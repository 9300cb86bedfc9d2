"""Notes about the operations that make and change events and their ticket categories."""

from typing import Final

from gatepass.api.openapi import examples, responses
from gatepass.api.openapi.notes import IDEMPOTENCY_KEY, IF_MATCH, Notes, body, path
from gatepass.api.responses import NotFound, RequestTooLarge
from gatepass.base.errors import ChangedMeanwhile, InvalidRequest, NotAllowedFromHere
from gatepass.domain import sandbox
from gatepass.domain.events import CategoryNotFound, EventNotFound
from gatepass.domain.idempotency import IdempotencyKeyReused
from gatepass.domain.keys import Scope
from gatepass.domain.twin import SandboxFull

EVENT_ID: Final = path("id", "The event's UUID.", str(sandbox.EVENT_ID))
CATEGORY_ID: Final = path("id", "The category's UUID.", str(examples.EVENT.ticket_categories[0].id))

BAD_KEY: Final = InvalidRequest("Idempotency-Key has 1 to 255 characters.", param="Idempotency-Key")
BAD_TIME: Final = InvalidRequest("An event starts before it ends.", param="ends_at")
BAD_PRICE: Final = InvalidRequest("EUR has 2 decimal places.", param="price")
BAD_TAG: Final = InvalidRequest("If-Match has the ETag of an answer.", param="If-Match")
IS_OVER: Final = NotAllowedFromHere("An event that is ended cannot be changed.")
# An id with a slash in it is another path, which does not exist.
NO_EVENT: Final = (EventNotFound(), NotFound())
NO_CATEGORY: Final = (CategoryNotFound(), NotFound())
OF_A_POST: Final = (responses.REPLAYED, responses.ETAG)

TO_CREATE: Final = {
    "event": examples.example(
        "An evening in Brussels",
        {
            "title": "Summer Opening",
            "starts_at": "2030-06-15T20:00:00+02:00",
            "ends_at": "2030-06-15T23:00:00+02:00",
            "time_zone": "Europe/Brussels",
            "venue": "Hall 1",
            "city": "Brussels",
            "country": "BE",
            "doors_open_at": "2030-06-15T19:00:00+02:00",
        },
    )
}
TO_CHANGE: Final = {
    "venue": examples.example("Another venue, and no description", {"venue": "Hall 2", "description": None})
}
TO_CANCEL: Final = {"reason": examples.example("A reason", {"reason": "The headliner is ill."})}
TO_REOPEN: Final = {"reason": examples.example("A reason", {"reason": "It goes on until two."})}
NEW_CATEGORY: Final = {
    "category": examples.example(
        "Standing", {"name": "Standing", "price": 25.5, "currency": "EUR", "quantity_total": 1000}
    ),
    "early": examples.example(
        "An hour earlier, at one gate",
        {
            "name": "Early entry",
            "price": 35,
            "currency": "EUR",
            "quantity_total": 100,
            "valid_until": "2030-06-15T20:30:00+02:00",
            "gates": ["North 1"],
        },
    ),
}
CHANGED_CATEGORY: Final = {
    "places": examples.example("More places", {"quantity_total": 1200}),
    "gates": examples.example("Every gate again", {"gates": None}),
}
CATEGORY: Final = {
    "category": examples.example("A category", {"data": examples.EVENT.ticket_categories[0].model_dump(mode="json")})
}

# By the name of the route's function.
NOTES: Final[dict[str, Notes]] = {
    "create_event": Notes(
        id="create_event",
        summary="Create an event",
        description="A new event. It begins as a draft: give it ticket categories, then publish it.",
        scope=Scope.EVENTS_WRITE,
        success="The draft.",
        shown=examples.ONE_EVENT,
        refusals=(
            InvalidRequest("An event has a title.", param="title"),
            BAD_TIME,
            BAD_KEY,
            SandboxFull(),
            RequestTooLarge(),
            IdempotencyKeyReused(),
        ),
        parameters=(IDEMPOTENCY_KEY,),
        body=body("EventRequest", TO_CREATE),
        headers=OF_A_POST,
        replayable=True,
    ),
    "change_event": Notes(
        id="update_event",
        summary="Update an event",
        description="Change the details of an event. One that has ended or was cancelled stays as it is.",
        scope=Scope.EVENTS_WRITE,
        success="The event as it is now.",
        shown=examples.ONE_EVENT,
        refusals=(BAD_TIME, BAD_TAG, *NO_EVENT, IS_OVER, ChangedMeanwhile(), RequestTooLarge()),
        parameters=(EVENT_ID, IF_MATCH),
        body=body("EventChangeRequest", TO_CHANGE),
        headers=(responses.ETAG,),
    ),
    "delete_event": Notes(
        id="delete_event",
        summary="Delete an event",
        description="Delete a draft, unless tickets were issued or imported for it. Cancel any other event.",
        scope=Scope.EVENTS_WRITE,
        success="The draft is gone.",
        shown={},
        refusals=(
            BAD_TAG,
            *NO_EVENT,
            NotAllowedFromHere("An event that is published cannot be deleted."),
            ChangedMeanwhile(),
        ),
        parameters=(EVENT_ID, IF_MATCH),
    ),
    "publish_event": Notes(
        id="publish_event",
        summary="Publish an event",
        description=(
            "Show the event and open it for scans. It must lie in the future and have a ticket category, and the "
            "organization needs a signing key; the sentence of the refusal names what is missing."
        ),
        scope=Scope.EVENTS_WRITE,
        success="The published event.",
        shown=examples.ONE_EVENT,
        refusals=(
            BAD_KEY,
            *NO_EVENT,
            NotAllowedFromHere("It cannot be published yet. Add a ticket category."),
            RequestTooLarge(),
            IdempotencyKeyReused(),
        ),
        parameters=(EVENT_ID, IDEMPOTENCY_KEY),
        headers=OF_A_POST,
        replayable=True,
    ),
    "cancel_event": Notes(
        id="cancel_event",
        summary="Cancel an event",
        description=(
            "Cancel an event. Its gates close at once; its tickets are cancelled within moments, each with a message."
        ),
        scope=Scope.EVENTS_WRITE,
        success="The cancelled event.",
        shown=examples.ONE_EVENT,
        refusals=(
            InvalidRequest("Say why: everybody who holds a ticket will ask.", param="reason"),
            BAD_KEY,
            *NO_EVENT,
            NotAllowedFromHere("An event that is ended cannot become cancelled."),
            RequestTooLarge(),
            IdempotencyKeyReused(),
        ),
        parameters=(EVENT_ID, IDEMPOTENCY_KEY),
        body=body("EventCancellationRequest", TO_CANCEL),
        headers=OF_A_POST,
        replayable=True,
    ),
    "end_event": Notes(
        id="end_event",
        summary="End an event",
        description=(
            "End a published event: its gates are closed. By itself it ends six hours after `ends_at`. Scans from "
            "before the end are taken for another 72 hours."
        ),
        scope=Scope.EVENTS_WRITE,
        success="The ended event.",
        shown=examples.ONE_EVENT,
        refusals=(
            BAD_KEY,
            *NO_EVENT,
            NotAllowedFromHere("An event that is draft cannot become ended."),
            RequestTooLarge(),
            IdempotencyKeyReused(),
        ),
        parameters=(EVENT_ID, IDEMPOTENCY_KEY),
        headers=OF_A_POST,
        replayable=True,
    ),
    "reopen_event": Notes(
        id="reopen_event",
        summary="Reopen an event",
        description=(
            "Open an event again that ended by itself, six hours after `ends_at`: it is published, and stays so for "
            "six hours at least. Give it another `ends_at` if it goes on for longer. One that somebody has ended stays "
            "ended."
        ),
        scope=Scope.EVENTS_WRITE,
        success="The published event.",
        shown=examples.ONE_EVENT,
        refusals=(
            InvalidRequest("reason is empty, or cannot be printed.", param="reason"),
            BAD_KEY,
            *NO_EVENT,
            NotAllowedFromHere("An event that somebody has ended cannot be reopened."),
            RequestTooLarge(),
            IdempotencyKeyReused(),
        ),
        parameters=(EVENT_ID, IDEMPOTENCY_KEY),
        body=body("ReasonRequest", TO_REOPEN),
        headers=OF_A_POST,
        replayable=True,
    ),
    "create_category": Notes(
        id="create_ticket_category",
        summary="Create a ticket category",
        description="A new kind of ticket for an event. An event has at most 50.",
        scope=Scope.EVENTS_WRITE,
        success="The category.",
        shown=CATEGORY,
        refusals=(BAD_PRICE, BAD_KEY, *NO_EVENT, IS_OVER, RequestTooLarge(), IdempotencyKeyReused()),
        parameters=(EVENT_ID, IDEMPOTENCY_KEY),
        body=body("TicketCategoryRequest", NEW_CATEGORY),
        headers=OF_A_POST,
        replayable=True,
    ),
    "change_category": Notes(
        id="update_ticket_category",
        summary="Update a ticket category",
        description="Change a kind of ticket. There are never fewer places than tickets were issued.",
        scope=Scope.EVENTS_WRITE,
        success="The category as it is now.",
        shown=CATEGORY,
        refusals=(
            InvalidRequest("40 are issued: there cannot be fewer places.", param="quantity_total"),
            BAD_PRICE,
            BAD_TAG,
            *NO_CATEGORY,
            IS_OVER,
            ChangedMeanwhile(),
            RequestTooLarge(),
        ),
        parameters=(CATEGORY_ID, IF_MATCH),
        body=body("TicketCategoryChangeRequest", CHANGED_CATEGORY),
        headers=(responses.ETAG,),
    ),
    "delete_category": Notes(
        id="delete_ticket_category",
        summary="Delete a ticket category",
        description="Remove a kind of ticket of which none is in use.",
        scope=Scope.EVENTS_WRITE,
        success="The category is gone.",
        shown={},
        refusals=(
            BAD_TAG,
            *NO_CATEGORY,
            NotAllowedFromHere("40 tickets of VIP are issued, so it cannot be removed."),
            ChangedMeanwhile(),
        ),
        parameters=(CATEGORY_ID, IF_MATCH),
    ),
}
