"""Admission: the key, the scope, the rate, in this order; the first that fails answers."""

from typing import Annotated, Any, Final

from fastapi import Depends, Request

from gatepass.api.call import UNKNOWN_PATH, Call
from gatepass.api.gatehouse import Gatehouse
from gatepass.domain import keys
from gatepass.domain.keys import Caller, DeadKey, InvalidKey, Mode, Scope
from gatepass.domain.limits import Policy, RateLimited, Standing, TooManyFailures

RATES: Final = {Mode.LIVE: (100, 200), Mode.SANDBOX: (25, 50)}
# A gate's own bucket, so that reads never starve it.
SCAN: Final = "scan"
READS: Final = "default"
FAILURES: Final = Policy("failures", per_second=1, burst=60)


async def admit(house: Gatehouse, call: Call, authorization: str | None, scope: Scope | None) -> Caller:
    """Who is calling, if they may make this call now."""
    try:
        key = keys.shown_key(authorization)
        async with house.db.reading() as tx:
            caller = await keys.authenticate(tx, key, call.address, at=call.at)
    except InvalidKey as refusal:
        _count_failure(house, call, refusal)
        raise
    call.caller = caller
    house.trail.use(caller, call.at, call.address)
    call.standing = _take(house, caller, call.path)
    if scope is not None:
        caller.require(scope)
    if not call.standing.allowed:
        raise _told_when(RateLimited(), call.standing)
    return caller


def _take(house: Gatehouse, caller: Caller, path: str) -> Standing:
    rate, burst = RATES[caller.mode]
    name = SCAN if path.endswith("/scan") else READS
    policy = Policy(name, caller.rate_per_second or rate, caller.burst or burst)
    return house.buckets.take((caller.key_id, name), policy, house.monotonic())


def _count_failure(house: Gatehouse, call: Call, refusal: InvalidKey) -> None:
    """Failures are counted, and past a rate refused as such; only those of a key we know leave an audit row."""
    house.metrics.failed_authentications.inc()
    standing = house.failures.take(call.address, FAILURES, house.monotonic())
    if not standing.allowed:
        raise _told_when(TooManyFailures(), standing) from None
    if isinstance(refusal, DeadKey):
        call.caller = refusal.caller


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
