"""The studio as one ASGI application: every section in one list, behind the middleware."""

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
from gatepass.studio import assets, documents, errors
from gatepass.studio.account import (
    address,
    joining,
    links,
    notices,
    passkeys,
    profile,
    reauthenticate,
    sign_in,
    sign_up,
)
from gatepass.studio.devices import devices, pairing
from gatepass.studio.events import announcements, categories, covers, edit, event, incidents, live
from gatepass.studio.events import list as event_list
from gatepass.studio.keys import keys, rotation
from gatepass.studio.middleware import Middleware
from gatepass.studio.organization import (
    access,
    audit_log,
    belongings,
    card_page,
    home,
    old_addresses,
    request_log,
    search,
    team,
)
from gatepass.studio.organization import settings as settings_page
from gatepass.studio.services.studio import Studio
from gatepass.studio.services.templates import ROOT
from gatepass.studio.services.templates import SECTIONS as PREFIX
from gatepass.studio.tickets import (
    card_files,
    card_links,
    cards,
    erasure,
    holders,
    imports,
    lead,
    letting_in,
    mailings,
    tickets,
)
from gatepass.studio.web.auth import RedirectRequired
from gatepass.studio.web.tab import MadeElsewhere
from gatepass.studio.webhooks import deliveries, endpoints, playground, replays, secrets

# Pages of a person, and pages for strangers: no organization and no mode is in their addresses.
ROUTERS: Final[tuple[APIRouter, ...]] = (
    assets.router,
    documents.router,
    links.router,
    sign_in.router,
    sign_up.router,
    joining.router,
    reauthenticate.router,
    profile.router,
    passkeys.router,
    address.router,
    notices.router,
    lead.scanner_link,
)
# The sections, in the order of the menu; each at /studio/o/{organization}/{mode}/….
SECTIONS: Final[tuple[APIRouter, ...]] = (
    home.router,
    search.router,
    event_list.router,
    edit.router,
    categories.router,
    announcements.router,
    event.router,
    live.router,
    incidents.router,
    imports.router,
    card_files.router,
    mailings.router,
    tickets.router,
    cards.router,
    card_links.router,
    letting_in.router,
    lead.router,
    holders.router,
    # Before devices.router, where an id stands in the place of `pair`.
    pairing.router,
    devices.router,
    keys.router,
    rotation.router,
    request_log.router,
    # Before endpoints.router, where an id stands in the place of their names.
    playground.router,
    secrets.router,
    deliveries.router,
    replays.router,
    endpoints.router,
    audit_log.router,
    belongings.router,
    team.router,
    erasure.router,
    access.router,
    card_page.router,
    settings_page.router,
)


def create_app(settings: Settings, clock: Clock = system_clock) -> Middleware:
    studio = Studio(settings, clock)
    return Middleware(routes(studio), studio)


def routes(studio: Studio) -> FastAPI:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=_lifespan)
    app.state.studio = studio
    app.state.readiness = studio.readiness
    app.state.cell = studio.settings.cell
    app.include_router(health.router)
    app.include_router(security_txt.router(studio.settings, studio.clock))
    app.include_router(covers.router)
    for router in ROUTERS:
        app.include_router(router, prefix=ROOT)
    for router in SECTIONS:
        app.include_router(router, prefix=PREFIX)
    # Last: what every other route leaves.
    app.include_router(old_addresses.router, prefix=ROOT)
    app.add_exception_handler(Refusal, errors.refused)
    app.add_exception_handler(MadeElsewhere, errors.made_elsewhere)
    app.add_exception_handler(RedirectRequired, errors.redirected)
    app.add_exception_handler(RequestValidationError, errors.malformed_url)
    app.add_exception_handler(HTTPException, errors.no_such_route)
    app.add_exception_handler(ClientDisconnect, errors.hung_up)
    app.add_exception_handler(Exception, errors.internal_error)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None]:
    studio: Studio = app.state.studio
    settings = studio.settings
    with studio.metrics.served(settings.host, settings.metrics_port):
        async with studio.opened(), studio.readiness.watched():
            yield
