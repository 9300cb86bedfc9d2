"""`gatepass dev`: everything on this machine, with one command: PostgreSQL, schema, demo, API, worker, documentation.

Its files are in `./.gatepass`. A variable that the environment sets is left as it is.
"""

import asyncio
import os
import socket
import threading
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Final
from uuid import UUID

import typer
import uvicorn
from rich.console import Console
from uvicorn.supervisors import ChangeReload

import gatepass
from gatepass.base.settings import BASE_PATH, Settings
from gatepass.cli import database, running_dev
from gatepass.cli.commands import migrate, serve
from gatepass.cli.dev import files, first_scan, postgres
from gatepass.cli.errors import WRONG_STATE
from gatepass.cli.settings import read_settings, read_settings_with_vault, variable
from gatepass.domain import sandbox
from gatepass.server import run
from gatepass.server.connections import Connections

# Seconds that the worker may take to finish its deliveries.
GRACE_SECONDS: Final = 16
FIRST_CARD: Final = "TEST_VALID"
# The variables that another command needs to reach the same database and to make links that open here.
FOR_OTHERS: Final = tuple(map(variable, ("database_url", "encryption_keys", "public_url", "cell", "former_cells")))


def dev(
    *,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes any that is free.")
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Make the demo again, from the beginning.")] = False,
    reload: Annotated[bool, typer.Option("--reload", help="Start the API again when its code changes.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Make the first scan, show the answer, and stop.")] = False,
) -> None:
    """Start everything on this machine: PostgreSQL, schema, demo, API, worker and documentation."""
    run.stop_on_sigterm()
    console = Console(highlight=False, soft_wrap=True)
    found = read_settings(port=port)
    bound = run.bind(found.host, found.port)
    with ExitStack() as started:
        _set_defaults(started, console, found, bound)
        _migrate(console)
        settings, studio = _build_demo(console, reset=reset)
        started.enter_context(
            running_dev.announced({name: os.environ[name] for name in FOR_OTHERS if name in os.environ})
        )
        started.enter_context(_worker_running(settings))
        if reload and not check:
            _print_addresses(console, settings, studio)
            _serve_reloading(bound)
        elif not _serve(console, settings, studio, bound, check=check):
            raise typer.Exit(WRONG_STATE)


def _set_defaults(started: ExitStack, console: Console, found: Settings, bound: socket.socket) -> None:
    """Set what the environment leaves open, in the environment itself: the reloader's process reads it there."""
    defaults = {
        "public_url": run.url_of(found.host, bound),
        "metrics_port": "0",
        "log_format": "console",
        "worker_metrics_port": "0",
        # A developer's receiver listens on this machine.
        "webhook_allow_private": "1",
    }
    if "encryption_keys" not in found.model_fields_set:
        defaults["encryption_keys"] = files.encryption_key()
    with _step(console, "Starting PostgreSQL") as message:
        if "database_url" not in found.model_fields_set:
            defaults["database_url"] = started.enter_context(postgres.running(files.POSTGRES))
        os.environ.update(
            {variable(name): value for name, value in defaults.items() if name not in found.model_fields_set}
        )
        os.environ[variable("port")] = str(bound.getsockname()[1])
        settings = read_settings()
        server = asyncio.run(migrate.reached(settings))
        place = database.where(settings.database_url.get_secret_value())
        message.append(f"PostgreSQL {server.version} answers at {place}")


def _migrate(console: Console) -> None:
    with _step(console, "Migrating") as message:
        message.append(f"The schema is at {migrate.bring_up(read_settings())[0]}")


def _build_demo(console: Console, *, reset: bool) -> tuple[Settings, str]:
    """The settings, with the demo's sandbox key for the documentation to fill in, and a link into the studio."""
    with _step(console, "Making the demo") as message:
        shown, is_new = asyncio.run(files.demo_of(read_settings_with_vault(), reset=reset))
        message.append(f"The demo is {'made' if is_new else 'there'}, its keys and cards in {files.DEMO}")
    os.environ[variable("docs_key")] = shown["keys"]["sandbox"]
    settings = read_settings()
    files.write_environment({"GATEPASS_BASE_URL": settings.base_url, "GATEPASS_API_KEY": shown["keys"]["sandbox"]})
    return settings, asyncio.run(files.studio_link(settings, UUID(shown["organization_id"])))


@contextmanager
def _worker_running(settings: Settings) -> Generator[None]:
    """Run the worker in a thread of its own: the reloader needs this one."""
    stop = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(_work_until(stop, settings)), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(GRACE_SECONDS)


async def _work_until(stop: threading.Event, settings: Settings) -> None:
    from gatepass.worker.worker import Worker  # noqa: PLC0415

    worker = Worker(settings)
    stopped = asyncio.create_task(asyncio.to_thread(stop.wait))
    stopped.add_done_callback(lambda _: worker.stop())
    await worker.run()


def _serve(console: Console, settings: Settings, studio: str, bound: socket.socket, *, check: bool) -> bool:
    """Serve until stopped, or, for a check, until the first scan is answered; whether all went well."""
    answers: list[int] = []

    def scan_once() -> None:
        try:
            address = run.url_of(settings.host, bound) + BASE_PATH
            status, body = first_scan.scan(address, _key(settings), str(sandbox.EVENT_ID), FIRST_CARD)
            answers.append(status)
            console.print(f"\n{status} {body}", markup=False)
        finally:
            server.should_exit = True

    def ready() -> None:
        _print_addresses(console, settings, studio)
        if check:
            threading.Thread(target=scan_once).start()

    with _step(console, "Loading the API") as message:
        app = serve.application(settings)
        server = run.Server(app, app.connections, ready, app.stop)
        message.append("The API is loaded")
    run.run(server, bound)
    return not check or answers == [200]


def _serve_reloading(bound: socket.socket) -> None:
    package = str(Path(gatepass.__file__).parent)
    application = f"{serve.__name__}:{serve.application_from_environment.__name__}"
    connections = Connections.of(read_settings())
    config = run.config(application, connections, factory=True, reload=True, reload_dirs=[package])
    bound.set_inheritable(True)
    ChangeReload(config, target=uvicorn.Server(config).run, sockets=[bound]).run()


def _print_addresses(console: Console, settings: Settings, studio: str) -> None:
    key = _key(settings)
    console.print(f"\nAPI      {settings.base_url}")
    console.print(f"Docs     {settings.public_url}/docs")
    console.print(f"Studio   {studio} [dim](signs you in, once)[/dim]")
    console.print(f"         [dim]Another link: gatepass person link {files.DEVELOPER}[/dim]")
    console.print(f"Sandbox  {key}")
    console.print(f"\nA first scan to paste ([bold]source {files.ENVIRONMENT}[/bold] sets the URL and the key):\n")
    command = first_scan.scan_command(settings.base_url, key, str(sandbox.EVENT_ID), FIRST_CARD)
    console.print(command, markup=False)
    console.print("\nCtrl-C stops everything.")


def _key(settings: Settings) -> str:
    return settings.docs_key.get_secret_value() if settings.docs_key else ""


@contextmanager
def _step(console: Console, doing: str) -> Generator[list[str]]:
    """Show a spinner while the block runs, then a tick with its message and how long it took."""
    began = time.perf_counter()
    message: list[str] = []
    with console.status(doing):
        yield message
    console.print(f"[green]✓[/green] {' '.join(message)} [dim]{time.perf_counter() - began:.1f} s[/dim]")
