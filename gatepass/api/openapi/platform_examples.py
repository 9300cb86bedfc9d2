"""Examples of cards, tokens and tickets, made by the response models."""

from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from pydantic import BaseModel

from gatepass.api.openapi.examples import CURSOR, TOKEN, example
from gatepass.api.responses import body_of
from gatepass.api.routes.card_schemas import CardOut, HolderOut, LinkOut, TokenOut
from gatepass.api.routes.ticket_schemas import TicketOut
from gatepass.api.schemas import Data, Page
from gatepass.base.clock import rfc3339
from gatepass.domain import message_catalogue, sandbox
from gatepass.domain.cards import CardStatus, CardSuspended
from gatepass.domain.message_catalogue import CARD_NUMBER
from gatepass.domain.tickets import SoldOut, TicketState

Json = dict[str, Any]

ID: Final = UUID(message_catalogue.AN_ID)
EVENT: Final = sandbox.CATALOGUE_ENTRY.event
CATEGORY: Final = sandbox.CATALOGUE_ENTRY.categories[0]
AT: Final = EVENT.starts_at - timedelta(days=30)
EXTERNAL_ID: Final = "ORDER-7731-1"

CARD: Final = CardOut(
    id=ID,
    number=CARD_NUMBER,
    status=CardStatus.ACTIVE,
    holder=HolderOut(name="Ann Example", email="ann@example.org", locale="en-GB", companion=False),
    external_id="MEMBER-17",
    issued_at=AT,
    updated_at=AT,
)
TICKET: Final = TicketOut(
    id=ID,
    event_id=EVENT.id,
    category_id=CATEGORY.id,
    tier=CATEGORY.tier,
    category_name=CATEGORY.name,
    card_id=ID,
    card_number=CARD_NUMBER,
    external_id=EXTERNAL_ID,
    state=TicketState.ISSUED,
    issued_at=AT,
    activated_at=None,
    gate=None,
    scanner_id=None,
    cancelled_at=None,
    cancel_reason=None,
    updated_at=AT,
)
CANCELLED: Final = TICKET.model_copy(
    update={"state": TicketState.CANCELLED, "cancelled_at": AT, "cancel_reason": "The order was refunded"}
)
SIGNED: Final = TokenOut(card_id=ID, token=TOKEN, expires_at=EVENT.starts_at)


def _one(summary: str, model: BaseModel) -> dict[str, Json]:
    return {"live": example(summary, Data(data=model).model_dump(mode="json"))}


def _page(summary: str, model: BaseModel) -> dict[str, Json]:
    page = Page(data=[model], has_more=True, next_cursor=CURSOR)
    return {"live": example(summary, page.model_dump(mode="json"))}


A_CARD: Final = _one("A card with its holder", CARD)
SUSPENDED_CARD: Final = _one("The suspended card", CARD.model_copy(update={"status": CardStatus.SUSPENDED}))
REVOKED_CARD: Final = _one("The revoked card", CARD.model_copy(update={"status": CardStatus.REVOKED}))
CARDS: Final = _page("A page of cards", CARD)
A_TOKEN: Final = _one("A token", SIGNED)
A_LINK: Final = _one(
    "A link", LinkOut(url="https://gatepass.example/c/a.c2VjcmV0LW9mLXRoZS1saW5rLW9mLXRoaXMtY2FyZC0wMDE")
)
A_TICKET: Final = _one("A ticket", TICKET)
CANCELLED_TICKET: Final = _one("The cancelled ticket", CANCELLED)
TICKETS: Final = _page("A page of tickets", TICKET)

TOKENS: Final = {
    "live": example(
        "One card that may be used, one that is suspended",
        {
            "data": [
                {"status": 200, "data": SIGNED.model_dump(mode="json")},
                {"status": 422, **body_of(CardSuspended())},
            ]
        },
    )
}
BATCH: Final = {
    "live": example(
        "One ticket that is issued, one that is refused",
        {
            "data": [
                {"status": 201, "data": TICKET.model_dump(mode="json")},
                {"status": 409, **body_of(SoldOut(param="category_id"))},
            ]
        },
    )
}

HOLDER: Final = {"name": "Ann Example", "email": "ann@example.org", "locale": "en-GB"}
NEW_TICKET: Final = {
    "event_id": str(EVENT.id),
    "category_id": str(CATEGORY.id),
    "holder": HOLDER,
    "external_id": EXTERNAL_ID,
}

TO_REGISTER: Final = {
    "person": example("For a person", {"holder": HOLDER, "external_id": "MEMBER-17"}),
    "number": example("A card that is printed already", {"number": CARD_NUMBER}),
}
TO_CORRECT: Final = {
    "name": example("Another name", {"holder": {"name": "Ann Other"}}),
    "erase": example("Nobody holds it any more", {"holder": None}),
}
WHY: Final = {"reason": example("Why", {"reason": "Lost on the way"})}
TO_REPLACE: Final = {"replace": example("A new link, because the old one got to somebody else", {"replace": True})}
TO_SIGN: Final = {"until": example("Until the event begins", {"expires_at": rfc3339(EVENT.starts_at)})}
TO_SIGN_MANY: Final = {"cards": example("Two cards", {"cards": [str(ID), str(sandbox.CARD_IDS["TEST_VIP"])]})}
TO_ISSUE: Final = {
    "person": example("For a person, whose card is found or made", NEW_TICKET),
    "card": example(
        "On a card", {"event_id": str(EVENT.id), "category_id": str(CATEGORY.id), "card_number": CARD_NUMBER}
    ),
}
TO_ISSUE_MANY: Final = {
    "order": example("An order of two", {"tickets": [NEW_TICKET, {**NEW_TICKET, "external_id": "ORDER-7731-2"}]})
}
TO_TRANSFER: Final = {"person": example("To another person", {"holder": {"email": "bob@example.org"}})}
