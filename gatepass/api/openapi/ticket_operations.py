"""Notes about the operations on tickets."""

from typing import Final

from gatepass.api.openapi import platform_examples as shown
from gatepass.api.openapi import responses
from gatepass.api.openapi.card_operations import AGAIN, BAD_REASON
from gatepass.api.openapi.notes import (
    BAD_CURSOR,
    BAD_LIMIT,
    CURSOR,
    IDEMPOTENCY_KEY,
    LIMIT,
    Notes,
    Success,
    body,
    path,
    query,
)
from gatepass.api.responses import NotFound
from gatepass.api.routes.card_schemas import LARGEST_BATCH, LONGEST_EXTERNAL_ID
from gatepass.api.routes.ticket_schemas import TicketOut
from gatepass.api.schemas import Data
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.domain.cards import CardNotFound, CardRevoked, CardSuspended, ExternalIdTaken
from gatepass.domain.events import CategoryNotFound, EventNotFound
from gatepass.domain.keys import Scope
from gatepass.domain.tickets import (
    AlreadyActivated,
    CardHasTicket,
    SoldOut,
    TicketCancelled,
    TicketNotFound,
    TicketState,
)
from gatepass.domain.twin import SandboxFull

TICKET_ID: Final = path("id", "The ticket's UUID.", str(shown.ID))
UNKNOWN: Final = (TicketNotFound("There is no such ticket."), NotFound())
NO_CARD: Final = InvalidRequest("Send exactly one of card_id, card_number, holder.", param="card_id")
CARD_REFUSED: Final = (CardNotFound(), CardSuspended(), CardRevoked(), CardHasTicket())
UUID_TEXT: Final = {"type": "string", "format": "uuid"}
FILTERS: Final = (
    query("event_id", "Tickets for this event.", UUID_TEXT),
    query("card_id", "Tickets on this card.", UUID_TEXT),
    query("state", "Tickets in this state.", {"type": "string", "enum": list(TicketState)}),
    query(
        "external_id",
        "Tickets with this id in your own system, at most one for each event.",
        {"type": "string", "minLength": 1, "maxLength": LONGEST_EXTERNAL_ID},
    ),
    query(
        "updated_after",
        "Tickets that were issued, used, moved or cancelled after this time. A change has the time at which its call "
        "came, and is seen some seconds later: to follow changes, ask from two minutes before you last asked.",
        {"type": "string", "format": "date-time"},
    ),
)

# By the name of the route's function.
NOTES: Final[dict[str, Notes]] = {
    "create_ticket": Notes(
        id="create_ticket",
        summary="Issue a ticket",
        description=(
            "Issue a ticket on a card, by `card_id` or `card_number`, or for a person, by `holder`. One person has one "
            "card: a known e-mail address finds the active card, and a new address gets a new one. A second ticket "
            "for the same event under one address is a companion's, on a card of its own.\n\n"
            "With a known `external_id` and the same content the ticket is answered as it is now, with 200; with other "
            "content it is refused. A cancelled ticket keeps its `external_id`."
        ),
        scope=Scope.TICKETS_WRITE,
        success="The ticket is issued.",
        shown=shown.A_TICKET,
        refusals=(
            NO_CARD,
            EventNotFound(),
            CategoryNotFound(),
            *CARD_REFUSED,
            SoldOut(),
            ExternalIdTaken(),
            NotAllowedFromHere("An event that is cancelled takes no more tickets.", param="event_id"),
            SandboxFull(),
            *AGAIN,
        ),
        parameters=(IDEMPOTENCY_KEY,),
        body=body("TicketRequest", shown.TO_ISSUE),
        headers=(responses.REPLAYED, responses.ETAG),
        also=(Success(200, "The ticket that this request made before.", Data[TicketOut], shown.A_TICKET),),
    ),
    "create_tickets": Notes(
        id="create_tickets",
        summary="Issue many tickets",
        description=(
            "Issue up to 1,000 tickets in one transaction. Each item has its own result, in the order of the request: "
            "its status, and the ticket or the refusal that the same request would get by itself. An item that is "
            "refused harms no other."
        ),
        scope=Scope.TICKETS_WRITE,
        success="A result for each item.",
        shown=shown.BATCH,
        refusals=(
            InvalidRequest("tickets: Expected `array` of length <= 1000.", param="tickets"), SandboxFull(), *AGAIN,
        ),
        parameters=(IDEMPOTENCY_KEY,),
        body=body("TicketBatchRequest", shown.TO_ISSUE_MANY, largest=LARGEST_BATCH),
        headers=(responses.REPLAYED,),
    ),
    "list_tickets": Notes(
        id="list_tickets",
        summary="List tickets",
        description=(
            "Tickets of the organization, newest first. With `state` or `updated_after` a page looks through at most "
            "5,000 tickets: it may be short, or empty, while `has_more` is true."
        ),
        scope=Scope.TICKETS_READ,
        success="A page of tickets.",
        shown=shown.TICKETS,
        refusals=(BAD_LIMIT, BAD_CURSOR),
        parameters=(LIMIT, CURSOR, *FILTERS),
        headers=(responses.LINK,),
    ),
    "ticket": Notes(
        id="retrieve_ticket",
        summary="Retrieve a ticket",
        description="One ticket as it is now.",
        scope=Scope.TICKETS_READ,
        success="The ticket.",
        shown=shown.A_TICKET,
        refusals=UNKNOWN,
        parameters=(TICKET_ID,),
        headers=(responses.ETAG,),
    ),
    "cancel_ticket": Notes(
        id="cancel_ticket",
        summary="Cancel a ticket",
        description="Gates refuse the ticket, for good. It may have been used. Its place is free again.",
        scope=Scope.TICKETS_WRITE,
        success="The cancelled ticket.",
        shown=shown.CANCELLED_TICKET,
        refusals=(BAD_REASON, *UNKNOWN, TicketCancelled(), *AGAIN),
        parameters=(TICKET_ID, IDEMPOTENCY_KEY),
        body=body("ReasonRequest", shown.WHY),
        headers=(responses.REPLAYED, responses.ETAG),
    ),
    "transfer_ticket": Notes(
        id="transfer_ticket",
        summary="Transfer a ticket",
        description=(
            "Move a ticket that was not used to another card, or to another person, whose card is found or made as for "
            "a new ticket."
        ),
        scope=Scope.TICKETS_WRITE,
        success="The ticket on its new card.",
        shown=shown.A_TICKET,
        refusals=(
            InvalidRequest("Send exactly one of card_id, holder.", param="card_id"),
            *UNKNOWN,
            *CARD_REFUSED,
            AlreadyActivated(),
            TicketCancelled(),
            NotAllowedFromHere("A ticket of an event that is ended cannot be transferred."),
            *AGAIN,
        ),
        parameters=(TICKET_ID, IDEMPOTENCY_KEY),
        body=body("TransferRequest", shown.TO_TRANSFER),
        headers=(responses.REPLAYED, responses.ETAG),
    ),
}  # fmt: skip
