"""The fixtures of the scenarios, `api`, `demo` and `unused`, made with the SDK, for each of its clients."""

from collections.abc import Callable, Generator
from typing import Any

import pytest

from tests.contract.acceptance import forgeable
from tests.sdk.acceptance.adapter import Api, ApiClients
from tests.sdk.contract.client_matrix import LoopThread
from tests.sdk.stack import Stack


@pytest.fixture(scope="module")
def demo(stack: Stack) -> dict[str, Any]:
    return {**stack.demo, "base_url": stack.base_url}


@pytest.fixture(scope="module", params=["sync", "async"])
def api_clients(stack: Stack, request: pytest.FixtureRequest) -> Generator[ApiClients]:
    loop = LoopThread() if request.param == "async" else None
    opened = ApiClients(stack.base_url, loop)
    yield opened
    opened.close()
    if loop is not None:
        loop.close()


@pytest.fixture(scope="module")
def api(api_clients: ApiClients, demo: dict[str, Any]) -> Callable[[str], Api]:
    return lambda name: api_clients.api(demo["keys"].get(name, name))


@pytest.fixture
def unused(stack: Stack) -> Callable[[], dict[str, Any]]:
    """An unused card; `forgeable` says which ones cannot be taken."""

    def take() -> dict[str, Any]:
        while True:
            card = stack.unused()
            if forgeable({"cards": {"unused": [card]}})["cards"]["unused"]:
                return card

    return take
