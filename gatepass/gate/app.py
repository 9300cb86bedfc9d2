"""The scanner as one ASGI application: its files below `/gate`, behind the middleware. It needs no database.

Pairing, `/gate/pair/…`, is the API's: the app calls it, as it calls everything else of the API.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from prometheus_client import CollectorRegistry, start_http_server
from starlette.exceptions import HTTPException

from gatepass import health, security_txt
from gatepass.base.clock import Clock, system_clock
from gatepass.base.settings import Settings
from gatepass.gate import assets, errors
from gatepass.gate.middleware import Middleware


def create_app(settings: Settings, clock: Clock = system_clock) -> Middleware:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=_lifespan)
    app.state.settings = settings
    app.state.registry = CollectorRegistry()
    app.state.readiness = health.AlwaysReady()
    app.state.cell = settings.cell
    app.include_router(health.router)
    app.include_router(security_txt.router(settings, clock))
    app.include_router(assets.router)
    app.add_exception_handler(HTTPException, errors.no_such_page)
    return Middleware(app, settings)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None]:
    """Of a process that serves the scanner alone: the metrics have a port of their own. Port 0 serves none."""
    settings: Settings = app.state.settings
    if not settings.metrics_port:
        yield
        return
    server, _ = start_http_server(settings.metrics_port, addr=settings.host, registry=app.state.registry)
    yield
    server.shutdown()
    server.server_close()
