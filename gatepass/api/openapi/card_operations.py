"""Notes about the operations on cards and their tokens."""

from typing import Final

from gatepass.api.openapi import platform_examples as shown
from gatepass.api.openapi import responses
from gatepass.api.openapi.notes import (
    BAD_CURSOR,
    BAD_LIMIT,
    CURSOR,
    IDEMPOTENCY_KEY,
    IF_MATCH,
    LIMIT,
    Notes,
    Success,
    body,
    path,
    query,
)
from gatepass.api.responses import NotFound, RequestTooLarge
from gatepass.api.routes.card_schemas import LARGEST_BATCH, LONGEST_EXTERNAL_ID, CardOut
from gatepass.api.schemas import Data
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.domain.cards import (
    LONGEST_EMAIL,
    CardNotFound,
    CardNumberTaken,
    CardRevoked,
    CardSuspended,
    ChangedMeanwhile,
    ExternalIdTaken,
    HolderHasCard,
    NoSigningKey,
)
from gatepass.domain.idempotency import IdempotencyKeyReused
from gatepass.domain.keys import Scope
from gatepass.domain.twin import SandboxFull

CARD_ID: Final = path("id", "The card's UUID.", str(shown.ID))
NUMBER: Final = query("number", "The card with this number.", {"type": "string", "minLength": 1, "maxLength": 64})
EMAIL: Final = query(
    "email",
    "Cards of the person with this address, in any spelling, and of their companions.",
    {"type": "string", "minLength": 1, "maxLength": LONGEST_EMAIL},
)
EXTERNAL_ID: Final = query(
    "external_id",
    "The card with this id in your own system.",
    {"type": "string", "minLength": 1, "maxLength": LONGEST_EXTERNAL_ID},
)
# An id with a slash in it is another path, which does not exist.
UNKNOWN: Final = (CardNotFound(), NotFound())
BAD_BODY: Final = InvalidRequest("A holder has a name or an e-mail address.", param="holder")
BAD_REASON: Final = InvalidRequest("reason is empty, or cannot be printed.", param="reason")
BAD_EXPIRY: Final = InvalidRequest("expires_at is more than 400 days ahead.", param="expires_at")
FINAL: Final = NotAllowedFromHere("A card that is revoked is not changed any more.")
AGAIN: Final = (RequestTooLarge(), IdempotencyKeyReused())


def _change(id: str, summary: str, description: str, **shown_as: object) -> Notes:
    """The notes of a call that changes a card and takes a reason."""
    return Notes(
        id=id,
        summary=summary,
        description=description,
        scope=Scope.CARDS_WRITE,
        success="The card as it is now.",
        refusals=(BAD_REASON, *UNKNOWN, NotAllowedFromHere("A card that is revoked cannot become active."), *AGAIN),
        parameters=(CARD_ID, IDEMPOTENCY_KEY),
        body=body("ReasonRequest", shown.WHY),
        headers=(responses.REPLAYED, responses.ETAG),
        **shown_as,  # pyright: ignore[reportArgumentType]
    )


