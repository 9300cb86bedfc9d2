"""POST /scan: a card is shown at a gate."""

from datetime import datetime, timedelta
from typing import Annotated, Final
from uuid import UUID

import msgspec
from fastapi import APIRouter, Request
from msgspec import structs
from starlette.responses import Response

from gatepass.api.auth import authorize_cached, reauthorize, require_device
from gatepass.api.fast_path import as_route
from gatepass.api.request import ApiCall, RawRequest, decoded, moment
from gatepass.api.responses import REPLAYED, Reply, refusal_reply
from gatepass.api.schemas import Data, Wire
from gatepass.api.state import ApiState
from gatepass.base.errors import InvalidRequest
from gatepass.base.ids import strict_uuid
from gatepass.domain import cards, sandbox
from gatepass.domain.cards import InvalidToken, PhoneCode, Token
from gatepass.domain.events import EventNotFound
from gatepass.domain.keys import Caller, DeviceAssignment, InvalidKey, Mode, Scope
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
    authorization = request.header(b"authorization")
    caller = await authorize_cached(state, call, authorization, Scope.TICKETS_ACTIVATE)
    body = parsed(await request.body())
    wanted = await _presented(state, call, caller, body, request.idempotency_key())
    if caller.device is None:
        verdict = await state.scans(wanted)
    else:
        verdict = await _verdict_for_device(state, call, authorization, caller.device, wanted)
    if verdict is None:  # a cached key is no longer valid: the API key, or the one that signed the token
        call.unconfirmed = True
        raise InvalidKey if wanted.signing_key is None else InvalidToken
    call.logged = True
    return _reply(call, caller.mode, verdict)


async def _verdict_for_device(
    state: ApiState, call: ApiCall, authorization: str | None, device: DeviceAssignment, wanted: Scan
) -> ScanOutcome | None:
    """The verdict on a device's scan. One that was moved or ended since its key was cached is judged once more."""
    if wanted.event_id == device.event_id:
        verdict = await state.scans(wanted)
        if verdict is not None:
            return verdict
    now = require_device(await reauthorize(state, call, authorization, Scope.TICKETS_ACTIVATE))
    if wanted.event_id != now.event_id:
        raise EventNotFound
    return await state.scans(structs.replace(wanted, assigned_gate=now.gate))


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
    shown_at = occurred_at or call.at
    number, shown, token = await _card(state, caller, event_id, body)
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
        expired=token is not None and token.is_expired(shown_at),
        gate=body.gate,
        scanner_id=body.scanner_id,
        occurred_at=occurred_at,
        given=sandbox.judge(number) if _is_fictional(caller, event_id) else None,
        signing_key=token.signing_key if token else None,
        phone=token.phone if token else None,
        fresh=token is not None and token.is_fresh(shown_at),
        assigned_gate=caller.device.gate if caller.device else None,
    )


def _is_fictional(caller: Caller, event_id: UUID) -> bool:
    return caller.mode is Mode.SANDBOX and event_id == sandbox.EVENT_ID


async def _card(
    state: ApiState, caller: Caller, event_id: UUID, body: ScanIn
) -> tuple[str, str, Token | PhoneCode | None]:
    """The card's number, the number or token that was shown, and what the token says."""
    if body.token is None:
        number = body.card_number or ""
        number = sandbox.typed_card(number) if _is_fictional(caller, event_id) else cards.normalize_number(number)
        return number, number, None
    name = sandbox.named_card(body.token) if caller.mode is Mode.SANDBOX else None
    if name:
        return name, body.token, None
    token = await state.public_keys.read_token(caller.tenant_id, body.token)
    return token.card_number, body.token, token


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
