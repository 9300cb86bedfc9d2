"""POST /scan: a card is shown at a gate."""

from datetime import datetime, timedelta
from typing import Annotated, Final
from uuid import UUID

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from gatepass.api.auth import authorize_cached
from gatepass.api.fast_path import as_route
from gatepass.api.request import ApiCall, RawRequest, decoded, moment
from gatepass.api.responses import REPLAYED, Reply, refusal_reply
from gatepass.api.schemas import Data, Wire
from gatepass.api.state import ApiState
from gatepass.base.errors import InvalidRequest
from gatepass.base.ids import strict_uuid
from gatepass.domain import cards, sandbox
from gatepass.domain.cards import InvalidToken
from gatepass.domain.keys import Caller, InvalidKey, Mode, Scope
from gatepass.domain.tickets import Scan, ScanOutcome

router = APIRouter(tags=["Scans"])

AHEAD: Final = timedelta(minutes=2)
BACK: Final = timedelta(hours=72)


class ScanIn(msgspec.Struct, frozen=True):
    event_id: str
    card_number: Annotated[str, msgspec.Meta(min_length=1, max_length=64)] | None = None
    token: Annotated[str, msgspec.Meta(min_length=1, max_length=1024)] | None = None
    scanner_id: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    gate: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    occurred_at: Annotated[str, msgspec.Meta(max_length=64)] | None = None


class ScanOut(Wire):
    ticket_id: UUID
    tier: str
    category_name: str


@router.post("/scan", response_model=Data[ScanOut])
async def scan(request: Request) -> Response:
    """Activate the ticket that a card holds for an event."""
    return await as_route(answer_scan, request)


async def answer_scan(state: ApiState, call: ApiCall, request: RawRequest) -> Reply:
    """Check the key, the body and the card, then get the verdict: in this order each may refuse."""
    caller = await authorize_cached(state, call, request.header(b"authorization"), Scope.TICKETS_ACTIVATE)
    body = parsed(await request.body())
    wanted = await _presented(state, call, caller, body, request.idempotency_key())
    verdict = await state.scans(wanted)
    if verdict is None:  # a cached key is no longer valid: the API key, or the one that signed the token
        call.unconfirmed = True
        raise InvalidKey if wanted.signing_key is None else InvalidToken
    call.logged = True
    return _reply(call, caller.mode, verdict)


def parsed(raw: bytes) -> ScanIn:
    body = decoded(raw, DECODER)
    if (body.card_number is None) == (body.token is None):
        raise InvalidRequest("Send either card_number or token.", param="card_number")
    return body


async def _presented(state: ApiState, call: ApiCall, caller: Caller, body: ScanIn, idempotency_key: str | None) -> Scan:
    """The scan of this request, its token verified and its times checked."""
    event_id = strict_uuid(body.event_id)
    if event_id is None:
        raise InvalidRequest("event_id is not a UUID.", param="event_id")
    call.event_id = event_id
    occurred_at = None if body.occurred_at is None else _occurred_at(body.occurred_at, call.at)
    number, shown, signing_key, expired = await _card(state, caller, event_id, body, occurred_at or call.at)
    return Scan(
        request_id=call.id,
        organization_id=caller.organization_id,
        mode=caller.mode,
        key_id=caller.key_id,
        address=call.address,
        received_at=call.at,
        elapsed_us=call.elapsed_us(),
        idempotency_key=idempotency_key,
        event_id=event_id,
        card_number=number,
        shown=shown,
        expired=expired,
        gate=body.gate,
        scanner_id=body.scanner_id,
        occurred_at=occurred_at,
        given=sandbox.judge(number) if _is_fictional(caller, event_id) else None,
        signing_key=signing_key,
    )


def _is_fictional(caller: Caller, event_id: UUID) -> bool:
    return caller.mode is Mode.SANDBOX and event_id == sandbox.EVENT_ID


async def _card(
    state: ApiState, caller: Caller, event_id: UUID, body: ScanIn, at: datetime
) -> tuple[str, str, UUID | None, bool]:
    """The card's number, the number or token that was shown, its signing key, and whether it had expired."""
    if body.token is None:
        number = body.card_number or ""
        number = number if _is_fictional(caller, event_id) else cards.normalize_number(number)
        return number, number, None, False
    name = sandbox.named_card(body.token) if caller.mode is Mode.SANDBOX else None
    if name:
        return name, body.token, None, False
    token = await state.public_keys.read_token(caller.tenant_id, body.token)
    return token.card_number, body.token, token.signing_key, token.is_expired(at)


def _occurred_at(text: str, now: datetime) -> datetime:
    shown_at = moment(text, "occurred_at")
    if shown_at - now > AHEAD:
        raise InvalidRequest("occurred_at is more than 2 minutes ahead of us.", param="occurred_at")
    if now - shown_at > BACK:
        raise InvalidRequest("occurred_at is more than 72 hours ago.", param="occurred_at")
    return shown_at


def _reply(call: ApiCall, mode: Mode, verdict: ScanOutcome) -> Reply:
    headers = dict(REPLAYED) if verdict.replayed else {}
    refusal = verdict.refusal()
    if refusal is None:
        data = {
            "ticket_id": str(verdict.ticket_id),
            "tier": verdict.tier,
            "category_name": verdict.category_name,
        }
        return Reply.of(200, {"data": data}, headers)
    call.refuse(refusal)
    return refusal_reply(refusal, mode, headers)


DECODER: Final = msgspec.json.Decoder(ScanIn)
