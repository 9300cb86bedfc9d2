"""Cross-site requests.

A form of the studio is taken from its own pages only, whatever another site can make a browser send.
"""

import pytest

from tests.processes import GatepassProcess
from tests.server.raw_http import Response, one, request

FORM = ("Content-Type", "application/x-www-form-urlencoded")
Headers = list[tuple[str, str]]


def post(server: GatepassProcess, headers: Headers, host: str | None = None, method: str = "POST") -> Response:
    raw = request(method, "/studio/sign-out", [FORM, *headers], b"x=1", host=host or f"127.0.0.1:{server.port}")
    return one(server.port, raw)


# Origins that are not the public URL, http://127.0.0.1:{port}.
OTHERS: dict[str, str] = {
    "another scheme": "https://127.0.0.1:{port}",
    "a scheme of an extension": "chrome-extension://127.0.0.1:{port}",
    "another port": "http://127.0.0.1:1",
    "no port": "http://127.0.0.1",
    "another host": "http://localhost:{port}",
    "a host that begins so": "http://127.0.0.1:{port}.evil.test",
    "a host that ends so": "http://evil127.0.0.1:{port}",
    "a user": "http://127.0.0.1:{port}@evil.test",
    "a user before it": "http://evil.test@127.0.0.1:{port}",
    "a path": "http://127.0.0.1:{port}/",
    "a query": "http://127.0.0.1:{port}?",
    "a fragment": "http://127.0.0.1:{port}#",
    "null": "null",
    "nothing": "",
    "only a host": "127.0.0.1:{port}",
    "only slashes": "//127.0.0.1:{port}",
    "two": "http://127.0.0.1:{port} http://evil.test",
    "two by a comma": "http://127.0.0.1:{port}, http://evil.test",
    "capitals": "HTTP://127.0.0.1:{port}",
    "a space": "http://127.0.0.1:{port} x",
    "another notation": "http://2130706433:{port}",
}


@pytest.mark.finding(16)
@pytest.mark.parametrize("name", OTHERS)
def test_another_origin_is_refused(server: GatepassProcess, name: str) -> None:
    assert post(server, [("Origin", OTHERS[name].format(port=server.port))]).status == 403


@pytest.mark.finding(16)
@pytest.mark.parametrize("name", OTHERS)
def test_another_origin_is_refused_where_the_host_agrees(server: GatepassProcess, name: str) -> None:
    """The Host header is the caller's, and a proxy may rewrite it."""
    origin = OTHERS[name].format(port=server.port)
    host = origin.partition("://")[2].split("/")[0].split("@")[-1].split(" ")[0].strip(",?#") or "gatepass.test"
    assert post(server, [("Origin", origin)], host=host).status in (400, 403)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", "", "Same-Origin", "same-origin, x", "null"])
def test_another_site_is_refused_although_the_origin_agrees(server: GatepassProcess, site: str) -> None:
    assert post(server, [("Sec-Fetch-Site", site), ("Origin", server.url)]).status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "PROPFIND"])
def test_without_an_origin_nothing_is_changed(server: GatepassProcess, method: str) -> None:
    assert post(server, [("Referer", server.url + "/studio/sign-in")], method=method).status == 403


@pytest.mark.parametrize("name", ["X-HTTP-Method-Override", "X-Method-Override", "_method"])
def test_a_method_cannot_be_changed_by_a_header(server: GatepassProcess, name: str) -> None:
    assert post(server, [(name, "POST")], method="GET").status == 404


@pytest.mark.parametrize("host", [None, "elsewhere.test"])
def test_our_own_page_is_let_through(server: GatepassProcess, host: str | None) -> None:
    """Whatever Host a proxy writes."""
    assert post(server, [("Origin", server.url)], host=host).status == 303
    assert post(server, [("Sec-Fetch-Site", "same-origin")], host=host).status == 303
