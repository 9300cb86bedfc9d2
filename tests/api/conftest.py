"""The API in this process. Each test calls it from its own address, because failed calls are counted by address."""

from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import UUID

import httpx2
import pytest

from gatepass.api.app import ApiState, create_app
from gatepass.api.middleware import Middleware
from gatepass.base.settings import BASE_PATH
from tests import factory
from tests.factory import Tenant
from tests.server.asgi import TaskTransport
from tests.valkey import Valkey

_addresses = count(1)


@dataclass
class Api:
    """The application, and the address that its clients have."""

    app: Middleware
    address: str

    @property
    def state(self) -> ApiState:
        return self.app.state

    def client(self, key: str | None = None) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            transport=TaskTransport(app=self.app, client=(self.address, 1)),
            base_url="http://gatepass.test" + BASE_PATH,
            headers={"Authorization": f"Bearer {key}"} if key else {},
        )


@pytest.fixture(scope="session")
async def app(database_url: str) -> AsyncGenerator[Middleware]:
    settings = factory.settings(database_url)
    app = create_app(settings)
    app.state.open()
    yield app
    await app.state.close()


@pytest.fixture
def api(app: Middleware) -> Api:
    n = next(_addresses)
    return Api(app, f"10.1.{n // 250}.{n % 250 + 1}")


@pytest.fixture
async def client(api: Api, tenant: Tenant) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client with a live key that may do everything."""
    async with api.client((await tenant.key()).text) as opened:
        yield opened


def scan_body(tenant: Tenant, card_number: str | None = None, **more: Any) -> dict[str, Any]:
    """A scan of this card; fields that are None are left out."""
    body = {"event_id": str(tenant.event_id), "card_number": card_number, **more}
    return {name: value for name, value in body.items() if value is not None}


def request_id(answer: httpx2.Response) -> UUID:
    return UUID(answer.headers["x-request-id"].removeprefix("req_"))


def assert_error(answer: httpx2.Response, status: int, code: str, *, param: str | None = None) -> None:
    """The answer is this refusal, in the shape of all errors."""
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    body = answer.json()
    assert body.keys() <= {"error", "code", "param", "details"}
    assert isinstance(body["error"], str)
    assert body["error"]
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-svc-should-retry"] == ("true" if status in {429, 500, 503} else "false")
    assert answer.headers["x-request-id"].startswith("req_")
    assert ("Retry-After" in answer.headers) == (status in {429, 503})
    if param is not None:
        assert body["param"] == param


@pytest.fixture(scope="module")
def valkey() -> Generator[Valkey]:
    started = Valkey()
    yield started
    started.kill()
