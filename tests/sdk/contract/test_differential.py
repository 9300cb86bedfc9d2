"""The same random requests go to the real sandbox and to the fake, and both answer the same.

They are raw HTTP, so that the fake also gets requests that the SDK never sends.
"""

from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

import httpx2
import pytest

from gatepass_sdk.testing import FakeGatepass
from tests.sdk.contract.client_matrix import normalized
from tests.sdk.contract.platform_fuzzer import PlatformFuzzer, prepared
from tests.sdk.contract.request_fuzzer import FuzzedRequest, RequestFuzzer
from tests.sdk.stack import Stack

REQUESTS = 700
SEED = 20260
FAKE_URL = "https://fake.gatepass.test/api/public/v1"
COMPARED_HEADERS = [
    "x-svc-should-retry",
    "retry-after",
    "www-authenticate",
    "allow",
    "idempotent-replayed",
    "content-type",
    "cache-control",
]


@dataclass(frozen=True)
class Target:
    """The service or the fake. `ids` are those of its own objects, by the names that requests have for them."""

    http: httpx2.Client
    ids: dict[str, str]

    def answer(self, fuzzed: FuzzedRequest) -> Any:
        query = tuple((name, self._named(value)) for name, value in fuzzed.query)
        content = None if fuzzed.content is None else self._named(fuzzed.content.decode("latin-1")).encode("latin-1")
        request = self.http.build_request(
            fuzzed.method, self._named(fuzzed.path), params=query, headers=fuzzed.headers, content=content
        )
        response = self.http.send(request)
        assert response.headers["x-request-id"].startswith("req_")
        assert {"ratelimit", "ratelimit-policy"} <= set(response.headers)
        headers = {name: response.headers[name] for name in COMPARED_HEADERS if name in response.headers}
        headers |= {name: "given" for name in ("etag", "link") if name in response.headers}
        content = response.json() if response.content else None
        if content is None:
            headers.pop("content-type", None)
        return response.status_code, headers, normalized(content)

    def _named(self, text: str) -> str:
        for name, id in self.ids.items():
            text = text.replace(f"{{{name}}}", id)
        return text


@pytest.fixture
def targets(stack: Stack, fake: FakeGatepass) -> Generator[tuple[Target, Target]]:
    with ExitStack() as opened:
        service = httpx2.Client(base_url=stack.base_url, headers=_key(stack.key("sandbox")), timeout=30)
        faked = httpx2.Client(
            base_url=FAKE_URL,
            headers=_key(fake.new_key()),
            transport=fake.transport(),
        )
        targets: list[Target] = []
        for http in (service, faked):
            opened.enter_context(http)
            made = http.post("/webhooks", json={"url": "https://example.com/hook", "types": ["event.cancelled"]})
            id = made.json()["data"]["id"]
            opened.callback(http.delete, f"/webhooks/{id}")
            targets.append(Target(http, {"endpoint": id}))
        yield targets[0], targets[1]


def _key(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_the_fake_says_what_the_sandbox_says(targets: tuple[Target, Target]) -> None:
    fuzzer = RequestFuzzer(SEED)
    # The random requests must have caused many different answers.
    assert compared(*targets, [fuzzer.request() for _ in range(REQUESTS)]) > 80


@pytest.mark.parametrize("key", ["live", "other_sandbox"])
def test_the_fake_says_what_a_platform_is_told(stack: Stack, fake: FakeGatepass, key: str) -> None:
    """Requests issue and change what later ones meet, so that both sides have to keep the same state."""
    stack.empty_sandbox()
    faked_key = _key(fake.new_key(live=key == "live"))
    with (
        httpx2.Client(base_url=stack.base_url, headers=_key(stack.key(key)), timeout=30) as service,
        httpx2.Client(base_url=FAKE_URL, headers=faked_key, transport=fake.transport()) as faked,
    ):
        sides = [Target(http, prepared(http)) for http in (service, faked)]
        fuzzer = PlatformFuzzer(SEED)
        assert compared(sides[0], sides[1], [fuzzer.request() for _ in range(REQUESTS)]) > 150


def compared(service: Target, faked: Target, requests: list[FuzzedRequest]) -> int:
    """Both answer every request alike; how many different answers there were."""
    seen: set[str] = set()
    for fuzzed in requests:
        expected = service.answer(fuzzed)
        assert faked.answer(fuzzed) == expected, fuzzed
        seen.add(expected[2])
    return len(seen)


HEADS: Final = [
    [("Idempotency-Key", "a"), ("Idempotency-Key", "b")],
    [("Authorization", "Bearer one"), ("Authorization", "Bearer two")],
    [("If-Match", "a"), ("If-Match", "a")],
    [("Authorization", "Bearer  one")],
    [("Authorization", "bEARER one")],
    [],
]


@pytest.mark.parametrize("lines", HEADS, ids=str)
def test_the_head_of_a_request_is_read_alike(stack: Stack, fake: FakeGatepass, lines: list[tuple[str, str]]) -> None:
    bodies: list[Any] = []
    for http in (
        httpx2.Client(base_url=stack.base_url),
        httpx2.Client(base_url=FAKE_URL, transport=fake.transport()),
    ):
        with http:
            answer = http.post("/cards", headers=lines, content=b"{}")
            headers = {name: answer.headers.get(name) for name in [*COMPARED_HEADERS, "ratelimit"]}
            bodies.append((answer.status_code, answer.json(), headers))
    assert bodies[0] == bodies[1]


@pytest.mark.parametrize("field", ["codes", "offline"])
def test_a_word_that_is_none_of_the_choices_is_refused_alike(stack: Stack, fake: FakeGatepass, field: str) -> None:
    times = {"starts_at": "2031-01-01T00:00:00Z", "ends_at": "2031-01-02T00:00:00Z"}
    said: list[Any] = []
    for http in (
        httpx2.Client(base_url=stack.base_url, headers=_key(stack.key("sandbox"))),
        httpx2.Client(base_url=FAKE_URL, headers=_key(fake.new_key()), transport=fake.transport()),
    ):
        with http:
            said.append(
                [
                    http.post("/events", json={"title": "Gala", **times, field: value}).json()
                    for value in ("x", "", "ANY", None, 1, [])
                ]
            )
    assert said[0] == said[1]


def test_a_blank_after_a_key_is_none_of_it(fake: FakeGatepass) -> None:
    """No client sends it to a server: only other programs do."""
    key = fake.new_key()
    with httpx2.Client(base_url=FAKE_URL, transport=fake.transport()) as http:
        for blank in ("", " ", "\t"):
            headers = {"Authorization": f"Bearer {key}{blank}", "Idempotency-Key": f"a{blank}"}
            answer = http.post("/cards", headers=headers, content=b"{}")
            assert answer.status_code == 201
            assert answer.headers.get("idempotent-replayed") == ("true" if blank else None)


def test_the_next_page_is_linked_alike(stack: Stack, fake: FakeGatepass) -> None:
    with (
        httpx2.Client(base_url=stack.base_url, headers=_key(stack.key("live"))) as service,
        httpx2.Client(base_url=FAKE_URL, headers=_key(fake.new_key(live=True)), transport=fake.transport()) as faked,
    ):
        links = [http.get("/events", params={"limit": "1"}).links for http in (service, faked)]
        for http, link in zip((service, faked), links, strict=True):
            assert list(link) == ["next"]
            url = httpx2.URL(link["next"]["url"])
            assert (url.path, url.params["limit"]) == ("/api/public/v1/events", "1")
            assert len(http.get(link["next"]["url"]).json()["data"]) == 1
