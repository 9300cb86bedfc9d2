"""`gatepass serve`: the API and the studio, one process of them.

Run as many as there are cores; they share nothing but PostgreSQL. Where many gates scan, let some processes open
only one of the two doors, so that no page ever shares a process with a gate.
"""

from typing import Annotated

import typer

from gatepass import __version__
from gatepass.base import log
from gatepass.base.settings import Settings
from gatepass.cli import environment, listening
from gatepass.cli.announcing import announce
from gatepass.cli.doors import Door, Doors


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on, above GATEPASS_HOST.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes any that is free.")
    ] = None,
    only: Annotated[Door | None, typer.Option(help="Open one door; without this, both.")] = None,
) -> None:
    """Serve the API and the studio until told to stop."""
    settings = environment.read_with_vault(host=host, port=port)
    bound = listening.bind(settings.host, settings.port)
    address = listening.url_of(settings.host, bound)
    if "public_url" not in settings.model_fields_set:
        settings = settings.model_copy(update={"public_url": address})
    if settings.metrics_port:
        listening.require_free(settings.host, settings.metrics_port, "GATEPASS_METRICS_PORT")
    doors = application(settings, only)
    server = listening.Server(
        listening.config(doors),
        stopping=doors.stop,
        ready=lambda: announce(f"Gatepass {__version__} listens on {address}"),
    )
    listening.run(server, bound)


def application(settings: Settings, only: Door | None = None) -> Doors:
    log.configure(settings.log_level, settings.log_format)
    return Doors(settings, only)


def application_from_environment() -> Doors:
    """For uvicorn's reloader, which makes the application in a process of its own."""
    return application(environment.read_with_vault())
