"""POST /gate/pair/<code>, POST /gate/pair/<request>/key: a device asks to be paired, and fetches its key.

The edge routes both by the letter with which the code or the request begins. A code is a secret while it lives: no log
has the path, and the route's template names it.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from gatepass.api.auth import State, call_of, route_path
from gatepass.api.request import ApiCall, RawRequest, decoded, moment
from gatepass.api.responses import Reply
from gatepass.api.routes.devices.registry import DeviceOut
from gatepass.api.state import ApiState
from gatepass.base.clock import rfc3339
from gatepass.base.errors import InvalidRequest, Refusal
from gatepass.domain import security_log
from gatepass.domain.devices import InvalidSignature, PairingNotFound, pairing
from gatepass.domain.devices.device import APP_LENGTH, NAME_LENGTH
from gatepass.domain.devices.pairing import Asked, Fetched, Signed
from gatepass.domain.limits import RateLimited
from gatepass.domain.security_log import Action

ROOT: Final = "/gate/pair"
LARGEST_BODY: Final = 2_048
KEY: Final = 32
SIGNATURE: Final = 64
# Fits every code with its dashes; a longer text is none, and is not looked at.
LONGEST_CODE: Final = 32
REQUEST: Final = re.compile(r"[a-z]\.[A-Za-z0-9_-]{43}")
# The answers hold a key or a request that gets one.
PRIVATE: Final = {"Cache-Control": "no-store"}

router = APIRouter(prefix=ROOT, include_in_schema=False)


class PairingIn(msgspec.Struct, frozen=True):
    public_key: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9_-]{43}$")]
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=NAME_LENGTH)]
    app: Annotated[str, msgspec.Meta(min_length=1, max_length=APP_LENGTH)] | None = None


class FetchIn(msgspec.Struct, frozen=True):
    at: Annotated[str, msgspec.Meta(max_length=64)]
    signature: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9_-]{86}$")]


@router.post("/{code}")
async def ask(code: str, request: Request, state: State) -> Response:
    """A device with a code asks to be paired. A lead must confirm it."""
    call = _counted(state, request)
    body = decoded(await RawRequest(request.scope, request.receive).body(LARGEST_BODY), ASKING)
    public_key = _bytes(body.public_key, KEY, "public_key")
    canonical = pairing.canonical_code(code) if len(code) <= LONGEST_CODE else None
    asked = None if canonical is None else await _ask(state, call, canonical, public_key, body)
    if asked is None:
        state.pairing.wrong(call.address)
        raise _noted(call, PairingNotFound(), "unknown code")
    data = {"request": asked.request, "words": asked.words, "expires_at": rfc3339(asked.expires_at)}
    return Reply.of(202, {"data": data}, dict(PRIVATE)).response()


@router.post("/{pairing_request}/key")
async def fetch(pairing_request: str, request: Request, state: State) -> Response:
    """A device that was confirmed fetches its key; again, if the answer was lost."""
    call = _counted(state, request)
    body = decoded(await RawRequest(request.scope, request.receive).body(LARGEST_BODY), FETCHING)
    made_at, signature = moment(body.at, "at"), _bytes(body.signature, SIGNATURE, "signature")
    try:
        if not REQUEST.fullmatch(pairing_request):
            raise PairingNotFound
        fetched = await _fetch(state, call, Signed(pairing_request, body.at, made_at, signature))
    except PairingNotFound as refusal:
        state.pairing.wrong(call.address)
        raise _noted(call, refusal, "unknown request") from None
    except InvalidSignature as refusal:  # no guess, and a wrong clock must not keep a whole venue waiting
        raise _noted(call, refusal, "signature") from None
    if fetched is None:
        return Reply.of(202, {"data": {"status": "waiting"}}, dict(PRIVATE)).response()
    device = DeviceOut.of(fetched.device).model_dump(mode="json")
    data = {"status": "paired", "device": device, "key": fetched.key}
    return Reply.of(200, {"data": data}, dict(PRIVATE)).response()


async def _ask(state: ApiState, call: ApiCall, code: str, public_key: bytes, body: PairingIn) -> Asked | None:
    async with state.writing(), state.db.transaction(call.address) as tx:
        return await pairing.ask(
            tx, code, public_key, body.name, body.app, cell=state.settings.cell, address=call.address, at=call.at
        )


async def _fetch(state: ApiState, call: ApiCall, signed: Signed) -> Fetched | None:
    async with state.writing(), state.db.transaction(call.address) as tx:
        return await pairing.fetch(tx, signed, cell=state.settings.cell, at=call.at)


def _counted(state: ApiState, request: Request) -> ApiCall:
    call = call_of(request)
    call.path = route_path(request)
    try:
        state.pairing.count(call.address)
    except RateLimited as refusal:
        raise _noted(call, refusal, "limit") from None
    return call


def _noted(call: ApiCall, refusal: Refusal, reason: str) -> Refusal:
    """A line for the operator, without the code and without what the device said of itself."""
    security_log.line(
        Action.PAIRING_REFUSED, address=call.address, reason=reason, route=call.path, request_id=call.request_id
    )
    return refusal


def _bytes(text: str, length: int, param: str) -> bytes:
    """Base64url in its one spelling."""
    raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if len(raw) != length or urlsafe_b64encode(raw).rstrip(b"=").decode() != text:
        raise InvalidRequest(f"{param} is not base64url in its one spelling.", param=param)
    return raw


ASKING: Final = msgspec.json.Decoder(PairingIn)
FETCHING: Final = msgspec.json.Decoder(FetchIn)
