"""`gatepass dev`: everything on this machine, with one command: PostgreSQL, schema, demo, API, worker, documentation.

What it makes lies in `./.gatepass`. What the environment sets already is left as it is.
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
from gatepass.cli import environment, keeping, listening, migrate, postgres, reaching, serve, trying
from gatepass.cli.environment import variable
from gatepass.cli.stopping import stop_like_interrupt
from gatepass.cli.trouble import WRONG_STATE
from gatepass.domain import sandbox

# How long the worker may finish what it has in hand.
GRACE_SECONDS: Final = 16
FIRST_CARD: Final = "TEST_VALID"


def dev(
    *,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes any that is free.")
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Make the demo anew.")] = False,
    reload: Annotated[bool, typer.Option("--reload", help="Start the API again when its code changes.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Make the first scan, show the answer, and stop.")] = False,
) -> None:
    """Start everything on this machine: PostgreSQL, schema, demo, API, worker and documentation."""
    stop_like_interrupt()
    console = Console(highlight=False, soft_wrap=True)
    found = environment.read(port=port)
    bound = listening.bind(found.host, found.port)
    with ExitStack() as started:
        _provide(started, console, found, bound)
        _migrate(console)
        settings, studio = _furnish(console, reset=reset)
        started.enter_context(_working(settings))
        if reload and not check:
            _welcome(console, settings, studio)
            _serve_reloading(bound)
        elif not _serve(console, settings, studio, bound, check=check):
            raise typer.Exit(WRONG_STATE)


def _provide(started: ExitStack, console: Console, found: Settings, bound: socket.socket) -> None:
    """Set what the environment leaves open. In the environment itself, because the reloader's process reads that."""
    provided = {
        "public_url": listening.url_of(found.host, bound),
        "metrics_port": "0",
        "log_format": "console",
        "worker_metrics_port": "0",
        # What a developer builds listens on this machine.
        "webhook_allow_private": "1",
    }
    if "encryption_keys" not in found.model_fields_set:
        provided["encryption_keys"] = keeping.encryption_key()
    with _step(console, "Starting PostgreSQL") as said:
        if "database_url" not in found.model_fields_set:
            provided["database_url"] = started.enter_context(postgres.running(keeping.POSTGRES))
        os.environ.update(
            {variable(name): value for name, value in provided.items() if name not in found.model_fields_set}
        )
        os.environ[variable("port")] = str(bound.getsockname()[1])
        settings = environment.read()
        server = asyncio.run(migrate.reached(settings))
        place = reaching.where(settings.database_url.get_secret_value())
        said.append(f"PostgreSQL {server.version} answers at {place}")


def _migrate(console: Console) -> None:
    with _step(console, "Migrating") as said:
        said.append(f"The schema is at {migrate.bring_up(environment.read())[0]}")


def _furnish(console: Console, *, reset: bool) -> tuple[Settings, str]:
    """The settings, with the demo's sandbox key for the documentation to fill in, and a link into the studio."""
    with _step(console, "Making the demo") as said:
        shown, is_new = asyncio.run(keeping.demo_of(environment.read_with_vault(), reset=reset))
        said.append(f"The demo is {'made' if is_new else 'there'}, its keys and cards in {keeping.DEMO}")
    os.environ[variable("docs_key")] = shown["keys"]["sandbox"]
    settings = environment.read()
    keeping.write_environment({"GATEPASS_BASE_URL": settings.base_url, "GATEPASS_API_KEY": shown["keys"]["sandbox"]})
    return settings, asyncio.run(keeping.studio_link(settings, UUID(shown["organization_id"])))


@contextmanager
def _working(settings: Settings) -> Generator[None]:
    """The worker in the background, in a thread: the reloader keeps this one for itself."""
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
    told = asyncio.create_task(asyncio.to_thread(stop.wait))
    told.add_done_callback(lambda _: worker.stop())
    await worker.run()


def _serve(console: Console, settings: Settings, studio: str, bound: socket.socket, *, check: bool) -> bool:
    """Serve until told to stop, or, for a check, until the first scan is answered; whether all was well."""
    answers: list[int] = []

    def first_scan() -> None:
        try:
            address = listening.url_of(settings.host, bound) + BASE_PATH
            status, body = trying.scan(address, _key(settings), str(sandbox.EVENT_ID), FIRST_CARD)
            answers.append(status)
            console.print(f"\n{status} {body}", markup=False)
        finally:
            server.should_exit = True

    def ready() -> None:
        _welcome(console, settings, studio)
        if check:
            threading.Thread(target=first_scan).start()

    with _step(console, "Opening the door") as said:
        doors = serve.application(settings)
        server = listening.Server(listening.config(doors), ready, doors.stop)
        said.append("The API is loaded")
    listening.run(server, bound)
    return not check or answers == [200]


def _serve_reloading(bound: socket.socket) -> None:
    package = str(Path(gatepass.__file__).parent)
    application = f"{serve.__name__}:{serve.application_from_environment.__name__}"
    config = listening.config(application, factory=True, reload=True, reload_dirs=[package])
    bound.set_inheritable(True)
    ChangeReload(config, target=uvicorn.Server(config).run, sockets=[bound]).run()


def _welcome(console: Console, settings: Settings, studio: str) -> None:
    key = _key(settings)
    console.print(f"\nAPI      {settings.base_url}")
    console.print(f"Docs     {settings.public_url}/docs")
    console.print(f"Studio   {studio} [dim](signs you in, once)[/dim]")
    console.print(f"Sandbox  {key}")
    console.print(f"\nA first scan to paste ([bold]source {keeping.ENVIRONMENT}[/bold] sets the URL and the key):\n")
    command = trying.scan_command(settings.base_url, key, str(sandbox.EVENT_ID), FIRST_CARD)
    console.print(command, markup=False)
    console.print("\nCtrl-C stops everything.")


def _key(settings: Settings) -> str:
    return settings.docs_key.get_secret_value() if settings.docs_key else ""


@contextmanager
def _step(console: Console, doing: str) -> Generator[list[str]]:
    """A spinner while it lasts, then a tick with what was said and how long it took."""
    began = time.perf_counter()
    said: list[str] = []
    with console.status(doing):
        yield said
    console.print(f"[green]✓[/green] {' '.join(said)} [dim]{time.perf_counter() - began:.1f} s[/dim]")
