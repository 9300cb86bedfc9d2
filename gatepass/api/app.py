"""The API as one ASGI application: the middleware, then the fast path, then FastAPI with every route."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from gatepass import __version__, health, security_txt
from gatepass.api.auth import authorize, call_of, route_path
from gatepass.api.fast_path import FastPath
from gatepass.api.middleware import HUNG_UP, Middleware
from gatepass.api.openapi import docs_page
from gatepass.api.pairing import routes as pairing
from gatepass.api.responses import InternalError, MethodNotAllowed, NotFound, refusal_reply
from gatepass.api.routes import cards, events, routers, scans
from gatepass.api.state import ApiState
from gatepass.api.tracing import CallTracing
from gatepass.base.clock import Clock, system_clock
from gatepass.base.errors import InvalidRequest, Refusal
from gatepass.base.settings import BASE_PATH, Settings

__all__ = ["ApiState", "create_app"]


def create_app(settings: Settings, clock: Clock = system_clock) -> Middleware:
    state = ApiState(settings, clock)
    fast_path = FastPath(
        routes(state),
        state,
        {
            ("POST", "/scan"): scans.answer_scan,
            ("GET", "/card/verify"): cards.answer_verification,
            ("GET", "/events"): events.answer_events,
            ("GET", "/events/{id}"): events.answer_event,
        },
    )
    return Middleware(fast_path if state.tracer is None else CallTracing(fast_path, state.tracer), state)


def routes(state: ApiState) -> FastAPI:
    app = FastAPI(
        title="Gatepass",
        version=__version__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
    )
    app.state.api_state = state
    app.state.readiness = state.readiness
    app.state.cell = state.settings.cell
    app.state.base_path = BASE_PATH
    for path, methods in routers.HIDDEN.items():
        app.add_api_route(BASE_PATH + path, _wrong_method, methods=sorted(methods), include_in_schema=False)
    for router in routers.ROUTERS:
        app.include_router(router, prefix=BASE_PATH)
    app.include_router(pairing.router)
    app.include_router(health.router)
    app.include_router(security_txt.router(state.settings, state.clock))
    app.include_router(docs_page.source_router)
    if state.settings.docs_pages:
        app.include_router(docs_page.router)
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(RequestValidationError, _not_understood)
    app.add_exception_handler(HTTPException, _no_such_route)
    app.add_exception_handler(ClientDisconnect, _hung_up)
    app.add_exception_handler(Exception, _broken)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
    state: ApiState = app.state.api_state
    state.open()
    async with state.readiness.watched(), state.api_keys.reading_ahead():
        yield
    await state.close()


async def _refused(request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)  # noqa: S101  registered for nothing else
    call = call_of(request)
    call.refuse(refusal)
    return refusal_reply(refusal).response()


async def _broken(request: Request, _error: Exception) -> Response:
    """A fault of ours. Starlette raises it again after this reply, and the middleware logs it."""
    return await _refused(request, InternalError())


async def _hung_up(_request: Request, _error: Exception) -> Response:
    """The caller broke off its body. Nobody reads this reply, but the request log has its status."""
    return Response(status_code=HUNG_UP)


async def _not_understood(request: Request, _error: Exception) -> Response:
    return await _refused(request, InvalidRequest())


async def _wrong_method() -> None:
    raise HTTPException(405)


async def _no_such_route(request: Request, error: Exception) -> Response:
    """An unknown path or method. Under the base path it is still a call: it needs a key, counts, and is logged."""
    assert isinstance(error, HTTPException)  # noqa: S101  registered for nothing else
    refusal = {404: NotFound, 405: MethodNotAllowed}.get(error.status_code, InternalError)()
    if request.url.path.startswith(BASE_PATH + "/"):
        call_of(request).path = route_path(request)
        try:
            await authorize(request.app.state.api_state, call_of(request), request.headers.get("authorization"), None)
        except Refusal as earlier:
            return await _refused(request, earlier)
    response = await _refused(request, refusal)
    response.headers.update(error.headers or {})
    if methods := routers.METHODS.get(call_of(request).path):
        response.headers["Allow"] = ", ".join(sorted(methods))
    return response
