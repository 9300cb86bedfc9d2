"""Authentication and authorization: the key, then the scope, then the rate. The first that fails is the refusal.

The key of a device opens only the endpoints that say so, whatever its scopes: `needs(…, devices=True)` for those that
other keys open too, `needs_device()` for those that are only for devices.
"""

from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import Depends, Request

from gatepass.api.request import UNKNOWN_PATH, ApiCall
from gatepass.api.state import ApiState
from gatepass.base.client_ip import network_of
from gatepass.base.errors import NotNow, Refusal
from gatepass.domain import security_log
from gatepass.domain.keys import (
    RATES,
    Caller,
    DeadKey,
    DeviceAssignment,
    InsufficientScope,
    InvalidKey,
    Scope,
    SuspendedKey,
)
from gatepass.domain.limits import Policy, RateLimited, Standing, TooManyFailures
from gatepass.domain.security_log import Action

# Scans have a bucket of their own, so that reads never use up the rate of a gate.
SCAN: Final = "scan"
READS: Final = "default"
# Journals of 500 entries: a device that comes back after a day is done in seconds, and nobody tries numbers in bulk.
JOURNAL: Final = Policy("journal", per_second=2, burst=20)
FAILURES: Final = Policy("failures", per_second=1, burst=60)


async def authorize(
    state: ApiState, call: ApiCall, authorization: str | None, scope: Scope | None, *, devices: bool = False
) -> Caller:
    """The caller, if the key in the database allows this call now. `devices`: the key of a device may do so too."""
    return _check(state, call, await _load_caller(state, call, authorization, call.at), scope, devices=devices)


async def authorize_cached(
    state: ApiState, call: ApiCall, authorization: str | None, scope: Scope, *, devices: bool = True
) -> Caller:
    """The same by the cached key, for an endpoint whose statement checks the key again. Refusals need `confirmed`."""
    try:
        caller = state.api_keys.cached(authorization, call.address)
    except InvalidKey as refusal:
        raise _count_failure(state, call, refusal) from None
    call.unconfirmed = caller is not None
    caller = caller or await _load_caller(state, call, authorization, call.at)
    return _check(state, call, caller, scope, devices=devices)


async def confirmed(state: ApiState, call: ApiCall, authorization: str | None, refusal: Refusal) -> Refusal:
    """The refusal, unless the cached key is no longer valid: then the refusal is for that reason."""
    if isinstance(refusal, NotNow):  # it does not depend on the key, and the database should not be queried now
        return refusal
    try:
        await require_confirmed(state, call, authorization)
    except Refusal as first:
        return first
    return refusal


async def require_confirmed(
    state: ApiState, call: ApiCall, authorization: str | None, scope: Scope | None = None
) -> None:
    """Before a reply that no statement has confirmed: the cached key must still be valid, and have the scope."""
    if call.unconfirmed:
        call.unconfirmed = False
        caller = await _load_caller(state, call, authorization, state.clock())
        if scope is not None:
            _require(call, caller, scope, devices=True)


async def reauthorize(state: ApiState, call: ApiCall, authorization: str | None, scope: Scope) -> Caller:
    """The caller as the database has it now, after a statement found that its device was moved or ended."""
    call.unconfirmed = False
    caller = await _load_caller(state, call, authorization, state.clock())
    call.caller = caller
    _require(call, caller, scope, devices=True)
    return caller


async def _load_caller(state: ApiState, call: ApiCall, authorization: str | None, at: datetime) -> Caller:
    try:
        return await state.api_keys.load(authorization, call.address, at)
    except InvalidKey as refusal:
        call.standing = None
        raise _count_failure(state, call, refusal) from None
    except SuspendedKey as refusal:
        call.standing, call.caller = None, refusal.caller
        _note(call, Action.API_KEY_REFUSED, "suspended")
        raise


def _check(state: ApiState, call: ApiCall, caller: Caller, scope: Scope | None, *, devices: bool) -> Caller:
    call.caller = caller
    state.request_log.use(caller, call.at, call.address)
    call.standing = _take_token(state, caller, call.path)
    if scope is not None:
        _require(call, caller, scope, devices=devices)
    if not call.standing.allowed:
        _note(call, Action.API_RATE_LIMITED, "key")
        raise _with_retry_after(RateLimited(), call.standing)
    return caller


