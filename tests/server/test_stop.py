"""A server process that is stopped closes everything, and says nothing of it."""

import signal

import httpx2

from tests.postgres import free_port
from tests.processes import serve


def test_a_stop_leaves_no_error_in_the_log(settings_env: dict[str, str]) -> None:
    server = serve(settings_env, free_port())
    assert httpx2.get(f"{server.url}/readyz").status_code == 200
    assert server.stop() in (0, -signal.SIGTERM)
    assert [line for line in server.lines if '"level": "error"' in line or "Traceback" in line] == []
