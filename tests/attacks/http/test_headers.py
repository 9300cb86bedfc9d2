"""Security headers: every response has them, whoever makes it."""

from collections.abc import Generator

import pytest

from gatepass.base.settings import BASE_PATH
from tests.postgres import free_port
from tests.processes import GatepassProcess, serve
from tests.server.raw_http import Response, one, request

pytestmark = pytest.mark.finding(18)

PUBLIC_URL = "https://tickets.example.com"
# Every kind of response: of an endpoint, of the fast path, of FastAPI, of a page, of the HTTP protocol itself.
REQUESTS: dict[str, tuple[bytes, int]] = {
    "an endpoint without a key": (request("GET", BASE_PATH + "/events"), 401),
    "a scan without a key": (request("POST", BASE_PATH + "/scan", body=b"{}"), 401),
    "a verification without a key": (request("GET", BASE_PATH + "/card/verify?token=x"), 401),
    "an unknown path": (request("GET", "/nowhere"), 404),
    "a wrong method": (request("DELETE", "/livez"), 405),
    "liveness": (request("GET", "/livez"), 200),
    "readiness": (request("GET", "/readyz"), 200),
    "the front": (request("GET", "/"), 307),
    "the documentation": (request("GET", "/docs"), 200),
    "its script": (request("GET", "/docs/docs.js", [("Accept-Encoding", "gzip")]), 200),
    "its configuration": (request("GET", "/docs/config.json"), 200),
    "the interface description": (request("GET", BASE_PATH + "/openapi.json"), 200),
    "HEAD": (request("HEAD", "/docs"), 200),
    "a page": (request("GET", "/studio/sign-in"), 200),
    "a page that is not there": (request("GET", "/studio/nothing"), 404),
    "a form of another site": (request("POST", "/studio/sign-in", body=b"x=1"), 403),
    "a file of a page": (request("GET", "/studio/static/studio.css"), 200),
    "a cover that is not there": (request("GET", "/covers/nothing.png"), 404),
    "no host": (request("GET", "/livez", host=None), 400),
    "not HTTP": (b"\x00\x01\r\n\r\n", 400),
    "two keys": (request("GET", "/livez", [("Authorization", "a"), ("Authorization", "b")]), 400),
}


@pytest.fixture(scope="module")
def over_tls(settings_env: dict[str, str]) -> Generator[GatepassProcess]:
    """A process behind a proxy with TLS."""
    process = serve({**settings_env, "GATEPASS_PUBLIC_URL": PUBLIC_URL}, free_port())
    yield process
    process.stop()


def response(server: GatepassProcess, name: str) -> Response:
    raw, status = REQUESTS[name]
    found = one(server.port, raw)
    # Attempts of other tests may have used up the failures of this address.
    assert found.status == status or (status, found.status) == (401, 429)
    return found


@pytest.mark.parametrize("name", REQUESTS)
def test_no_browser_guesses_a_content_type(server: GatepassProcess, name: str) -> None:
    found = response(server, name)
    assert found.headers["x-content-type-options"] == "nosniff"
    assert "strict-transport-security" not in found.headers, "without TLS it means nothing"


@pytest.mark.parametrize("name", REQUESTS)
def test_no_browser_comes_back_without_tls(over_tls: GatepassProcess, name: str) -> None:
    found = response(over_tls, name)
    assert found.headers["strict-transport-security"] == "max-age=31536000; includeSubDomains"
    assert found.headers["x-content-type-options"] == "nosniff"
