"""Limits by address: one caller cannot have many addresses, many callers are not one, and nobody has none."""

import socket
from collections.abc import Generator
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from uuid import uuid4

import pytest

from gatepass.base.client_ip import caller_address, network_of, parsed_address
from gatepass.base.settings import BASE_PATH, Settings
from gatepass.domain.staff import throttle
from tests import factory
from tests.attacks.proxy import Proxy
from tests.factory import Tenant
from tests.faults.gates import client_of, request_id, wait_for
from tests.postgres import free_port
from tests.processes import GatepassProcess, serve
from tests.server.raw_http import Response, one, request

EVENTS = BASE_PATH + "/events"
FORM = ("Content-Type", "application/x-www-form-urlencoded")
SAME_SITE = ("Sec-Fetch-Site", "same-origin")
FAILURES = 60
FREE_TRIES = 30
# Its failures are not those of other tests.
ELSEWHERE = "127.0.15.1"

PROXY = "127.0.0.1"
# What a proxy writes into X-Forwarded-For, and whose address it is.
FORWARDED: dict[str, str] = {
    "192.0.2.7": "192.0.2.7",
    "192.0.2.7:4711": "192.0.2.7",
    "[2001:db8::7]:4711": "2001:db8::7",
    "[2001:db8::7]": "2001:db8::7",
    "2001:db8::7": "2001:db8::7",
    "::ffff:192.0.2.7": "192.0.2.7",
    "[::ffff:192.0.2.7]:4711": "192.0.2.7",
    "fe80::1%eth0": "fe80::1",
    "\t192.0.2.7 ": "192.0.2.7",
    "198.51.100.1, 192.0.2.7": "192.0.2.7",
    "198.51.100.1, 192.0.2.7:80": "192.0.2.7",
    "192.0.2.7, 127.0.0.1": "192.0.2.7",
    # Nothing usable: the proxy's own address.
    "unknown": PROXY,
    "_hidden": PROXY,
    "": PROXY,
    ",": PROXY,
    "192.0.2.7,": PROXY,
    "192.0.2.7, unknown": PROXY,
    "192.0.2.300": PROXY,
    "192.0.2.07": PROXY,
    "192.0.2.7:99999999": PROXY,
    "[2001:db8::7": PROXY,
    "2001:db8::7]:80": PROXY,
    "\xb9\xb2.0.2.7": PROXY,
    "192.0.2.7/24": PROXY,
    "for=192.0.2.7": PROXY,
}


@pytest.mark.finding(9)
@pytest.mark.parametrize("value", FORWARDED)
def test_an_address_from_a_proxy_is_read_or_it_is_the_proxys(value: str) -> None:
    scope = {"client": (PROXY, 1), "headers": [(b"x-forwarded-for", value.encode("latin-1"))]}
    assert str(caller_address(scope, [ip_network(PROXY)])) == FORWARDED[value]


@pytest.mark.finding(9)
@pytest.mark.parametrize("value", FORWARDED)
async def test_the_request_log_has_that_address(behind_proxy: GatepassProcess, tenant: Tenant, value: str) -> None:
    key = await tenant.key()
    headers = [("Authorization", f"Bearer {key.text}"), ("X-Forwarded-For", value)]
    answer = one(behind_proxy.port, request("DELETE", EVENTS, headers))
    assert answer.status == 405
    async with tenant.db.autocommit() as tx:
        (row,) = await tx.rows("SELECT address FROM logged_call WHERE organization_id = $1", tenant.id)
    assert str(row["address"]) == FORWARDED[value]


