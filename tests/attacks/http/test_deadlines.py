"""Deadlines: who is too slow is cut off, who is merely slow is not. All of them wait at the same time."""

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable, Generator
from uuid import uuid4

import httpx2
import pytest

from gatepass.api.openapi.docs_page import SCALAR
from gatepass.base.settings import BASE_PATH
from gatepass.domain import staff
from gatepass.studio.services.templates import root_of
from gatepass.studio.web import cookies
from tests import factory
from tests.factory import Tenant
from tests.faults.gates import wait_for
from tests.postgres import free_port
from tests.processes import GatepassProcess, page_of, serve
from tests.server.raw_http import request

pytestmark = pytest.mark.finding(5)

DEADLINE = 2
# Those who are not cut off by then are left alone.
LONG_ENOUGH = 3 * DEADLINE
MAX_CONNECTIONS = 40
FORM = ("Content-Type", "application/x-www-form-urlencoded")
SAME_SITE = ("Sec-Fetch-Site", "same-origin")
SCRIPT = request("GET", f"/docs/{SCALAR}", [("Accept-Encoding", "identity")])


class Caller:
    """A connection, and for how long the other side leaves it open."""

    def __init__(self, port: int) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._socket.setblocking(False)
        self._port = port
        self.began = time.monotonic()

    async def send(self, raw: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self._socket, raw)

    async def read(self, size: int = 65536) -> bytes:
        return await asyncio.get_running_loop().sock_recv(self._socket, size)

    async def connect(self) -> None:
        await asyncio.get_running_loop().sock_connect(self._socket, ("127.0.0.1", self._port))

    async def drip(self, piece: bytes, every: float) -> None:
        while True:
            await self.send(piece)
            await asyncio.sleep(every)

    async def read_all(self, *, every: float = 0.0) -> None:
        """Read until the other side closes the connection."""
        while await self.read():  # noqa: ASYNC110  it reads slowly
            await asyncio.sleep(every)

    def close(self) -> None:
        self._socket.close()


async def says_nothing(caller: Caller, _session: str) -> None:
    await caller.read_all()


async def drips_a_head(caller: Caller, _session: str) -> None:
    await caller.send(b"GET /livez HTTP/1.1\r\nHost: a\r\nX: ")
    await caller.drip(b"x", 0.2)


async def drips_a_second_head(caller: Caller, _session: str) -> None:
    await caller.send(request("GET", "/livez"))
    await caller.read()
    await caller.send(b"GET /livez HTTP/1.1\r\nHost: a\r\nX: ")
    await caller.drip(b"x", 0.2)


async def drips_a_body(caller: Caller, _session: str) -> None:
    await caller.send(request("POST", "/studio/sign-in", [SAME_SITE, FORM, ("Content-Length", "60000")]))
    await caller.drip(b"x", 0.2)


async def drips_chunks(caller: Caller, _session: str) -> None:
    await caller.send(request("POST", "/studio/sign-in", [SAME_SITE, FORM, ("Transfer-Encoding", "chunked")]))
    await caller.drip(b"1\r\nx\r\n", 0.2)


async def drips_after_the_response(caller: Caller, _session: str) -> None:
    await caller.send(request("POST", BASE_PATH + "/scan", [("Content-Length", "60000")]))
    assert (await caller.read()).startswith(b"HTTP/1.1 401")
    await caller.drip(b"x", 0.2)


async def does_not_read(caller: Caller, _session: str) -> None:
    await caller.send(SCRIPT)
    # The server has cut it off when a byte more is answered with a reset.
    await caller.drip(b"G", 0.2)


async def sends_a_form_slowly(caller: Caller, _session: str) -> None:
    await caller.send(request("POST", "/studio/sign-in", [SAME_SITE, FORM, ("Content-Length", "60000")]))
    await caller.drip(b"x" * 2000, 0.25)


async def reads_slowly(caller: Caller, _session: str) -> None:
    await caller.send(SCRIPT)
    await caller.read_all(every=0.5)


async def watches_an_event(caller: Caller, session: str) -> None:
    await caller.send(session.encode())
    await caller.read_all()


CUT_OFF = {
    says_nothing: "slow_head",
    drips_a_head: "slow_head",
    drips_a_second_head: "slow_head",
    drips_a_body: "slow_body",
    drips_chunks: "slow_body",
    drips_after_the_response: "slow_body",
    does_not_read: "unread_response",
}
LEFT_ALONE = [sends_a_form_slowly, reads_slowly, watches_an_event]
Outcomes = dict[str, float | None]


