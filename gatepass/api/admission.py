"""Admission: the key, the scope, the rate, in this order; the first that fails answers."""

from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import Depends, Request

from gatepass.api.call import UNKNOWN_PATH, Call
from gatepass.api.gatehouse import Gatehouse
from gatepass.base.refusals import Overloaded, Refusal, Unavailable
from gatepass.domain.keys import RATES, Caller, DeadKey, InvalidKey, Scope
from gatepass.domain.limits import Policy, RateLimited, Standing, TooManyFailures

# A gate's own bucket, so that reads never starve it.
SCAN: Final = "scan"
READS: Final = "default"
FAILURES: Final = Policy("failures", per_second=1, burst=60)


async def admit(house: Gatehouse, call: Call, authorization: str | None, scope: Scope | None) -> Caller:
    """Who is calling, if they may make this call now."""
    return _let_in(house, call, await _asked(house, call, authorization, call.at), scope)


async def admit_remembered(house: Gatehouse, call: Call, authorization: str | None, scope: Scope) -> Caller:
    """The same for an endpoint whose statement looks at the key again. Its refusals need `confirmed`."""
    try:
        caller = house.keys.remembered(authorization, call.address)
    except InvalidKey as refusal:
        raise _counted(house, call, refusal) from None
    call.unconfirmed = caller is not None
    return _let_in(house, call, caller or await _asked(house, call, authorization, call.at), scope)


async def confirmed(house: Gatehouse, call: Call, authorization: str | None, refusal: Refusal) -> Refusal:
    """A refusal to a remembered key, unless that key is no longer good: then that is the answer."""
    if isinstance(refusal, Unavailable | Overloaded):  # says nothing, and the database should not be asked now
        return refusal
    try:
        await require_confirmed(house, call, authorization)
    except Refusal as first:
        return first
    return refusal


async def require_confirmed(house: Gatehouse, call: Call, authorization: str | None) -> None:
    """Before an answer that no statement has confirmed: the remembered key must still be good."""
    if call.unconfirmed:
        call.unconfirmed = False
        await _asked(house, call, authorization, house.clock())


async def _asked(house: Gatehouse, call: Call, authorization: str | None, at: datetime) -> Caller:
    try:
        return await house.keys.ask(authorization, call.address, at)
    except InvalidKey as refusal:
        call.standing = None
        raise _counted(house, call, refusal) from None


def _let_in(house: Gatehouse, call: Call, caller: Caller, scope: Scope | None) -> Caller:
    call.caller = caller
    house.trail.use(caller, call.at, call.address)
    call.standing = _take(house, caller, call.path)
    if scope is not None:
        caller.require(scope)
    if not call.standing.allowed:
        raise _told_when(RateLimited(), call.standing)
    return caller


def _take(house: Gatehouse, caller: Caller, path: str) -> Standing:
    name = SCAN if path == "/scan" else READS
    rate, burst = RATES[caller.mode]
    policy = Policy(name, caller.rate_per_second or rate, caller.burst or burst)
    return house.buckets.take((caller.key_id, name), policy, house.monotonic())


def _counted(house: Gatehouse, call: Call, refusal: InvalidKey) -> Refusal:
    """Failures are counted, and past a rate refused as such; only those of a key we know leave an audit row."""
    house.metrics.failed_authentications.inc()
    call.caller = refusal.caller if isinstance(refusal, DeadKey) else None
    standing = house.failures.take(call.address, FAILURES, house.monotonic())
    if standing.allowed:
        return refusal
    call.caller = None
    return _told_when(TooManyFailures(), standing)


def _told_when(refusal: RateLimited, standing: Standing) -> RateLimited:
    refusal.retry_after = standing.retry_after()
    return refusal


async def house_of(request: Request) -> Gatehouse:
    """Awaits nothing, and is async all the same: FastAPI would call it in a thread otherwise."""
    return request.app.state.house


def call_of(request: Request) -> Call:
    return request.scope["gatepass.call"]


House = Annotated[Gatehouse, Depends(house_of)]


def needs(scope: Scope) -> Any:
    """A dependency: the caller, if its key has this scope and is within its rate."""

    async def admitted(request: Request) -> Caller:
        call = call_of(request)
        call.path = route_path(request)
        return await admit(request.app.state.house, call, request.headers.get("authorization"), scope)

    return Depends(admitted)


def route_path(request: Request) -> str:
    """The route's template under the base path: `/events/{id}`, never what was asked for."""
    route = request.scope.get("route")
    return UNKNOWN_PATH if route is None else route.path.removeprefix(request.app.state.base_path)
