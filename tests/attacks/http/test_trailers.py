"""Headers after the body: a trailer decides nothing, whatever its name, directly and through HAProxy.

The same attempts succeed against a mutant that adds trailers to the headers, as uvicorn does.
"""

import json
import socket
from collections.abc import Generator
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from uuid import uuid4

import pytest

from gatepass.base.settings import BASE_PATH
from gatepass.domain import staff
from gatepass.domain.staff import throttle
from gatepass.studio.web import cookies
from tests import factory
from tests.attacks.mutants.trailers_as_headers import serve_mutant
from tests.attacks.proxy import Proxy, start_proxy
from tests.factory import Tenant
from tests.postgres import free_port
from tests.processes import GatepassProcess
from tests.server.raw_http import Response, exchange, one, request, resident_kb

pytestmark = pytest.mark.finding(2)

EVENTS = BASE_PATH + "/events"
ALLOWED = "10.9.9.9"
JSON = ("Content-Type", "application/json")
FORM = ("Content-Type", "application/x-www-form-urlencoded")
SAME_SITE = ("Sec-Fetch-Site", "same-origin")
FREE_TRIES = 30

Headers = list[tuple[str, str]]

# Trailers that name an allowed address, as a caller may write them.
FORGED: dict[str, Headers] = {
    "plain": [("X-Forwarded-For", ALLOWED)],
    "small letters": [("x-forwarded-for", ALLOWED)],
    "capitals": [("X-FORWARDED-FOR", ALLOWED)],
    "a list": [("X-Forwarded-For", f"192.0.2.1, {ALLOWED}")],
    "twice": [("X-Forwarded-For", "192.0.2.1"), ("X-Forwarded-For", ALLOWED)],
    "many": [("X-Forwarded-For", ALLOWED)] * 40,
    "after others": [*[(f"X-{n}", "x") for n in range(20)], ("X-Forwarded-For", ALLOWED)],
    "mapped": [("X-Forwarded-For", f"::ffff:{ALLOWED}")],
    "with a port": [("X-Forwarded-For", f"{ALLOWED}:4711")],
    "tabs": [("X-Forwarded-For", f"\t{ALLOWED}\t")],
}


