"""`gatepass serve`: the API, one process of it. Run as many as there are cores; they share nothing but PostgreSQL."""

from typing import Annotated

import typer
from starlette.types import ASGIApp

from gatepass import __version__
from gatepass.base import log
from gatepass.base.settings import Settings
from gatepass.cli import environment, listening


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on, above GATEPASS_HOST.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes any that is free.")
    ] = None,
) -> None:
    """Serve the API until told to stop."""
    settings = environment.read_with_vault(host=host, port=port)
    bound = listening.bind(settings.host, settings.port)
    address = listening.url_of(settings.host, bound)
    if "public_url" not in settings.model_fields_set:
        settings = settings.model_copy(update={"public_url": address})
    if settings.metrics_port:
        listening.require_free(settings.host, settings.metrics_port, "GATEPASS_METRICS_PORT")
    server = listening.Server(
        listening.config(application(settings)),
        ready=lambda: print(f"Gatepass {__version__} listens on {address}", flush=True),
    )
    listening.run(server, bound)


def application(settings: Settings) -> ASGIApp:
    # FastAPI and Alembic take more than a second to import; `gatepass --help` should not wait for them.
    from gatepass.api.app import create_app  # noqa: PLC0415

    log.configure(settings.log_level, settings.log_format)
    return create_app(settings)


def application_from_environment() -> ASGIApp:
    """For uvicorn's reloader, which makes the application in a process of its own."""
    return application(environment.read_with_vault())
