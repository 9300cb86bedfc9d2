"""The studio as one ASGI application: every section in one list, reception in front."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from gatepass import health
from gatepass.base.clock import Clock, system_clock
from gatepass.base.refusals import Refusal
from gatepass.base.settings import Settings
from gatepass.studio import (
    account,
    account_passkeys,
    arrival,
    audit,
    card_printing,
    cards,
    confirm,
    covers,
    door,
    erasure,
    event_categories,
    event_editing,
    event_list,
    events,
    find,
    home,
    imports,
    key_ending,
    keys,
    refusals,
    requests,
    sign_in,
    static_files,
    team,
    tickets,
    webhook_deliveries,
    webhook_playground,
    webhook_replays,
    webhook_secrets,
    webhooks,
    welcome,
)
from gatepass.studio import settings as settings_page
from gatepass.studio.drawing import ROOT
from gatepass.studio.entrance import GoElsewhere
from gatepass.studio.house import Studio
from gatepass.studio.reception import Reception

# Pages that know no mode come first: `/studio/sign-in` is not a mode.
ROUTERS: Final[tuple[APIRouter, ...]] = (
    static_files.router,
    arrival.router,
    sign_in.router,
    welcome.router,
    confirm.router,
    account.router,
    account_passkeys.router,
)
# The sections, in the order of the menu; each at /studio/{mode}/….
SECTIONS: Final[tuple[APIRouter, ...]] = (
    home.router,
    find.router,
    event_list.router,
    event_editing.router,
    event_categories.router,
    events.router,
    door.router,
    imports.router,
    tickets.router,
    cards.router,
    card_printing.router,
    keys.router,
    key_ending.router,
    requests.router,
    # Its parts first: their names stand where the section's own pages have an id.
    webhook_playground.router,
    webhook_secrets.router,
    webhook_deliveries.router,
    webhook_replays.router,
    webhooks.router,
    audit.router,
    team.router,
    erasure.router,
    settings_page.router,
)


def create_app(settings: Settings, clock: Clock = system_clock) -> Reception:
    studio = Studio(settings, clock)
    return Reception(routes(studio), studio)


def routes(studio: Studio) -> FastAPI:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=_lifespan)
    app.state.studio = studio
    app.state.db = studio.db
    app.include_router(health.router)
    app.include_router(covers.router)
    for router in ROUTERS:
        app.include_router(router, prefix=ROOT)
    for router in SECTIONS:
        app.include_router(router, prefix=ROOT + "/{mode}")
    app.add_exception_handler(Refusal, refusals.refused)
    app.add_exception_handler(GoElsewhere, refusals.elsewhere)
    app.add_exception_handler(RequestValidationError, refusals.not_understood)
    app.add_exception_handler(HTTPException, refusals.no_such_route)
    app.add_exception_handler(Exception, refusals.broken)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None]:
    studio: Studio = app.state.studio
    settings = studio.settings
    with studio.metrics.served(settings.host, settings.metrics_port):
        async with studio.opened():
            yield
