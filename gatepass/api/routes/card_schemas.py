"""A card and its holder on the wire: request bodies and response models."""

from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from fastapi import Path
from msgspec import UNSET, UnsetType

from gatepass.api.auth import needs
from gatepass.api.schemas import Moment, Versioned, Wire
from gatepass.api.write import Write, writes
from gatepass.base.errors import InvalidRequest
from gatepass.base.ids import strict_uuid
from gatepass.base.text import is_line
from gatepass.domain import cards
from gatepass.domain.cards import LONGEST_EMAIL, LONGEST_NAME, CardNotFound, CardStatus, HeldCard, HolderDetails
from gatepass.domain.keys import Caller, Scope

LONGEST_EXTERNAL_ID: Final = 128
LONGEST_LOCALE: Final = 35
LONGEST_REASON: Final = 200
# As many as a batch may have items.
MOST_ITEMS: Final = 1_000
LARGEST_BATCH: Final = 1024 * 1024

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME)]
Email = Annotated[str, msgspec.Meta(min_length=3, max_length=LONGEST_EMAIL)]
Locale = Annotated[str, msgspec.Meta(max_length=LONGEST_LOCALE, pattern="^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$")]
ExternalId = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_EXTERNAL_ID)]
Number = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Reason = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_REASON)]
Time = Annotated[str, msgspec.Meta(max_length=64)]

Id = Annotated[str, Path(description="The card's UUID.")]
CardsReader = Annotated[Caller, needs(Scope.CARDS_READ)]
CardsWrite = Annotated[Write, writes(Scope.CARDS_WRITE)]


class HolderIn(msgspec.Struct, frozen=True):
    name: Name | None = None
    email: Email | None = None
    locale: Locale | None = None


class NewCardIn(msgspec.Struct, frozen=True):
    holder: HolderIn | None = None
    number: Number | None = None
    external_id: ExternalId | None = None


class HolderChange(msgspec.Struct, frozen=True):
    name: Name | UnsetType | None = UNSET
    email: Email | UnsetType | None = UNSET
    locale: Locale | UnsetType | None = UNSET


class CardChange(msgspec.Struct, frozen=True):
    holder: HolderChange | UnsetType | None = UNSET


class ReasonIn(msgspec.Struct, frozen=True):
    reason: Reason


class TokenRequest(msgspec.Struct, frozen=True):
    expires_at: Time | None = None


class TokensRequest(msgspec.Struct, frozen=True):
    cards: Annotated[
        list[Annotated[str, msgspec.Meta(max_length=64)]], msgspec.Meta(min_length=1, max_length=MOST_ITEMS)
    ]
    expires_at: Time | None = None


class LinkRequest(msgspec.Struct, frozen=True):
    replace: bool = False


class HolderOut(Wire):
    name: str
    email: str | None
    locale: str | None
    companion: bool


class CardOut(Versioned):
    id: UUID
    number: str
    status: CardStatus
    holder: HolderOut | None
    external_id: str | None
    issued_at: Moment
    updated_at: Moment

    @classmethod
    def of(cls, card: HeldCard) -> "CardOut":
        holder = None
        if card.name is not None:
            holder = HolderOut(name=card.name, email=card.email, locale=card.locale, companion=card.companion)
        return cls(
            id=card.id,
            number=card.number,
            status=card.status,
            holder=holder,
            external_id=card.external_id,
            issued_at=card.issued_at,
            updated_at=card.updated_at,
        ).of_version(card.version)


class TokenOut(Wire):
    card_id: UUID
    token: str
    expires_at: Moment


class LinkOut(Wire):
    url: str


class TokenResultOut(Wire):
    """The result for one card of a batch: `data`, or the refusal."""

    status: int
    data: TokenOut | None = None
    error: str | None = None
    code: str | None = None
    param: str | None = None


def card_id(text: str) -> UUID:
    found = strict_uuid(text)
    if found is None:
        raise CardNotFound
    return found


def holder_of(given: HolderIn) -> HolderDetails:
    """The holder, with an address that can be one."""
    if given.name is None and given.email is None:
        raise InvalidRequest("A holder has a name or an e-mail address.", param="holder")
    return checked(HolderDetails(given.name and given.name.strip(), given.email and given.email.strip(), given.locale))


def checked(holder: HolderDetails) -> HolderDetails:
    if holder.email is not None and not cards.is_email(holder.email):
        raise InvalidRequest("holder.email is not an e-mail address.", param="holder")
    if not cards.is_name(holder.shown_name):
        raise InvalidRequest("holder.name is empty, or cannot be printed.", param="holder")
    return holder


def corrected(card: HeldCard, change: HolderChange | None) -> HolderDetails | None:
    """The holder of this card with the given fields changed; None if nobody is to hold it."""
    if change is None:
        return None
    fields: dict[str, Any] = {"name": card.name, "email": card.email, "locale": card.locale}
    given = {name: getattr(change, name) for name in fields if getattr(change, name) is not UNSET}
    return checked(HolderDetails(**fields | given))


def printable(text: str | None, param: str, longest: int = LONGEST_EXTERNAL_ID) -> str | None:
    """Text that can be stored and shown; `param` names the field."""
    if text is not None and not (1 <= len(text) <= longest and text.isprintable()):
        raise InvalidRequest(f"{param} has 1 to {longest} printable characters.", param=param)
    return text


def reason_of(body: ReasonIn) -> str:
    reason = body.reason.strip()
    if not is_line(reason):
        raise InvalidRequest("reason is empty, or cannot be printed.", param="reason")
    return reason