@pytest.fixture(scope="module")
def hurried(settings_env: dict[str, str]) -> Generator[GatepassProcess]:
    deadlines = {f"GATEPASS_{part}_DEADLINE": str(DEADLINE) for part in ("HEAD", "BODY", "WRITE")}
    more = {"GATEPASS_MAX_CONNECTIONS": str(MAX_CONNECTIONS), "GATEPASS_METRICS_PORT": str(free_port())}
    process = serve({**settings_env, **deadlines, **more}, free_port())
    yield process
    process.stop()


@pytest.fixture(scope="module")
async def stream(db: factory.Database) -> str:
    """The request for the live stream of an event, by somebody who is signed in."""
    tenant = await factory.tenant(db)
    async with tenant.db.transaction() as tx:
        person = await staff.enrol(tx, f"{uuid4()}@example.org", "Ada", at=factory.now())
        await staff.join(tx, tenant.id, person.id, staff.Role.OWNER, by=factory.BY, at=factory.now())
        token = await staff.begin(tx, person.id, at=factory.now(), address=None, browser="tests", confirmed=True)
    session = ("Cookie", f"{cookies.SESSION}={token}")
    return request("GET", f"{root_of(tenant.id, 'live')}/events/{tenant.event_id}/live/stream", [session]).decode()


@pytest.fixture(scope="module")
async def outcomes(hurried: GatepassProcess, stream: str) -> Outcomes:
    """For how many seconds each caller was left alone; None if for long enough."""

    async def outcome(behaviour: Callable[[Caller, str], Awaitable[None]]) -> float | None:
        caller = Caller(hurried.port)
        await caller.connect()
        try:
            async with asyncio.timeout(LONG_ENOUGH):
                await behaviour(caller, stream)
        except TimeoutError:
            return None
        except ConnectionError:
            pass
        finally:
            caller.close()
        return time.monotonic() - caller.began

    behaviours = [*CUT_OFF, *LEFT_ALONE]
    found = await asyncio.gather(*map(outcome, behaviours))
    return {behaviour.__name__: one for behaviour, one in zip(behaviours, found, strict=True)}


def counted(server: GatepassProcess, reason: str) -> float:
    _, metrics = page_of(f"http://127.0.0.1:{server.metrics_port}/metrics")
    named = f'gatepass_connections_cut_off_total{{reason="{reason}"}}'
    return next(float(line.split()[-1]) for line in metrics.splitlines() if line.startswith(named))


@pytest.mark.parametrize("behaviour", CUT_OFF)
async def test_who_is_too_slow_is_cut_off(hurried: GatepassProcess, outcomes: Outcomes, behaviour) -> None:
    seconds = outcomes[behaviour.__name__]
    assert seconds is not None
    assert seconds >= DEADLINE
    reason = CUT_OFF[behaviour]
    assert counted(hurried, reason) == list(CUT_OFF.values()).count(reason)


@pytest.mark.parametrize("behaviour", LEFT_ALONE)
async def test_who_is_merely_slow_is_not(outcomes: Outcomes, behaviour) -> None:
    assert outcomes[behaviour.__name__] is None


async def test_there_are_only_so_many_connections(hurried: GatepassProcess, outcomes: Outcomes) -> None:
    """One more is closed at once; those that are open go on, and there is room again when one has gone."""
    callers = [Caller(hurried.port) for _ in range(MAX_CONNECTIONS + 10)]
    for caller in callers:
        await caller.connect()
        await caller.send(request("GET", "/livez"))

    async def is_open(caller: Caller) -> bool:
        try:
            return bool(await asyncio.wait_for(caller.read(), 60))
        except ConnectionError:
            return False

    answered = await asyncio.gather(*map(is_open, callers))
    assert sum(answered) == MAX_CONNECTIONS
    assert counted(hurried, "too_many") == 10
    for caller in callers:
        caller.close()

    async def has_room() -> bool:
        async with hurried.client() as client:
            try:
                return (await client.get(hurried.url + "/livez")).status_code == 200
            except httpx2.TransportError:
                return False

    await wait_for(has_room)


async def test_an_idle_connection_is_closed_and_counts_as_nothing(hurried: GatepassProcess, tenant: Tenant) -> None:
    caller = Caller(hurried.port)
    await caller.connect()
    await caller.send(request("GET", "/livez"))
    async with asyncio.timeout(60):
        await caller.read_all()
    assert time.monotonic() - caller.began > 4
    caller.close()
