"""`gatepass serve`: the API, the studio, card pages and the scanner, one process of them.

Run one process for each core; they share nothing but PostgreSQL. Where many gates scan, start some with `--only`,
so that no page shares a process with a gate.
"""

import gc
from typing import Annotated

import typer

from gatepass import __version__
from gatepass.base import log
from gatepass.base.log.background import write_in_background
from gatepass.base.settings import Settings
from gatepass.cli import valkey
from gatepass.cli.errors import WRONG_USAGE, CommandError
from gatepass.cli.settings import read_settings_with_vault, variable
from gatepass.server import run
from gatepass.server.combined_app import CombinedApp, Interface


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on, above GATEPASS_HOST.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes any that is free.")
    ] = None,
    only: Annotated[Interface | None, typer.Option(help="Serve one interface; without this, all.")] = None,
) -> None:
    """Serve the API, the studio, card pages and the scanner until told to stop."""
    settings = read_settings_with_vault(host=host, port=port)
    _require_valkey(settings, only)
    if settings.port and settings.port == settings.metrics_port:
        raise CommandError(
            f"{variable('metrics_port')}: port {settings.port} is that of the API. Choose another; 0 turns it off.",
            code=WRONG_USAGE,
        )
    bound = run.bind(settings.host, settings.port)
    address = run.url_of(settings.host, bound)
    if "public_url" not in settings.model_fields_set:
        settings = settings.model_copy(update={"public_url": address})
    if settings.metrics_port:
        run.require_free(settings.host, settings.metrics_port, variable("metrics_port"))
    gc.disable()  # until the server is ready: what is made before stays
    lines_lost = write_in_background()
    app = application(settings, only)
    app.registry.register(lines_lost)
    server = run.Server(
        app,
        app.connections,
        stopping=app.stop,
        ready=lambda: run.announce_ready(f"Gatepass {__version__} listens on {address}"),
    )
    run.run(server, bound)


def _require_valkey(settings: Settings, only: Interface | None) -> None:
    if (
        settings.valkey_url
        and only in (None, Interface.API)
        and not valkey.has_form(settings.valkey_url.get_secret_value())
    ):
        raise CommandError(f"{variable('valkey_url')}: {valkey.FORM}.", code=WRONG_USAGE)


def application(settings: Settings, only: Interface | None = None) -> CombinedApp:
    log.configure(settings.log_level, settings.log_format)
    return CombinedApp(settings, only)


def application_from_environment() -> CombinedApp:
    """For uvicorn's reloader, which makes the application in a process of its own."""
    return application(read_settings_with_vault())
