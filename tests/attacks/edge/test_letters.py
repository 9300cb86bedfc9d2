"""Letters that mean one thing to the edge and another to a cell: no cell serves a call whose key it did not make."""

import pytest

from gatepass.base.settings import BASE_PATH
from gatepass.domain.keys import Mode, make_key
from gatepass.domain.keys.key import _check  # pyright: ignore[reportPrivateUsage]
from tests.edge.cells import Cells
from tests.server.raw_http import Response, exchange, one, request

EVENTS = BASE_PATH + "/events"
Headers = list[tuple[str, str]]


def ask(cells: Cells, headers: Headers, path: str = EVENTS, method: str = "GET", body: bytes = b"") -> Response:
    return one(cells.edge.port, request(method, path, headers, body))


def bearer(key: str) -> tuple[str, str]:
    return ("Authorization", f"Bearer {key}")


def test_the_keys_themselves_work(cells: Cells) -> None:
    """Or nothing below would mean anything."""
    assert ask(cells, [bearer(cells.a.key)]).status == 200
    assert ask(cells, [bearer(cells.b.key)]).status == 200


@pytest.mark.parametrize("order", ["ab", "ba", "aa"])
@pytest.mark.parametrize("name", ["Authorization", "authorization", "AUTHORIZATION"])
def test_two_keys_are_refused(cells: Cells, order: str, name: str) -> None:
    keys = {"a": cells.a.key, "b": cells.b.key}
    answer = ask(cells, [bearer(keys[order[0]]), (name, f"Bearer {keys[order[1]]}")])
    assert answer.status == 400
    assert b'"code":"invalid_request"' in answer.body


@pytest.mark.parametrize("separator", [", ", ",", "; ", "\t", " "])
def test_two_keys_in_one_header_are_refused(cells: Cells, separator: str) -> None:
    answer = ask(cells, [("Authorization", f"Bearer {cells.a.key}{separator}Bearer {cells.b.key}")])
    assert (answer.status, b'"code":"invalid_key"' in answer.body) == (401, True)


@pytest.mark.parametrize("letter", ["A", "B", "%61", "\xe4", "1", "", "aa", ".", "*"])
def test_no_other_spelling_of_a_letter_is_routed(cells: Cells, letter: str) -> None:
    key = cells.a.key.replace("svc_live_a", f"svc_live_{letter}", 1)
    answer = ask(cells, [bearer(key)])
    assert (answer.status, b'"code":"invalid_key"' in answer.body) == (401, True)


@pytest.mark.parametrize("checksum", [False, True], ids=["as it is", "with the right checksum"])
def test_a_key_with_the_letter_of_another_cell_is_unknown_there(cells: Cells, checksum: bool) -> None:
    stem = cells.a.key.replace("svc_live_a", "svc_live_b", 1)[:-6]
    answer = ask(cells, [bearer(stem + (_check(stem) if checksum else cells.a.key[-6:]))])
    assert (answer.status, b'"code":"invalid_key"' in answer.body) == (401, True)


@pytest.mark.parametrize("name", ["X-Cell", "X-Forwarded-Host", "X-Original-URL", "X-Rewrite-URL", "Forwarded"])
def test_a_header_of_the_caller_routes_nothing(cells: Cells, name: str) -> None:
    value = {"X-Cell": "b", "Forwarded": f"host={cells.edge.host('b')}"}.get(name, cells.edge.host("b"))
    assert ask(cells, [bearer(cells.a.key), (name, value)]).status == 200
    assert ask(cells, [(name, value)]).status == 401


@pytest.mark.parametrize(
    "query", ["?cell=b", "?letter=b", "?key={b}", "?Authorization=Bearer+{b}", "#b.", "?/covers/b."]
)
def test_a_letter_in_the_query_routes_nothing(cells: Cells, query: str) -> None:
    path = EVENTS + query.format(b=cells.b.key)
    assert ask(cells, [], path).status in (400, 401)
    assert ask(cells, [bearer(cells.a.key)], path).status in (200, 400)


@pytest.mark.parametrize(
    "path",
    [
        "/%61pi/public/v1/events",
        "/API/public/v1/events",
        "//api/public/v1/events",
        "/studio/../api/public/v1/events",
        "/covers/b./../../api/public/v1/events",
        "/studio/link/b.x/../../../api/public/v1/events",
        "/api/../api/public/v1/events",
        "/.//api/public/v1/events",
    ],
)
@pytest.mark.parametrize("cell", ["a", "b"])
def test_a_path_that_is_written_otherwise_reaches_nothing(cells: Cells, path: str, cell: str) -> None:
    """Wherever the edge sends it: no cell reads such a path as the list of events, and each checks the key."""
    key = {"a": cells.a.key, "b": cells.b.key}[cell]
    answer = ask(cells, [bearer(key)], path)
    assert answer.status in (307, 400, 401, 404, 422), answer.body
    assert b"Summer Opening" not in answer.body


@pytest.mark.parametrize("smuggled", ["a", "b"])
@pytest.mark.parametrize(
    "framing",
    [
        [("Content-Length", "0"), ("Transfer-Encoding", "chunked")],
        [("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "identity")],
        [("Transfer-Encoding", "xchunked")],
        [("Content-Length", "4"), ("Content-Length", "0")],
    ],
    ids=["both", "two encodings", "no encoding", "two lengths"],
)
def test_a_request_in_the_body_of_another_is_never_routed(cells: Cells, framing: Headers, smuggled: str) -> None:
    """At most the outer call is answered, and with the key of its own cell."""
    inner = request("GET", EVENTS, [bearer({"a": cells.a.key, "b": cells.b.key}[smuggled])])
    outer = request("POST", BASE_PATH + "/scan", [bearer(cells.a.key), *framing]) + b"0\r\n\r\n" + inner
    found = exchange(cells.edge.port, outer, expect=3)
    served = [answer for answer in found.responses if b"Summer Opening" in answer.body]
    # Where the body is read as empty, what follows is a request of its own, routed by its own key.
    assert len(served) <= 1
    assert all(answer.status in (200, 400, 401, 408, 411, 501) for answer in found.responses), found.statuses


def test_a_key_behind_the_body_routes_nothing(cells: Cells) -> None:
    raw = request("POST", BASE_PATH + "/scan", [], b"{}", trailers=[bearer(cells.b.key)])
    assert one(cells.edge.port, raw).status == 401


@pytest.mark.parametrize("letter", ["z", "q"])
def test_an_unknown_letter_costs_no_cell_anything(cells: Cells, letter: str) -> None:
    answer = ask(cells, [bearer(make_key(Mode.LIVE, letter))])
    assert answer.status == 421
    assert b"there is no such cell" in answer.body
    assert "ratelimit" not in answer.headers
