"""The API as one ASGI application: every route in one list, reception in front."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from gatepass import __version__, health
from gatepass.api import card, docs, public, scan
from gatepass.api.admission import admit, call_of, route_path
from gatepass.api.errors import InternalError, MethodNotAllowed, NotFound, answer
from gatepass.api.gatehouse import Gatehouse
from gatepass.api.lane import ExpressLane
from gatepass.api.reception import Reception
from gatepass.base.clock import Clock, system_clock
from gatepass.base.refusals import InvalidRequest, Refusal
from gatepass.base.settings import BASE_PATH, Settings

__all__ = ["Gatehouse", "create_app"]


def create_app(settings: Settings, clock: Clock = system_clock) -> Reception:
    house = Gatehouse(settings, clock)
    lane = ExpressLane(
        routes(house),
        house,
        {("POST", "/scan"): scan.answer_scan, ("GET", "/card/verify"): card.answer_verification},
    )
    return Reception(lane, house)


def routes(house: Gatehouse) -> FastAPI:
    app = FastAPI(
        title="Gatepass",
        version=__version__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
    )
    app.state.house = house
    app.state.db = house.db
    app.state.base_path = BASE_PATH
    for router in public.ROUTERS:
        app.include_router(router, prefix=BASE_PATH)
    app.include_router(health.router)
    app.include_router(docs.router)
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(RequestValidationError, _not_understood)
    app.add_exception_handler(HTTPException, _no_such_route)
    app.add_exception_handler(Exception, _broken)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
    house: Gatehouse = app.state.house
    house.open()
    yield
    await house.close()


async def _refused(request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)  # noqa: S101  registered for nothing else
    call = call_of(request)
    call.code = refusal.code
    return answer(refusal, call.caller.mode if call.caller else None).response()


async def _broken(request: Request, _error: Exception) -> Response:
    """A fault of ours. Starlette raises it again after this answer, and reception logs it."""
    return await _refused(request, InternalError())


async def _not_understood(request: Request, _error: Exception) -> Response:
    return await _refused(request, InvalidRequest())


async def _no_such_route(request: Request, error: Exception) -> Response:
    """An unknown path or method. Under the API it is still a call: it needs a key, counts, and is audited."""
    assert isinstance(error, HTTPException)  # noqa: S101  registered for nothing else
    refusal = {404: NotFound, 405: MethodNotAllowed}.get(error.status_code, InternalError)()
    if request.url.path.startswith(BASE_PATH + "/"):
        call_of(request).path = route_path(request)
        try:
            await admit(request.app.state.house, call_of(request), request.headers.get("authorization"), None)
        except Refusal as earlier:
            return await _refused(request, earlier)
    response = await _refused(request, refusal)
    response.headers.update(error.headers or {})
    if methods := public.METHODS.get(call_of(request).path):
        response.headers["Allow"] = ", ".join(sorted(methods))
    return response
