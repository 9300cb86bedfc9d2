"""/cards: register, list, correct, suspend, resume, revoke and replace the cards of an organization."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Final
from uuid import UUID

import msgspec
from fastapi import APIRouter, Depends, Query, Response
from msgspec import UNSET

from gatepass.api.auth import State
from gatepass.api.etag import etag_headers, seen_versions
from gatepass.api.once import Kept, once, the_kept
from gatepass.api.request import decoded
from gatepass.api.routes.card_schemas import (
    CardChange,
    CardOut,
    CardsReader,
    CardsWrite,
    Id,
    NewCardIn,
    ReasonIn,
    card_id,
    corrected,
    holder_of,
    printable,
    reason_of,
)
from gatepass.api.schemas import Data, Page, next_page, page_size, page_start
from gatepass.api.write import Write
from gatepass.base.clock import EPOCH
from gatepass.base.database import Tx
from gatepass.base.paging import Place
from gatepass.domain import cards, tickets
from gatepass.domain.cards import LONGEST_EMAIL, CardStatus, HeldCard, normalize_email
from gatepass.domain.keys import Caller

router = APIRouter(tags=["Cards"])

NEW: Final = msgspec.json.Decoder(NewCardIn)
CHANGED: Final = msgspec.json.Decoder(CardChange)
REASON: Final = msgspec.json.Decoder(ReasonIn)


@router.post("/cards", status_code=201, response_model=Data[CardOut])
async def create_card(write: CardsWrite) -> Response:
    """A card: new, or the one that this person has."""
    raw = await write.request.body()
    body = decoded(raw, NEW)
    external_id = printable(body.external_id, "external_id")
    holder = holder_of(body.holder) if body.holder else None

    async def register(tx: Tx) -> Kept:
        id, is_new = await cards.register(
            tx, write.caller.tenant_id, holder=holder, number=body.number, external_id=external_id,
            by=write.by, at=write.at,
        )  # fmt: skip
        return Kept(201 if is_new else 200, id=id)

    return await _shown_once(write, raw, register)


@router.get("/cards")
async def list_cards(
    caller: CardsReader,
    state: State,
    response: Response,
    limit: Annotated[int, Depends(page_size)],
    after: Annotated[Place | None, Depends(page_start)],
    number: Annotated[str | None, Query(description="The card with this number.")] = None,
    email: Annotated[str | None, Query(description="Cards of this person.")] = None,
    external_id: Annotated[str | None, Query(description="The card with this external id.")] = None,
) -> Page[CardOut]:
    """Cards of the organization: one by its number or external id, those of a person, or all, newest first."""
    filters = {
        "number": printable(number, "number", 64),
        "email": email if email and cards.is_email(email) else printable(email, "email", LONGEST_EMAIL),
        "external_id": printable(external_id, "external_id"),
    }
    async with state.db.autocommit() as tx:
        found = await _found(tx, caller, after.id if after else None, limit + 1, **filters)
    page = found[:limit]
    place = Place(EPOCH, page[-1].id) if len(found) > limit else None
    cursor = next_page(response, f"{state.settings.base_url}/cards", limit, place, **filters)
    return Page(data=[CardOut.of(card) for card in page], has_more=place is not None, next_cursor=cursor)


async def _found(
    tx: Tx,
    caller: Caller,
    place: UUID | None,
    limit: int,
    *,
    number: str | None,
    email: str | None,
    external_id: str | None,
) -> list[HeldCard]:
    """The cards that fit every filter that is given."""
    organization_id = caller.tenant_id
    if number is None and external_id is None:
        if email is not None:
            return await cards.find_by_email(tx, organization_id, email, after=place, limit=limit)
        return await cards.newest(tx, organization_id, before=place, limit=limit)
    if number is not None:
        one = await cards.find_by_number(tx, organization_id, number)
    else:
        one = await cards.find_by_external_id(tx, organization_id, external_id or "")
    fits = (
        one is not None
        and place is None
        and external_id in (None, one.external_id)
        and (email is None or (one.email and cards.normalize_email(one.email) == cards.normalize_email(email)))
    )
    return [one] if one is not None and fits else []


@router.get("/cards/{id}")
async def card(caller: CardsReader, state: State, response: Response, id: Id) -> Data[CardOut]:
    """One card with its holder."""
    wanted = card_id(id)
    async with state.db.autocommit() as tx:
        found = await cards.find(tx, caller.tenant_id, wanted)
    shown = CardOut.of(found)
    response.headers.update(etag_headers(shown))
    return Data(data=shown)


@router.patch("/cards/{id}")
async def change_card(write: CardsWrite, response: Response, id: Id) -> Data[CardOut]:
    """Correct the holder."""
    body, wanted = decoded(await write.request.body(), CHANGED), card_id(id)
    change = None if body.holder is UNSET else body.holder
    given = normalize_email(change.email) if change and change.email else None
    async with write.transaction(200) as tx:
        # The fields that are not given stay as they are once nobody else can change them.
        found = await cards.lock_held(tx, write.caller.tenant_id, wanted, address=given)
        versions = seen_versions(write.request)
        if body.holder is UNSET:
            cards.require_version(found, versions)
        else:
            holder = corrected(found, change)
            found = await cards.correct_holder(
                tx, write.caller.tenant_id, wanted, holder, versions=versions, by=write.by, at=write.at
            )
    shown = CardOut.of(found)
    response.headers.update(etag_headers(shown))
    return Data(data=shown)


@router.post("/cards/{id}/suspend", response_model=Data[CardOut])
async def suspend_card(write: CardsWrite, id: Id) -> Response:
    """Gates refuse the card until it is resumed."""
    return await _change_status(write, id, CardStatus.SUSPENDED)


@router.post("/cards/{id}/resume", response_model=Data[CardOut])
async def resume_card(write: CardsWrite, id: Id) -> Response:
    """Gates take the card again."""
    return await _change_status(write, id, CardStatus.ACTIVE)


@router.post("/cards/{id}/revoke", response_model=Data[CardOut])
async def revoke_card(write: CardsWrite, id: Id) -> Response:
    """Gates refuse the card, for good."""
    return await _change_status(write, id, CardStatus.REVOKED)


async def _change_status(write: Write, id: str, to: CardStatus) -> Response:
    async def change(tx: Tx, card: UUID, reason: str) -> Kept:
        await cards.change_status(tx, write.caller.tenant_id, card, to, by=write.by, at=write.at, reason=reason)
        return Kept(200, id=card)

    return await _with_reason(write, id, change)


@router.post("/cards/{id}/replace", status_code=201, response_model=Data[CardOut])
async def replace_card(write: CardsWrite, id: Id) -> Response:
    """A new card takes over; the old one is revoked."""

    async def replace(tx: Tx, card: UUID, reason: str) -> Kept:
        new = await tickets.replace(tx, write.caller.tenant_id, card, by=write.by, at=write.at, reason=reason)
        return Kept(201, id=new.id)

    return await _with_reason(write, id, replace)


async def _with_reason(write: Write, id: str, work: Callable[[Tx, UUID, str], Awaitable[Kept]]) -> Response:
    raw = await write.request.body()
    reason, wanted = reason_of(decoded(raw, REASON)), card_id(id)
    return await _shown_once(write, raw, lambda tx: work(tx, wanted, reason))


async def _shown_once(write: Write, raw: bytes, act: Callable[[Tx], Awaitable[Kept]]) -> Response:
    """Do it once; the answer is the card as it is now."""

    async def find(tx: Tx, id: UUID) -> CardOut:
        return CardOut.of(await cards.find(tx, write.caller.tenant_id, id))

    return await once(write, raw, act, the_kept(find))
