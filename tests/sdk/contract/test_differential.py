"""The same requests, made up by chance, go to the real sandbox and to the fake: both say the same.

Raw HTTP, so that the fake is also asked what the SDK would never ask.
"""

from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from gatepass_sdk.testing import FakeGatepass
from tests.sdk.contract.imagination import Imagination, Request
from tests.sdk.contract.ways import normal
from tests.sdk.stack import Stack

REQUESTS = 700
SEED = 20260
FAKE_URL = "https://fake.gatepass.test/api/public/v1"
TOLD = [
    "x-svc-should-retry",
    "retry-after",
    "www-authenticate",
    "allow",
    "idempotent-replayed",
    "content-type",
    "cache-control",
]


@dataclass(frozen=True)
class Side:
    http: httpx2.Client
    endpoint_id: str

    def answer(self, asked: Request) -> Any:
        path = asked.path.replace("{endpoint}", self.endpoint_id)
        request = self.http.build_request(
            asked.method, path, params=asked.query, headers=asked.headers, content=asked.content
        )
        response = self.http.send(request)
        assert response.headers["x-request-id"].startswith("req_")
        assert {"ratelimit", "ratelimit-policy"} <= set(response.headers)
        told = {name: response.headers[name] for name in TOLD if name in response.headers}
        content = response.json() if response.content else None
        return response.status_code, told, normal(content)


@pytest.fixture
def sides(stack: Stack, fake: FakeGatepass) -> Generator[tuple[Side, Side]]:
    with ExitStack() as opened:
        service = httpx2.Client(base_url=stack.base_url, headers=_key(stack.key("sandbox")), timeout=30)
        faked = httpx2.Client(
            base_url=FAKE_URL,
            headers=_key(fake.new_key()),
            transport=fake.transport(),
        )
        sides: list[Side] = []
        for http in (service, faked):
            opened.enter_context(http)
            made = http.post("/webhooks", json={"url": "https://example.com/hook", "types": ["event.cancelled"]})
            id = made.json()["data"]["id"]
            opened.callback(http.delete, f"/webhooks/{id}")
            sides.append(Side(http, id))
        yield sides[0], sides[1]


def _key(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_the_fake_says_what_the_sandbox_says(sides: tuple[Side, Side]) -> None:
    service, faked = sides
    imagination = Imagination(SEED)
    seen: set[str] = set()
    for _ in range(REQUESTS):
        asked = imagination.request()
        wanted = service.answer(asked)
        assert faked.answer(asked) == wanted, asked
        seen.add(wanted[2])
    # Chance must have met much of what can be said.
    assert len(seen) > 80


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