def _require(call: ApiCall, caller: Caller, scope: Scope, *, devices: bool) -> None:
    try:
        caller.require(scope)
        if caller.device is not None and not devices:
            raise InsufficientScope("The key of a device does not open this endpoint.")
    except InsufficientScope:
        _note(call, Action.API_SCOPE_REFUSED, scope)
        raise


def require_device(caller: Caller) -> DeviceAssignment:
    """The device that this key belongs to, and what it works for. Other keys are refused, whatever their scopes."""
    if caller.device is None:
        raise InsufficientScope("Only the key of a device opens this endpoint.")
    return caller.device


def _take_token(state: ApiState, caller: Caller, path: str) -> Standing:
    if path == "/scans/batch":
        return state.buckets.take((caller.key_id, JOURNAL.name), JOURNAL, state.monotonic())
    name = SCAN if path == "/scan" else READS
    rate, burst = RATES[caller.mode]
    policy = Policy(name, caller.rate_per_second or rate, caller.burst or burst)
    return state.buckets.take((caller.key_id, name), policy, state.monotonic())


def _count_failure(state: ApiState, call: ApiCall, refusal: InvalidKey) -> Refusal:
    """The refusal, or TooManyFailures. A known key is always told why, and has its row in the request log."""
    state.metrics.failed_authentications.inc()
    if isinstance(refusal, DeadKey):
        call.caller = refusal.caller
        _note(call, Action.API_KEY_REFUSED, refusal.reason)
        return refusal
    call.caller = None
    standing = state.failures.take(call.address and network_of(call.address), FAILURES, state.monotonic())
    if standing.allowed:
        _note(call, Action.API_KEY_REFUSED, refusal.reason)
        return refusal
    _note(call, Action.API_RATE_LIMITED, "failures")
    return _with_retry_after(TooManyFailures(), standing)


def _note(call: ApiCall, action: Action, reason: str) -> None:
    """A line for the operator. With a known key the organization has a row in its request log too."""
    security_log.line(
        action,
        address=call.address,
        reason=reason,
        route=f"{call.method} {call.path}",
        key_id=str(call.caller.key_id) if call.caller else None,
        organization_id=str(call.caller.organization_id) if call.caller else None,
        request_id=call.request_id,
    )


def _with_retry_after(refusal: RateLimited, standing: Standing) -> RateLimited:
    refusal.retry_after = standing.retry_after()
    return refusal


async def state_of(request: Request) -> ApiState:
    """It awaits nothing, but FastAPI would call a plain function in a thread."""
    return request.app.state.api_state


def call_of(request: Request) -> ApiCall:
    return request.scope["gatepass.call"]


State = Annotated[ApiState, Depends(state_of)]


def needs(scope: Scope, *, devices: bool = False) -> Any:
    """A dependency: the caller, if its key has this scope and is within its rate. `devices`: those may call it too."""

    async def authorized(request: Request) -> Caller:
        return await _authorized(request, scope, devices=devices)

    return Depends(authorized)


def needs_device(scope: Scope | None = None) -> Any:
    """A dependency: the caller, if its key is that of a device and has this scope. A retired device's key has none."""

    async def authorized(request: Request) -> Caller:
        caller = await _authorized(request, scope, devices=True)
        try:
            require_device(caller)
        except InsufficientScope:
            _note(call_of(request), Action.API_SCOPE_REFUSED, "device")
            raise
        return caller

    return Depends(authorized)


async def _authorized(request: Request, scope: Scope | None, *, devices: bool) -> Caller:
    call = call_of(request)
    call.path = route_path(request)
    authorization = request.headers.get("authorization")
    return await authorize(request.app.state.api_state, call, authorization, scope, devices=devices)


def route_path(request: Request) -> str:
    """The route's template under the base path: `/events/{id}`, never the path of the request."""
    route = request.scope.get("route")
    return UNKNOWN_PATH if route is None else route.path.removeprefix(request.app.state.base_path)