@pytest.mark.parametrize("peer", ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1"])
def test_a_caller_that_is_no_proxy_cannot_name_an_address(peer: str) -> None:
    scope = {"client": (peer, 1), "headers": [(b"x-forwarded-for", b"10.0.0.1")]}
    assert caller_address(scope, [ip_network(PROXY), ip_network("10.0.0.0/8")]) == parsed_address(peer)


@pytest.mark.finding(9)
def test_a_proxy_on_a_dual_stack_socket_is_trusted_by_its_ipv4_network() -> None:
    scope = {"client": ("::ffff:127.0.0.1", 1), "headers": [(b"x-forwarded-for", b"192.0.2.7")]}
    for named in ("127.0.0.0/8", "::ffff:127.0.0.0/104"):
        (network,) = Settings(trusted_proxies=[ip_network(named)]).trusted_proxies
        assert network == IPv4Network("127.0.0.0/8")
        assert str(caller_address(scope, [network])) == "192.0.2.7"
    (other,) = Settings(trusted_proxies=[ip_network("2001:db8::/32")]).trusted_proxies
    assert other == IPv6Network("2001:db8::/32")


@pytest.mark.finding(9)
@pytest.mark.finding(15)
@pytest.mark.parametrize(
    ("one", "other", "are_one"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("::1", "::ffff:192.0.2.1", False),
    ],
)
def test_which_addresses_are_one_caller(one: str, other: str, are_one: bool) -> None:
    first, second = parsed_address(one), parsed_address(other)
    assert first
    assert second
    assert (network_of(first) == network_of(second)) is are_one


@pytest.fixture(scope="module")
def dual_stack(settings_env: dict[str, str]) -> Generator[GatepassProcess]:
    """A process that listens on IPv6 and, as Linux has it, on IPv4 too."""
    port = free_port()
    process = serve({**settings_env, "GATEPASS_HOST": "::"}, port)
    yield process
    process.stop()


def sign_in(port: int, *headers: tuple[str, str], host: str = "127.0.0.1") -> Response:
    body = f"email={uuid4()}@example.org&password=wrong".encode()
    return one(port, request("POST", "/studio/sign-in", [SAME_SITE, FORM, *headers], body), host=host)


async def use_up_tries(tenant: Tenant, address: str) -> None:
    """As thirty wrong passwords from this address do; they count as of a minute ahead, so that nothing waits it out."""
    async with tenant.db.transaction(parsed_address(address)) as tx:
        await tx.run("DELETE FROM failed_try")
        for n in range(FREE_TRIES):
            at = factory.now() + timedelta(minutes=1)
            await throttle.count_try(tx, throttle.password_of(f"{n}@example.org"), at=at)


@pytest.mark.finding(9)
async def test_ipv4_callers_of_a_dual_stack_socket_are_told_apart(dual_stack: GatepassProcess, tenant: Tenant) -> None:
    await use_up_tries(tenant, "127.0.0.1")
    assert sign_in(dual_stack.port).status == 429
    assert sign_in(dual_stack.port, host="::1").status == 422, "somebody else"
    with socket.create_connection(("127.0.0.1", dual_stack.port), source_address=("127.0.0.9", 0)) as other:
        body = f"email={uuid4()}@example.org&password=wrong".encode()
        other.sendall(request("POST", "/studio/sign-in", [SAME_SITE, FORM], body))
        assert other.recv(12) == b"HTTP/1.1 422", "somebody else"


@pytest.mark.finding(9)
@pytest.mark.parametrize("value", ["192.0.2.9:4711", "[2001:db8:9::1]:4711", "unknown", ""])
async def test_the_sign_in_throttle_counts_whatever_the_proxy_writes(
    behind_proxy: GatepassProcess, tenant: Tenant, value: str
) -> None:
    scope = {"client": (PROXY, 1), "headers": [(b"x-forwarded-for", value.encode())]}
    await use_up_tries(tenant, str(caller_address(scope, [ip_network(PROXY)])))
    assert sign_in(behind_proxy.port, ("X-Forwarded-For", value)).status == 429


async def test_an_address_that_the_caller_sends_is_replaced_by_the_documented_proxy(
    documented_proxy: Proxy, tenant: Tenant
) -> None:
    key = await tenant.key(networks="10.9.9.0/24")
    headers = [("Authorization", f"Bearer {key.text}"), ("X-Forwarded-For", "10.9.9.9")]
    assert one(documented_proxy.port, request("GET", EVENTS, headers)).status == 401


@pytest.mark.finding(17)
async def test_an_address_that_the_caller_sends_is_refused_behind_another_proxy(proxy: Proxy, tenant: Tenant) -> None:
    key = await tenant.key()
    headers = [("Authorization", f"Bearer {key.text}"), ("X-Forwarded-For", "10.9.9.9")]
    assert one(proxy.port, request("GET", EVENTS, headers)).status == 400


def failures(port: int, addresses: list[str]) -> list[int]:
    """A call with an unknown key from each of these addresses; the statuses."""
    return [one(port, request("GET", EVENTS, [("X-Forwarded-For", address)])).status for address in addresses]


@pytest.mark.finding(15)
@pytest.mark.parametrize(
    ("network", "limited"),
    [
        ("2001:db8:1:{}::1", False),  # a /64 each
        ("2001:db8:2:1::{}", True),
        ("2001:db8:3:1:{}::1", True),
        ("203.0.113.{}", False),
        ("::ffff:198.51.100.{}", False),
    ],
)
def test_failures_are_counted_by_address_or_ipv6_network(
    behind_proxy: GatepassProcess, network: str, limited: bool
) -> None:
    statuses = failures(behind_proxy.port, [network.format(n + 1) for n in range(FAILURES * 2)])
    assert statuses[:FAILURES] == [401] * FAILURES
    assert (429 in statuses) is limited


@pytest.mark.finding(15)
async def test_a_revoked_key_is_always_401_and_always_leaves_its_row(server: GatepassProcess, tenant: Tenant) -> None:
    """Also from an address with too many failures."""
    key = await tenant.key(expires_at=factory.now())
    async with (
        client_of(server, "", address=ELSEWHERE) as nobody,
        client_of(server, key.text, address=ELSEWHERE) as expired,
    ):
        unknown = [(await nobody.get("/events")).status_code for _ in range(FAILURES * 2)]
        answers = [await expired.get("/events") for _ in range(5)]
        assert 429 in unknown
    assert {answer.status_code for answer in answers} == {401}
    wanted = {request_id(answer) for answer in answers}

    async def are_logged() -> bool:
        async with tenant.db.autocommit() as tx:
            rows = await tx.rows("SELECT id FROM logged_call WHERE organization_id = $1", tenant.id)
        return {row["id"] for row in rows} == wanted

    await wait_for(are_logged)
