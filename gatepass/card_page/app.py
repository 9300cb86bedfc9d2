"""The card page as one ASGI application: its routes below `/c`, behind the middleware."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from gatepass import health, security_txt
from gatepass.base.clock import Clock, system_clock
from gatepass.base.errors import Refusal
from gatepass.base.settings import Settings
from gatepass.card_page import assets, errors, look, page, phones, stream, wallets
from gatepass.card_page.middleware import Middleware
from gatepass.card_page.process import CardPages

ROOT: Final = "/c"
# Static files come first: `static` and `worker.js` are no tokens.
ROUTERS: Final[tuple[APIRouter, ...]] = (
    assets.router,
    look.router,
    page.router,
    stream.router,
    phones.router,
    wallets.offers,
    wallets.updates,
)


def create_app(settings: Settings, clock: Clock = system_clock) -> Middleware:
    pages = CardPages(settings, clock)
    app = routes(pages)
    return Middleware(app, pages)


def routes(pages: CardPages) -> FastAPI:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=_lifespan)
    app.state.card_pages = pages
    app.state.readiness = pages.readiness
    app.state.cell = pages.settings.cell
    app.include_router(health.router)
    app.include_router(security_txt.router(pages.settings, pages.clock))
    for router in ROUTERS:
        app.include_router(router, prefix=ROOT)
    app.add_exception_handler(Refusal, errors.refused)
    app.add_exception_handler(RequestValidationError, errors.malformed_url)
    app.add_exception_handler(HTTPException, errors.no_such_route)
    app.add_exception_handler(ClientDisconnect, errors.hung_up)
    app.add_exception_handler(Exception, errors.internal_error)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None]:
    pages: CardPages = app.state.card_pages
    settings = pages.settings
    with pages.metrics.served(settings.host, settings.metrics_port):
        async with pages.opened(), pages.readiness.watched():
            yield
