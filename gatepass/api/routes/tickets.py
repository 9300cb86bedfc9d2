"""/tickets: issue tickets, one or a thousand at once; read, cancel and transfer them."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from fastapi import APIRouter, Depends, Query, Response
from pydantic import Field

from gatepass.api.auth import State
from gatepass.api.etag import etag_headers
from gatepass.api.once import Kept, item_problem, once, the_kept
from gatepass.api.request import decoded, moment
from gatepass.api.routes.card_schemas import LARGEST_BATCH, ReasonIn, printable, reason_of
from gatepass.api.routes.ticket_schemas import (
    TAG,
    Id,
    NewTicketsIn,
    TicketOut,
    TicketResultOut,
    TicketsReader,
    TicketsWrite,
    parsed_ticket,
    parsed_transfer,
    ticket_fields,
    ticket_id,
    uuid_field,
)
from gatepass.api.schemas import Data, Page, Wire, next_page, page_size, page_start
from gatepass.api.write import Write
from gatepass.base.batcher import map_in_pieces
from gatepass.base.clock import EPOCH, rfc3339
from gatepass.base.database import Tx
from gatepass.base.errors import InvalidRequest, Refusal
from gatepass.base.paging import Place
from gatepass.domain import tickets
from gatepass.domain.tickets import IssuedTicket, ListedTicket, TicketFilter, TicketRequest, TicketState

router = APIRouter(tags=[TAG])

BATCH: Final = msgspec.json.Decoder(NewTicketsIn)
REASON: Final = msgspec.json.Decoder(ReasonIn)


class TicketResultsOut(Wire):
    data: list[TicketResultOut] = Field(max_length=1000)


@router.post("/tickets", status_code=201, response_model=Data[TicketOut])
async def create_ticket(write: TicketsWrite) -> Response:
    """Issue a ticket on a card, or for a person, whose card is found or made."""
    raw = await write.request.body()
    request = parsed_ticket(raw)
    write.call.event_id = request.event_id

    async def issue(tx: Tx) -> Kept:
        made = await tickets.issue(tx, write.caller.tenant_id, request, by=write.by, at=write.at)
        return Kept(201 if made.is_new else 200, id=made.ticket_id)

    return await _shown_once(write, raw, issue)


@router.post("/tickets/batch", response_model=TicketResultsOut)
async def create_tickets(write: TicketsWrite) -> Response:
    """Issue many tickets in one transaction; an item that is refused harms no other."""
    raw = await write.request.body(LARGEST_BATCH)
    parsed = await map_in_pieces(_parsed, decoded(raw, BATCH).tickets)
    requests = [request for request in parsed if isinstance(request, TicketRequest)]

    async def issue(tx: Tx) -> Kept:
        outcomes = iter(await tickets.issue_all(tx, write.caller.tenant_id, requests, by=write.by, at=write.at))
        items = (one if isinstance(one, Kept) else _kept(next(outcomes)) for one in parsed)
        return Kept(200, items=tuple(items))

    async def show(tx: Tx, kept: Kept) -> list[dict[str, Any]]:
        ids = [item.id for item in kept.items if item.id is not None]
        found = await tickets.find_all(tx, write.caller.tenant_id, ids)
        return await map_in_pieces(partial(_result, found), kept.items)

    return await once(write, raw, issue, show)


def _parsed(item: msgspec.Raw) -> TicketRequest | Kept:
    try:
        return parsed_ticket(bytes(item))
    except InvalidRequest as refusal:
        return item_problem(refusal)


def _result(found: Mapping[UUID, ListedTicket], item: Kept) -> dict[str, Any]:
    if item.id is None or item.id not in found:
        return {"status": item.status, **(item.problem or {})}
    return {"status": item.status, "data": ticket_fields(found[item.id])}


def _kept(outcome: IssuedTicket | Refusal) -> Kept:
    if isinstance(outcome, Refusal):
        return item_problem(outcome)
    return Kept(201 if outcome.is_new else 200, id=outcome.ticket_id)


async def ticket_filter(
    event_id: Annotated[str | None, Query(description="Tickets for this event.")] = None,
    card_id: Annotated[str | None, Query(description="Tickets on this card.")] = None,
    state: Annotated[str | None, Query(description="Tickets in this state.")] = None,
    external_id: Annotated[str | None, Query(description="Tickets with this external id.")] = None,
    updated_after: Annotated[str | None, Query(description="Tickets that changed after this time.")] = None,
) -> TicketFilter:
    if state is not None and state not in list(TicketState):
        raise InvalidRequest(f"state is one of {', '.join(TicketState)}.", param="state")
    return TicketFilter(
        event_id=None if event_id is None else uuid_field(event_id, "event_id"),
        card_id=None if card_id is None else uuid_field(card_id, "card_id"),
        state=None if state is None else TicketState(state),
        external_id=printable(external_id, "external_id"),
        updated_after=None if updated_after is None else _recent(moment(updated_after, "updated_after")),
    )


def _recent(at: datetime) -> datetime:
    """A time that every time zone can write down."""
    if not 1970 <= at.year < 9999:
        raise InvalidRequest("updated_after lies before 1970 or after 9998.", param="updated_after")
    return at


def _written(wanted: TicketFilter) -> dict[str, str | None]:
    """The filter as parameters of a URL."""
    return {
        "event_id": wanted.event_id and str(wanted.event_id),
        "card_id": wanted.card_id and str(wanted.card_id),
        "state": wanted.state,
        "external_id": wanted.external_id,
        "updated_after": wanted.updated_after and rfc3339(wanted.updated_after),
    }


@router.get("/tickets")
async def list_tickets(
    caller: TicketsReader,
    state: State,
    response: Response,
    limit: Annotated[int, Depends(page_size)],
    after: Annotated[Place | None, Depends(page_start)],
    wanted: Annotated[TicketFilter, Depends(ticket_filter)],
) -> Page[TicketOut]:
    """Tickets of the organization, newest first."""
    async with state.db.autocommit() as tx:
        found, last = await tickets.list_tickets(
            tx, caller.tenant_id, wanted, before=after.id if after else None, limit=limit
        )
    place = None if last is None else Place(EPOCH, last)
    cursor = next_page(response, f"{state.settings.base_url}/tickets", limit, place, **_written(wanted))
    return Page(data=[TicketOut.of(ticket) for ticket in found], has_more=place is not None, next_cursor=cursor)


@router.get("/tickets/{id}")
async def ticket(caller: TicketsReader, state: State, response: Response, id: Id) -> Data[TicketOut]:
    """One ticket as it is now."""
    wanted = ticket_id(id)
    async with state.db.autocommit() as tx:
        found = await tickets.find(tx, caller.tenant_id, wanted)
    shown = TicketOut.of(found)
    response.headers.update(etag_headers(shown))
    return Data(data=shown)


@router.post("/tickets/{id}/cancel", response_model=Data[TicketOut])
async def cancel_ticket(write: TicketsWrite, id: Id) -> Response:
    """Cancel a ticket, used or not; its place is free again."""
    raw = await write.request.body()
    reason, wanted = reason_of(decoded(raw, REASON)), ticket_id(id)

    async def cancel(tx: Tx) -> Kept:
        await tickets.cancel(tx, write.caller.tenant_id, wanted, by=write.by, at=write.at, reason=reason)
        return Kept(200, id=wanted)

    return await _shown_once(write, raw, cancel)


@router.post("/tickets/{id}/transfer", response_model=Data[TicketOut])
async def transfer_ticket(write: TicketsWrite, id: Id) -> Response:
    """Move a ticket that was not used to another card or person."""
    raw = await write.request.body()
    (to_card, holder), wanted = parsed_transfer(raw), ticket_id(id)

    async def transfer(tx: Tx) -> Kept:
        await tickets.transfer(
            tx, write.caller.tenant_id, wanted, card_id=to_card, holder=holder, by=write.by, at=write.at
        )
        return Kept(200, id=wanted)

    return await _shown_once(write, raw, transfer)


async def _shown_once(write: Write, raw: bytes, act: Callable[[Tx], Awaitable[Kept]]) -> Response:
    """Do it once; the answer is the ticket as it is now."""

    async def find(tx: Tx, id: UUID) -> TicketOut:
        return TicketOut.of(await tickets.find(tx, write.caller.tenant_id, id))

    return await once(write, raw, act, the_kept(find))