# By the name of the route's function.
NOTES: Final[dict[str, Notes]] = {
    "create_card": Notes(
        id="create_card",
        summary="Create a card",
        description=(
            "A card for a person, or for nobody yet. One person has one card: for an e-mail address that has an active "
            "card, that card is the answer, with 200, and it gets the `external_id` if it has none. After a revoked "
            "card a new one is made.\n\nWith a known `external_id` and the same content the card is answered as it is "
            "now, with 200; with other content it is refused."
        ),
        scope=Scope.CARDS_WRITE,
        success="The card is made.",
        shown=shown.A_CARD,
        refusals=(
            BAD_BODY, ExternalIdTaken(), CardNumberTaken(), HolderHasCard(), CardSuspended(), SandboxFull(), *AGAIN,
        ),
        parameters=(IDEMPOTENCY_KEY,),
        body=body("CardRequest", shown.TO_REGISTER),
        headers=(responses.REPLAYED, responses.ETAG),
        also=(Success(200, "The card that there was already.", Data[CardOut], shown.A_CARD),),
    ),
    "list_cards": Notes(
        id="list_cards",
        summary="List cards",
        description=(
            "The cards of the organization with their holders, newest first; those of one person, oldest first; or the "
            "one with a number or an external id."
        ),
        scope=Scope.CARDS_READ,
        success="A page of cards.",
        shown=shown.CARDS,
        refusals=(BAD_LIMIT, BAD_CURSOR),
        parameters=(LIMIT, CURSOR, NUMBER, EMAIL, EXTERNAL_ID),
        headers=(responses.LINK,),
    ),
    "card": Notes(
        id="retrieve_card",
        summary="Retrieve a card",
        description="One card with its holder.",
        scope=Scope.CARDS_READ,
        success="The card.",
        shown=shown.A_CARD,
        refusals=UNKNOWN,
        parameters=(CARD_ID,),
        headers=(responses.ETAG,),
    ),
    "change_card": Notes(
        id="update_card",
        summary="Update a card",
        description=(
            "Correct the holder: fields that are left out stay as they are, null takes one away, and a null `holder` "
            "erases all that is known of the person. Send the `ETag` that you read as `If-Match`, and a change that "
            "somebody else made meanwhile is not lost."
        ),
        scope=Scope.CARDS_WRITE,
        success="The card as it is now.",
        shown=shown.A_CARD,
        refusals=(BAD_BODY, *UNKNOWN, HolderHasCard(), FINAL, ChangedMeanwhile(), RequestTooLarge()),
        parameters=(CARD_ID, IF_MATCH),
        body=body("CardChangeRequest", shown.TO_CORRECT),
        headers=(responses.ETAG,),
    ),
    "suspend_card": _change(
        "suspend_card", "Suspend a card", "Gates refuse the card until it is resumed.", shown=shown.SUSPENDED_CARD
    ),
    "resume_card": _change("resume_card", "Resume a card", "Gates take the card again.", shown=shown.A_CARD),
    "revoke_card": _change(
        "revoke_card", "Revoke a card", "Gates refuse the card, for good. Its tickets stay with it.",
        shown=shown.REVOKED_CARD,
    ),
    "replace_card": _change(
        "replace_card",
        "Replace a card",
        "A new card takes over the holder, the external id and the unused tickets; the old one is revoked, for good.",
        shown=shown.A_CARD,
    ),
    "create_card_token": Notes(
        id="create_card_token",
        summary="Create a card token",
        description=(
            "A signed token for this card, for your app to show as a code. It is valid for 24 hours, or until "
            "`expires_at`, at most 400 days ahead. It is not stored: a retry signs another one."
        ),
        scope=Scope.CARDS_WRITE,
        success="The token.",
        shown=shown.A_TOKEN,
        refusals=(
            BAD_EXPIRY, *UNKNOWN, CardSuspended(), CardRevoked(), NoSigningKey(), *AGAIN,
        ),
        parameters=(CARD_ID, IDEMPOTENCY_KEY),
        body=body("CardTokenRequest", shown.TO_SIGN, required=False),
        headers=(responses.REPLAYED,),
    ),
    "create_card_link": Notes(
        id="create_card_link",
        summary="Get the link of a card's page",
        description=(
            "The page shows the holder the card, its code and its coming events. The link is made at the first call "
            "and stays the same. With `replace` a new one is made, and the old one shows nothing any more. It ends "
            "when the card is revoked or replaced, or its holder erased."
        ),
        scope=Scope.CARDS_WRITE,
        success="The link.",
        shown=shown.A_LINK,
        refusals=(InvalidRequest("Expected `bool`, got `str` - at `$.replace`"), *UNKNOWN, CardRevoked(), *AGAIN),
        parameters=(CARD_ID, IDEMPOTENCY_KEY),
        body=body("CardLinkRequest", shown.TO_REPLACE, required=False),
        headers=(responses.REPLAYED,),
    ),
    "create_card_tokens": Notes(
        id="create_card_tokens",
        summary="Create card tokens",
        description="Tokens for up to 1,000 cards. Each card has its own result, in the order of the request.",
        scope=Scope.CARDS_WRITE,
        success="A result for each card.",
        shown=shown.TOKENS,
        refusals=(BAD_EXPIRY, NoSigningKey(), *AGAIN),
        parameters=(IDEMPOTENCY_KEY,),
        body=body("CardTokensRequest", shown.TO_SIGN_MANY, largest=LARGEST_BATCH),
        headers=(responses.REPLAYED,),
    ),
}  # fmt: skip
