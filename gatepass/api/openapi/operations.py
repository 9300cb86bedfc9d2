"""The operations: the text and the refusals of each. Paths and models come from the routes."""

from collections.abc import Iterable
from typing import Any, Final

from fastapi.routing import APIRoute

from gatepass.api.openapi import (
    card_operations,
    event_operations,
    examples,
    responses,
    schemas,
    ticket_operations,
    webhook_operations,
)
from gatepass.api.openapi.gate import device_operations, incident_operations, manifest
from gatepass.api.openapi.notes import (
    BAD_CURSOR,
    BAD_LIMIT,
    CURSOR,
    IDEMPOTENCY_KEY,
    IF_NONE_MATCH,
    LIMIT,
    Notes,
    body,
    path,
    query,
)
from gatepass.api.responses import NotFound, RequestTooLarge
from gatepass.api.routes import routers
from gatepass.base.errors import InvalidRequest
from gatepass.domain import cards, sandbox, tickets
from gatepass.domain.events import EventNotActive, EventNotFound, EventStatus
from gatepass.domain.idempotency import IdempotencyKeyReused
from gatepass.domain.keys import Scope

Json = dict[str, Any]

SECURITY: Final = "bearer"


def paths() -> dict[str, Json]:
    described: dict[str, Json] = {}
    for route in routers.ROUTES:
        for method in sorted(route.methods or ()):
            described.setdefault(route.path, {})[method.lower()] = _operation(route, NOTES[route.name])
    return described


def models() -> Iterable[Any]:
    """Every response model."""
    yield from (route.response_model for route in routers.ROUTES if route.response_model is not None)
    yield from (success.model for notes in NOTES.values() for success in notes.also)


def _operation(route: APIRoute, notes: Notes) -> Json:
    return {
        "operationId": notes.id,
        "summary": notes.summary,
        "description": f"{notes.description}\n\n{_need(notes)}",
        "tags": route.tags,
        "security": [{SECURITY: [] if notes.scope is None else [str(notes.scope)]}],
        **({"parameters": list(notes.parameters)} if notes.parameters else {}),
        **({"requestBody": notes.body} if notes.body else {}),
        "responses": {
            **dict(sorted(_successes(route, notes))),
            **notes.more,
            **responses.refusals(notes.refusals, replayable=notes.replayable),
        },
    }


def _need(notes: Notes) -> str:
    return "Only the key of a device opens this." if notes.scope is None else f"Needs the scope `{notes.scope}`."


def _successes(route: APIRoute, notes: Notes) -> Iterable[tuple[str, Json]]:
    schema = None if route.response_model is None else schemas.name_of(route.response_model)
    usual = responses.success(notes.success, schema, notes.shown, notes.headers)
    if notes.media_type is not None:
        usual["content"] = {notes.media_type: {"schema": {"type": "string", "format": "binary"}}}
    yield str(route.status_code or 200), usual
    for also in notes.also:
        yield str(also.status), responses.success(also.description, schemas.name_of(also.model), also.shown)


EVENT_ID: Final = path("id", "The event's UUID.", str(sandbox.EVENT_ID))
STATUS: Final = query("status", "Only events with this status.", {"type": "string", "enum": list(EventStatus)})
TOKEN: Final = query(
    "token",
    "A card token (`SVC1`), or the code of a phone (`SVC2`), as scanned.",
    {"type": "string", "minLength": 1},
    required=True,
    examples={
        "sandbox": {"summary": "A sandbox token", "value": examples.sandbox_token("TEST_VALID")},
        "live": {"summary": "A signed token", "value": examples.TOKEN},
    },
)
UNCHANGED: Final = {"304": responses.success("It is what you have.", None, {}, (responses.ETAG,))}
# The same header, in the words of a gate.
SCAN_KEY: Final[Json] = {
    **IDEMPOTENCY_KEY,
    "description": (
        "A value of your own that is new for each scan and the same for each retry of it, such as a UUID. "
        "A retry gets the first answer again, for at least 24 hours. Live and sandbox keys do not mix."
    ),
}

