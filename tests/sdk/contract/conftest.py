"""The four ways, and one loop for those that need it."""

from collections.abc import Generator

import pytest

from gatepass_sdk.testing import FakeGatepass
from tests.sdk.contract.ways import Loop, Way, ways_to_fake, ways_to_service
from tests.sdk.stack import Stack


@pytest.fixture(scope="session")
def loop() -> Generator[Loop]:
    started = Loop()
    yield started
    started.close()


@pytest.fixture
def fake() -> Generator[FakeGatepass]:
    with FakeGatepass(allow_private=True) as made:
        for number, title in enumerate(("Second", "Third")):
            made.add_event(title=title, starts_at=f"2031-0{number + 1}-01T18:00:00Z", ends_at="2032-01-01T00:00:00Z")
        yield made


@pytest.fixture(scope="session")
def service_ways(stack: Stack, loop: Loop) -> Generator[list[Way]]:
    with ways_to_service(stack, loop) as ways:
        yield ways


@pytest.fixture
def ways(service_ways: list[Way], fake: FakeGatepass, loop: Loop) -> list[Way]:
    """The service by a synchronous client comes first: it is the measure of the others."""
    return [*service_ways, *ways_to_fake(fake, loop)]


WAYS = ["service", "service, async", "fake", "fake, async"]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, ways: list[Way]) -> Way:
    """One of the four, for facts that hold in each."""
    return ways[WAYS.index(request.param)]
