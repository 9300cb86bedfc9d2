"""What the scenarios ask for: `api`, `demo` and `unused`, here by the SDK, with each of its clients."""

from collections.abc import Callable, Generator
from typing import Any

import pytest

from tests.contract.acceptance import forgeable
from tests.sdk.acceptance.adapter import Api, Doors
from tests.sdk.contract.ways import Loop
from tests.sdk.stack import Stack


@pytest.fixture(scope="module")
def demo(stack: Stack) -> dict[str, Any]:
    return {**stack.demo, "base_url": stack.base_url}


@pytest.fixture(scope="module", params=["sync", "async"])
def doors(stack: Stack, request: pytest.FixtureRequest) -> Generator[Doors]:
    loop = Loop() if request.param == "async" else None
    opened = Doors(stack.base_url, loop)
    yield opened
    opened.close()
    if loop is not None:
        loop.close()


@pytest.fixture(scope="module")
def api(doors: Doors, demo: dict[str, Any]) -> Callable[[str], Api]:
    return lambda name: doors.api(demo["keys"].get(name, name))


@pytest.fixture
def unused(stack: Stack) -> Callable[[], dict[str, Any]]:
    """A card nobody has used; `forgeable` says why not every one will do."""

    def take() -> dict[str, Any]:
        while True:
            card = stack.unused()
            if forgeable({"cards": {"unused": [card]}})["cards"]["unused"]:
                return card

    return take