@pytest.fixture(scope="module")
def mutant(settings_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Generator[Proxy]:
    """HAProxy in front of the mutant."""
    process = serve_mutant({**settings_env, "GATEPASS_TRUSTED_PROXIES": "127.0.0.1"}, free_port())
    proxy = start_proxy(tmp_path_factory.mktemp("mutant"), process.port)
    yield proxy
    proxy.stop()
    process.stop()


@pytest.fixture(params=["haproxy", "documented", "direct"])
def port(request: pytest.FixtureRequest, proxy: Proxy, documented_proxy: Proxy, behind_proxy: GatepassProcess) -> int:
    return {"haproxy": proxy, "documented": documented_proxy, "direct": behind_proxy}[request.param].port


@dataclass
class Keys:
    """One key for callers from 10.9.9.0/24 only, and one for everybody."""

    bound: tuple[str, str]
    free: tuple[str, str]


@pytest.fixture
async def keys(tenant: Tenant) -> Keys:
    bound, free = await tenant.key(networks="10.9.9.0/24"), await tenant.key()
    return Keys(("Authorization", f"Bearer {bound.text}"), ("Authorization", f"Bearer {free.text}"))


def call(port: int, headers: Headers, trailers: Headers, method: str = "GET", body: bytes = b"") -> Response:
    return one(port, request(method, EVENTS, headers, body, trailers=trailers))


@pytest.mark.parametrize("form", FORGED)
async def test_an_address_in_a_trailer_does_not_pass_an_allow_list(port: int, keys: Keys, form: str) -> None:
    assert call(port, [keys.bound], FORGED[form]).status == 401


@pytest.mark.parametrize("form", FORGED)
async def test_an_announced_trailer_does_not_pass_either(proxy: Proxy, keys: Keys, form: str) -> None:
    announced = [keys.bound, ("TE", "trailers"), ("Trailer", "X-Forwarded-For")]
    assert call(proxy.port, announced, FORGED[form], body=b"{}").status == 401


@pytest.mark.parametrize("form", ["plain", "a list", "many", "mapped"])
async def test_a_scan_is_not_activated_from_there(proxy: Proxy, tenant: Tenant, keys: Keys, form: str) -> None:
    body = json.dumps({"event_id": str(tenant.event_id), "card_number": (await tenant.card()).number}).encode()
    refused = one(proxy.port, request("POST", BASE_PATH + "/scan", [keys.bound, JSON], body, trailers=FORGED[form]))
    assert refused.status == 401
    assert (await scan(proxy.port, keys.free, body)).status == 200, "its ticket must be unused"


async def scan(port: int, key: tuple[str, str], body: bytes, *more: tuple[str, str]) -> Response:
    return one(port, request("POST", BASE_PATH + "/scan", [key, JSON, *more], body))


async def test_a_key_in_a_trailer_is_no_key(port: int, keys: Keys) -> None:
    assert call(port, [], [keys.free]).status == 401


async def test_a_key_in_a_trailer_does_not_replace_one_in_the_head(port: int, keys: Keys) -> None:
    assert call(port, [("Authorization", "Bearer nothing")], [keys.free]).status == 401
    assert call(port, [keys.free], [("Authorization", "Bearer nothing")]).status == 200


async def test_an_idempotency_key_in_a_trailer_is_none(port: int, tenant: Tenant, keys: Keys) -> None:
    body = json.dumps({"event_id": str(tenant.event_id), "card_number": (await tenant.card()).number}).encode()
    named = ("Idempotency-Key", str(uuid4()))
    first = one(port, request("POST", BASE_PATH + "/scan", [keys.free, JSON], body, trailers=[named]))
    assert first.status == 200
    again = await scan(port, keys.free, body, named)
    assert (again.status, again.headers.get("idempotent-replayed")) == (409, None)


async def test_a_host_in_a_trailer_is_none(behind_proxy: GatepassProcess, keys: Keys) -> None:
    raw = request("GET", EVENTS, [keys.free], trailers=[("Host", "gatepass.test")], host=None)
    assert one(behind_proxy.port, raw).status == 400


@pytest.mark.parametrize(
    "trailer", [("Content-Length", "5"), ("Transfer-Encoding", "chunked"), ("Expect", "100-continue")]
)
async def test_a_length_in_a_trailer_changes_no_framing(
    behind_proxy: GatepassProcess, keys: Keys, trailer: tuple[str, str]
) -> None:
    first = request("GET", EVENTS, [keys.free], trailers=[trailer])
    found = exchange(behind_proxy.port, first + request("GET", "/livez") + request("GET", "/nowhere"), expect=3)
    assert found.statuses in ([200, 200, 404], [400], []), "each request is answered, or none that follows"


@pytest.fixture
async def session(tenant: Tenant) -> tuple[str, str]:
    """The cookie of somebody who is signed in."""
    async with tenant.db.transaction() as tx:
        person = await staff.enrol(tx, f"{uuid4()}@example.org", "Ada", at=factory.now())
        await staff.join(tx, tenant.id, person.id, staff.Role.OWNER, by=factory.BY, at=factory.now())
        token = await staff.begin(tx, person.id, at=factory.now(), address=None, browser="tests", confirmed=True)
    return "Cookie", f"{cookies.SESSION}={token}"


async def test_a_session_in_a_trailer_is_none(port: int, session: tuple[str, str]) -> None:
    home = "/studio/account"
    assert one(port, request("GET", home, [session])).status == 200
    answer = one(port, request("GET", home, trailers=[session]))
    assert (answer.status, answer.headers.get("location", "").split("?")[0]) == (303, "/studio/sign-in")


@pytest.mark.parametrize("trailer", [SAME_SITE, ("Origin", "http://gatepass.test")], ids=str)
async def test_an_origin_in_a_trailer_is_none(port: int, session: tuple[str, str], trailer: tuple[str, str]) -> None:
    assert one(port, request("POST", "/studio/sign-out", [session, FORM], b"x=1", trailers=[trailer])).status == 403


async def test_the_type_of_a_form_in_a_trailer_is_none(port: int) -> None:
    body = f"email={uuid4()}@example.org&password=wrong".encode()
    answer = one(port, request("POST", "/studio/sign-in", [SAME_SITE], body, trailers=[FORM]))
    assert answer.status == 422
    assert b"This is needed." in answer.body, "nothing was typed, as far as the page knows"


async def one_more_try(port: int, tenant: Tenant) -> int:
    """Use up the tries of HAProxy's address, then sign in with another address in a trailer; the status."""
    async with tenant.db.transaction(ip_address("127.0.0.1")) as tx:
        await tx.run("DELETE FROM failed_try")
        # As of a minute ahead, so that nothing waits it out.
        for n in range(FREE_TRIES):
            at = factory.now() + timedelta(minutes=1)
            await throttle.count_try(tx, throttle.password_of(f"{n}@example.org"), at=at)
    body = f"email={uuid4()}@example.org&password=wrong".encode()
    raw = request("POST", "/studio/sign-in", [SAME_SITE, FORM], body, trailers=[("X-Forwarded-For", "10.7.0.1")])
    status = one(port, raw).status
    async with tenant.db.transaction() as tx:
        await tx.run("DELETE FROM failed_try")
    return status


async def test_an_address_in_a_trailer_does_not_evade_the_sign_in_throttle(port: int, tenant: Tenant) -> None:
    assert await one_more_try(port, tenant) == 429


async def test_the_mutant_is_found_out(mutant: Proxy, tenant: Tenant, keys: Keys) -> None:
    """What must fail above succeeds here."""
    found_out = [form for form, trailers in FORGED.items() if call(mutant.port, [keys.bound], trailers).status == 200]
    assert found_out == list(FORGED)
    assert call(mutant.port, [], [keys.free]).status == 200
    assert await one_more_try(mutant.port, tenant) == 422


HUGE = 20 * 1024 * 1024


@pytest.mark.parametrize(
    "piece",
    [b"X-Trailer: " + b"x" * 1000 + b"\r\n", b"x" * 4096, b"A:b\r\n" * 800],
    ids=["many", "one without end", "many small"],
)
def test_trailers_without_end_are_cut_off(server: GatepassProcess, piece: bytes) -> None:
    head = request("GET", "/livez", [("Transfer-Encoding", "chunked")])
    assert_cut_off(server, head + b"0\r\nX: ", piece)


def test_a_chunk_extension_without_end_is_cut_off(server: GatepassProcess) -> None:
    assert_cut_off(server, request("GET", "/livez", [("Transfer-Encoding", "chunked")]) + b"1;", b"x" * 4096)


def test_chunk_extensions_are_limited_together(server: GatepassProcess) -> None:
    head = request("POST", BASE_PATH + "/scan", [("Transfer-Encoding", "chunked")])
    assert_cut_off(server, head, b"1;" + b"x" * 1024 + b"\r\ny\r\n")


def assert_cut_off(server: GatepassProcess, head: bytes, piece: bytes) -> None:
    """The connection ends long before 20 MB were sent, and the process has not grown."""
    before = resident_kb(server)
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(head)
        with pytest.raises(ConnectionError):
            send_again(connection, piece, HUGE // len(piece))
    assert resident_kb(server) - before < 16 * 1024
    assert one(server.port, request("GET", "/livez")).status == 200


def send_again(connection: socket.socket, piece: bytes, times: int) -> None:
    for _ in range(times):
        connection.sendall(piece)
