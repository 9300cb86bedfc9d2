"""The API in this process, reached from an address of its own in each test: failed calls are counted by address."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import UUID

import httpx2
import pytest
from pydantic import SecretStr

from gatepass.api.app import Gatehouse, create_app
from gatepass.api.reception import Reception
from gatepass.base.settings import BASE_PATH, Settings
from tests import make
from tests.make import House

_addresses = count(1)


@dataclass
class Door:
    app: Reception
    address: str

    @property
    def house(self) -> Gatehouse:
        return self.app.house

    def client(self, key: str | None = None) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=self.app, client=(self.address, 1)),
            base_url="http://gatepass.test" + BASE_PATH,
            headers={"Authorization": f"Bearer {key}"} if key else {},
        )


@pytest.fixture(scope="session")
async def app(database_url: str) -> AsyncGenerator[Reception]:
    settings = Settings(
        database_url=SecretStr(database_url),
        encryption_keys=[SecretStr(make.KEY)],
        metrics_port=0,
        log_level="error",
    )
    app = create_app(settings)
    app.house.open()
    yield app
    await app.house.close()


@pytest.fixture
def door(app: Reception) -> Door:
    n = next(_addresses)
    return Door(app, f"10.1.{n // 250}.{n % 250 + 1}")


@pytest.fixture
async def client(door: Door, house: House) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client with a live key that may do everything."""
    async with door.client((await house.key()).text) as opened:
        yield opened


def scan_body(house: House, card_number: str | None = None, **more: Any) -> dict[str, Any]:
    """A scan of this card; what is None is left out."""
    body = {"event_id": str(house.event_id), "card_number": card_number, **more}
    return {name: value for name, value in body.items() if value is not None}


def request_id(answer: httpx2.Response) -> UUID:
    return UUID(answer.headers["x-request-id"].removeprefix("req_"))


def assert_error(answer: httpx2.Response, status: int, code: str, *, param: str | None = None) -> None:
    """The answer is this refusal, in the one shape that all errors have."""
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
