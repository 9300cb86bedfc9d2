"""Bodies that break off: nobody can fill our log with tracebacks, or make us believe that a fault is ours."""

import json
import socket
import struct
from uuid import uuid4

import pytest

from gatepass.base.settings import BASE_PATH
from gatepass.domain import staff
from gatepass.studio.web import cookies
from tests import factory
from tests.factory import Tenant
from tests.faults.gates import wait_for
from tests.processes import GatepassProcess
from tests.server.raw_http import one, request

pytestmark = pytest.mark.finding(13)

SAME_SITE = ("Sec-Fetch-Site", "same-origin")
FORM = ("Content-Type", "application/x-www-form-urlencoded")
UPLOAD = ("Content-Type", "multipart/form-data; boundary=x")
JSON = ("Content-Type", "application/json")
PART = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b\r\n'

# Where a body is read, with or without a session, and how it begins.
FORMS: dict[str, tuple[str, tuple[str, str], bytes]] = {
    "sign in": ("/studio/sign-in", FORM, b"email=a"),
    "sign in, as an upload": ("/studio/sign-in", UPLOAD, PART),
    "a code": ("/studio/sign-in/code", FORM, b"code=1"),
    "a passkey": ("/studio/sign-in/passkey", FORM, b"answer="),
    "an invitation": ("/studio/welcome/nothing", FORM, b"name=a"),
    "a page that is not there": ("/studio/nothing", FORM, b"x"),
    "an import": ("/studio/live/imports", UPLOAD, PART),
    "an event": ("/studio/live/events/new", FORM, b"name=a"),
    "a key": ("/studio/live/keys/new", FORM, b"name=a"),
    "the profile": ("/studio/profile", FORM, b"name=a"),
}
CALLS: dict[str, tuple[str, str, bytes]] = {
    "a scan": ("POST", "/scan", b'{"event'),
    "an endpoint": ("POST", "/webhooks", b'{"url'),
    "a change of an endpoint": ("PATCH", f"/webhooks/{uuid4()}", b'{"url'),
    "a replay": ("POST", f"/webhooks/{uuid4()}/replay", b"{"),
}
WAYS = ["closed", "reset", "a broken chunk"]


def break_off(port: int, method: str, path: str, headers: list[tuple[str, str]], begun: bytes, way: str) -> None:
    """Send a part of the body, and go."""
    framing = ("Transfer-Encoding", "chunked") if way == "a broken chunk" else ("Content-Length", "1000")
    raw = request(method, path, [*headers, framing])
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(raw)
        if way == "a broken chunk":
            connection.sendall(b"%x\r\n%s\r\nzz\r\n" % (len(begun), begun))
        else:
            connection.sendall(begun)
        if way == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


async def lines_since(server: GatepassProcess, since: int) -> list[str]:
    """All lines that the server has logged since, up to a request that comes after."""
    id = one(server.port, request("GET", "/livez")).headers["x-request-id"]

    async def is_logged() -> bool:
        return any(id in line for line in server.lines[since:])

    await wait_for(is_logged)
    return server.lines[since:]


async def assert_no_fault(server: GatepassProcess, since: int) -> None:
    lines = await lines_since(server, since)
    assert [line for line in lines if "Traceback" in line or '"level": "error"' in line] == []
    assert [line for line in lines if '"level": "warning"' in line] == []
    assert {json.loads(line).get("status", 0) // 100 for line in lines} <= {0, 2, 3, 4}


@pytest.fixture
async def session(tenant: Tenant) -> tuple[str, str]:
    async with tenant.db.transaction() as tx:
        person = await staff.enrol(tx, f"{uuid4()}@example.org", "Ada", at=factory.now())
        await staff.join(tx, tenant.id, person.id, staff.Role.OWNER, by=factory.BY, at=factory.now())
        token = await staff.begin(tx, person.id, at=factory.now(), address=None, browser="tests", confirmed=True)
    return "Cookie", f"{cookies.SESSION}={token}"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FORMS)
async def test_a_form_without_a_session(server: GatepassProcess, name: str, way: str) -> None:
    path, kind, begun = FORMS[name]
    since = len(server.lines)
    break_off(server.port, "POST", path, [SAME_SITE, kind], begun, way)
    await assert_no_fault(server, since)


@pytest.mark.parametrize("name", FORMS)
async def test_a_form_with_a_session(server: GatepassProcess, session: tuple[str, str], name: str) -> None:
    path, kind, begun = FORMS[name]
    since = len(server.lines)
    break_off(server.port, "POST", path, [SAME_SITE, kind, session], begun, "closed")
    await assert_no_fault(server, since)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CALLS)
async def test_a_call(server: GatepassProcess, tenant: Tenant, name: str, way: str) -> None:
    """It is in the request log, as one that the caller broke off. After a reset the kernel may have dropped it."""
    method, path, begun = CALLS[name]
    key = ("Authorization", f"Bearer {(await tenant.key()).text}")
    since = len(server.lines)
    break_off(server.port, method, BASE_PATH + path, [key, JSON], begun, way)

    async def is_logged() -> bool:
        async with tenant.db.autocommit() as tx:
            rows = await tx.rows("SELECT status FROM logged_call WHERE organization_id = $1", tenant.id)
        assert {row["status"] for row in rows} <= {499}
        return len(rows) == 1 or way == "reset"

    await wait_for(is_logged)
    await assert_no_fault(server, since)
