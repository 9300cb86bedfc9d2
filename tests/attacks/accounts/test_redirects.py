"""Open redirects: after signing in, a browser goes to a page of the studio or to none."""

from urllib.parse import urlsplit

import pytest

from gatepass.base.database import Database
from tests import factory
from tests.attacks.studio_client import browser, session_token
from tests.processes import GatepassProcess

WANTED = [
    "https://evil.test/",
    "//evil.test/",
    "///evil.test",
    "/\\evil.test",
    "\\\\evil.test",
    "/studio/../../evil",
    "/studio//evil.test/%2e%2e",
    "/studio@evil.test/",
    "studio.evil.test",
    "javascript:alert(1)",
    "data:text/html,x",
    "/%09/evil.test",
    "/\tevil.test",
    "/studio/\r\nSet-Cookie: a=b",
    "/studio/\nX: y",
    "http:/studio/live/home",
    "/studio/live/home#https://evil.test",
    "https:evil.test",
    "/studio/live/home\x00",
    " /studio/live/home",
    "/api/public/v1/events",
    "/studio",
    "/STUDIO/live/home",
    "/studio/" + "a" * 4000,
]


@pytest.fixture(scope="module")
async def token(db: Database) -> str:
    return await session_token(await factory.tenant(db))


@pytest.mark.parametrize("wanted", WANTED, ids=ascii)
async def test_no_other_site(server: GatepassProcess, token: str, wanted: str) -> None:
    async with browser(server, token) as client:
        answer = await client.get("/studio/sign-in", params={"next": wanted})
    assert answer.status_code == 303
    where = urlsplit(answer.headers["location"])
    assert (where.scheme, where.netloc) == ("", "")
    assert where.path.startswith("/studio/")
    assert not set(answer.headers["location"]) & set("\r\n\t\\")
    assert "set-cookie" not in answer.headers or "a=b" not in answer.headers["set-cookie"]


HOSTS = ["evil.test", "evil.test:80", "127.0.0.1.evil.test", "evil.test/studio", "x@evil.test"]


@pytest.mark.parametrize("host", HOSTS)
async def test_a_forged_host_is_in_no_answer(server: GatepassProcess, host: str) -> None:
    async with browser(server, Host=host) as client:
        for path in ("/studio/live/home", "/studio/sign-in", "/docs", "/nowhere"):
            answer = await client.get(path)
            assert "evil.test" not in answer.text
            assert "evil.test" not in str(answer.headers)
