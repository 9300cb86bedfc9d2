"""The documentation as a lever: its script has megabytes, and anybody may ask for it."""

import gzip
import socket
from collections.abc import Generator
from contextlib import ExitStack

import pytest

from gatepass.api.openapi.docs_page import OPENAPI, SCALAR, STATIC
from tests.postgres import free_port
from tests.processes import GatepassProcess, serve
from tests.server.raw_http import one, request, resident_kb

pytestmark = pytest.mark.finding(4)

SCRIPT = f"/docs/{SCALAR}"
CALLERS = 60
ACCEPTED = {"gzip": "gzip", "identity": "identity", "nothing": "", "everything but gzip": "gzip;q=0, *;q=0"}


def unread(started: ExitStack, port: int, raw: bytes) -> socket.socket:
    """A connection that sends this, and reads the first byte of the response only."""
    connection = started.enter_context(socket.socket())
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(20)
    connection.connect(("127.0.0.1", port))
    connection.sendall(raw)
    return connection


@pytest.mark.parametrize("accepted", ACCEPTED)
@pytest.mark.parametrize("path", [SCRIPT, OPENAPI, "/studio/static/studio.css"])
def test_callers_that_do_not_read_cost_little(server: GatepassProcess, path: str, accepted: str) -> None:
    raw = request("GET", path, [("Accept-Encoding", ACCEPTED[accepted])])
    assert one(server.port, raw).status == 200
    before = resident_kb(server)
    with ExitStack() as started:
        connections = [unread(started, server.port, raw) for _ in range(CALLERS)]
        for connection in connections:
            assert connection.recv(1) == b"H"
        # The process has begun to write to all of them; it answers others meanwhile.
        assert one(server.port, request("GET", "/livez")).status == 200
        grown = resident_kb(server) - before
    print(f"{CALLERS} callers of {path} ({accepted}) that do not read: {grown / 1024:.1f} MB")
    assert grown < 32 * 1024


@pytest.mark.parametrize("accepted", ACCEPTED)
async def test_a_caller_that_reads_gets_the_whole_script(server: GatepassProcess, accepted: str) -> None:
    packed = (STATIC / "scalar" / "standalone.js.gz").read_bytes()
    async with server.client() as client:
        answer = await client.get(server.url + SCRIPT, headers={"Accept-Encoding": ACCEPTED[accepted]})
    assert answer.content == gzip.decompress(packed)
    assert answer.headers.get("content-encoding") == ("gzip" if accepted == "gzip" else None)


@pytest.fixture(scope="module")
def without_pages(settings_env: dict[str, str]) -> Generator[GatepassProcess]:
    process = serve({**settings_env, "GATEPASS_DOCS_PAGES": "0"}, free_port())
    yield process
    process.stop()


@pytest.mark.parametrize("path", ["/", "/docs", "/docs/", SCRIPT, "/docs/docs.js", "/docs/config.json"])
def test_the_pages_can_be_turned_off(without_pages: GatepassProcess, path: str) -> None:
    assert one(without_pages.port, request("GET", path)).status == 404
    assert one(without_pages.port, request("HEAD", OPENAPI)).status == 200