# By the name of the route's function. A route without notes stops the build.
NOTES: Final[dict[str, Notes]] = {
    "list_events": Notes(
        id="list_events",
        summary="List events",
        description=(
            "The published events of the key's organization, by start, a page at a time. "
            "Follow `next_cursor`, or the `Link` header, until `has_more` is false.\n\n"
            "With the scope `events:write` also those of another `status`."
        ),
        scope=Scope.EVENTS_READ,
        success="A page of events.",
        shown=examples.EVENTS,
        refusals=(BAD_LIMIT, BAD_CURSOR, InvalidRequest(f"status is one of {', '.join(EventStatus)}.", param="status")),
        parameters=(LIMIT, CURSOR, STATUS, IF_NONE_MATCH),
        headers=(responses.LINK, responses.ETAG),
        more=UNCHANGED,
    ),
    "event": Notes(
        id="retrieve_event",
        summary="Retrieve an event",
        description="One event of the key's organization, whatever its status.",
        scope=Scope.EVENTS_READ,
        success="The event.",
        shown=examples.ONE_EVENT,
        # An id with a slash in it is another path, which does not exist.
        refusals=(EventNotFound(), NotFound()),
        parameters=(EVENT_ID, IF_NONE_MATCH),
        headers=(responses.ETAG,),
        more=UNCHANGED,
    ),
    **event_operations.NOTES,
    "verify_card": Notes(
        id="verify_card",
        summary="Verify a card",
        description=(
            "Whether a card token is good. No ticket is looked at and none is activated. "
            "A token that is forged, foreign, expired or not a token at all is answered with 200 and `valid: false`. "
            "The code of a phone expires 60 seconds after it was made, and with the phone's enrolment."
        ),
        scope=Scope.CARDS_VERIFY,
        success="What the token is worth.",
        shown=examples.VERIFICATIONS,
        refusals=(InvalidRequest("token is missing.", param="token"),),
        parameters=(TOKEN,),
    ),
    "card_keys": Notes(
        id="list_card_keys",
        summary="List card keys",
        description=(
            "The public keys that verify the organization's card tokens, newest first, as a JWK set, "
            "so that a gate can go on verifying without a network. The sandbox has a key of its own."
        ),
        scope=Scope.CARDS_VERIFY,
        success="The public keys.",
        shown=examples.PUBLIC_KEYS,
    ),
    "scan": Notes(
        id="create_scan",
        summary="Scan a card",
        description=(
            "Activate the ticket that a card holds for an event. A ticket is activated exactly once: of two gates "
            "that scan one card at the same moment, one gets 200 and the other 409.\n\n"
            "A phone's own code (`SVC2`) is good for 60 seconds. An event whose `codes` are `phone` takes nothing else "
            "but tokens that end within two minutes.\n\n"
            "Rules of the event and of the ticket's category are judged at `occurred_at`, else now: when the doors "
            "open, from when and until when tickets of a category are good, and at which gates. A scan from before an "
            "event's end is taken until 72 hours after it.\n\n"
            "Send an `Idempotency-Key` and repeat the call with it when no answer came, or a 429, 500 or 503.\n\n"
            "With a sandbox key, used, expired and revoked test cards are answered with 400, "
            "and with the same `code` as live."
        ),
        scope=Scope.TICKETS_ACTIVATE,
        success="The ticket is activated.",
        shown=examples.SCANNED,
        refusals=(
            InvalidRequest("Send either card_number or token.", param="card_number"),
            InvalidRequest("event_id is not a UUID.", param="event_id"),
            InvalidRequest("occurred_at is more than 72 hours ago.", param="occurred_at"),
            cards.InvalidToken(),
            RequestTooLarge(),
            IdempotencyKeyReused(),
            EventNotFound(),
            EventNotActive(),
            examples.DOORS_CLOSED,
            cards.Expired(),
            tickets.StaticCodeRefused(),
            cards.CardNotFound(),
            cards.CardSuspended(),
            cards.CardRevoked(),
            tickets.TicketNotFound(),
            tickets.TicketCancelled(),
            examples.ALREADY_ACTIVATED,
            examples.OUTSIDE_WINDOW,
            examples.WRONG_GATE,
        ),
        parameters=(SCAN_KEY,),
        body=body("ScanRequest", examples.SCANS),
        headers=(responses.REPLAYED,),
        replayable=True,
    ),
    **card_operations.NOTES,
    **ticket_operations.NOTES,
    "list_scans": Notes(
        id="list_scans",
        summary="List scans",
        description=(
            "Every scan of the key's organization and mode with its verdict, newest first, of an event, a ticket or a "
            "card if you name one. A page may be short and not the last: go by `has_more`.\n\n"
            "To follow them, pass the `cursor` of a scan as `after`: you get those after it, oldest first. Go on with "
            "`next_cursor` as `after`. A scan is listed some 12 seconds after it was made, so that none that comes "
            "later is put before it while no process's clock is more than 6 seconds slow. "
            "Scans are kept for 400 days.\n\n"
            "Of a ticket that was moved to another card, refused scans are listed under the card that was shown."
        ),
        scope=Scope.TICKETS_READ,
        success="A page of scans.",
        shown=examples.RECORDED_SCANS,
        refusals=(
            BAD_LIMIT,
            BAD_CURSOR,
            InvalidRequest("after is not one that this list gave out.", param="after"),
            InvalidRequest("event_id is not a UUID.", param="event_id"),
            InvalidRequest("Send at most one of event_id, ticket_id and card_id.", param="ticket_id"),
        ),
        parameters=(
            query("event_id", "Only scans for this event.", {"type": "string", "format": "uuid"}),
            query("ticket_id", "Only scans of this ticket.", {"type": "string", "format": "uuid"}),
            query("card_id", "Only scans of this card.", {"type": "string", "format": "uuid"}),
            query("after", "The `cursor` of a scan: those that followed it, oldest first.", {"type": "string"}),
            LIMIT,
            CURSOR,
        ),
        headers=(responses.LINK,),
    ),
    **incident_operations.NOTES,
    **manifest.NOTES,
    **webhook_operations.NOTES,
    **device_operations.NOTES,
}
