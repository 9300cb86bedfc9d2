"""Sessions: forged, fixed, ended, and what their cookie may do."""

import httpx2
import pytest

from gatepass.studio.web import cookies
from tests import factory
from tests.attacks.studio_client import browser, session_token
from tests.processes import GatepassProcess
from tests.studio.people import GOOD, somebody, typed

FORGED = [
    "",
    "x",
    "null",
    "0",
    "a" * 43,
    "' OR '1'='1",
    "%00",
    "../../etc/passwd",
    "%ff%fe",
    "a" * 4000,
    "{token}x",
    "{head}",
    '"{token}x"',
    "{swapped}",
]


@pytest.mark.parametrize("value", FORGED, ids=ascii)
async def test_a_forged_cookie(server: GatepassProcess, tenant: factory.Tenant, value: str) -> None:
    token = await session_token(tenant)
    swapped = token.swapcase()
    async with browser(server, value.format(token=token, head=token[:-1], swapped=swapped)) as client:
        answer = await client.get("/studio/account")
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/studio/sign-in")


NAMES = ["gatepass", "__Secure-gatepass", "__host-gatepass", "__Host-gatepass ", "session", "X__Host-gatepass"]


@pytest.mark.parametrize("name", NAMES)
async def test_a_cookie_that_another_page_could_set(server: GatepassProcess, tenant: factory.Tenant, name: str) -> None:
    token = await session_token(tenant)
    headers = {"Cookie": f"{name}={token}", "Sec-Fetch-Site": "same-origin"}
    async with httpx2.AsyncClient(base_url=server.url, headers=headers) as client:
        answer = await client.get("/studio/account")
    assert (answer.status_code == 200) is (name.strip() == cookies.SESSION)


async def test_signing_in_makes_a_new_session(server: GatepassProcess, tenant: factory.Tenant) -> None:
    grace = await somebody(tenant)
    planted = await session_token(tenant)
    async with browser(server, planted) as victim:
        answer = await typed(victim, grace.person.email, GOOD)
    assert answer.status_code == 303
    given = answer.headers["set-cookie"]
    assert planted not in given
    for attribute in ("Secure", "HttpOnly", "Path=/", "SameSite=lax"):
        assert attribute.lower() in given.lower()
    assert "domain=" not in given.lower()
    async with browser(server, planted) as attacker:
        assert (await attacker.get("/studio/account")).status_code == 303, "the planted session has ended"


async def test_a_session_that_was_signed_out(server: GatepassProcess, tenant: factory.Tenant) -> None:
    token = await session_token(tenant)
    async with browser(server, token) as client:
        assert (await client.get("/studio/account")).status_code == 200
        assert (await client.post("/studio/sign-out")).status_code == 303
        assert (await client.get("/studio/account")).status_code == 303


async def test_no_session_by_get(server: GatepassProcess, tenant: factory.Tenant) -> None:
    token = await session_token(tenant)
    async with browser(server, token) as client:
        assert (await client.get("/studio/sign-out")).status_code in (404, 405)
        assert (await client.get("/studio/account")).status_code == 200
