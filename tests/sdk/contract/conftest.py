"""The four client variants, and one event loop for the asynchronous ones."""

from collections.abc import Generator

import pytest

from gatepass_sdk.testing import FakeGatepass
from tests.sdk.contract.client_matrix import ClientVariant, LoopThread, fake_variants, open_service_variants
from tests.sdk.stack import Stack


@pytest.fixture(scope="session")
def loop() -> Generator[LoopThread]:
    started = LoopThread()
    yield started
    started.close()


@pytest.fixture
def fake() -> Generator[FakeGatepass]:
    with FakeGatepass(allow_private=True) as made:
        for number, title in enumerate(("Second", "Third")):
            made.add_event(title=title, starts_at=f"2031-0{number + 1}-01T18:00:00Z", ends_at="2032-01-01T00:00:00Z")
        yield made


@pytest.fixture(scope="session")
def service_variants(stack: Stack, loop: LoopThread) -> Generator[list[ClientVariant]]:
    with open_service_variants(stack, loop) as variants:
        yield variants


@pytest.fixture
def variants(service_variants: list[ClientVariant], fake: FakeGatepass, loop: LoopThread) -> list[ClientVariant]:
    """All four. The service with a synchronous client comes first: the others are compared with it."""
    return [*service_variants, *fake_variants(fake, loop)]


VARIANTS = ["service", "service, async", "fake", "fake, async"]


@pytest.fixture(params=VARIANTS)
def variant(request: pytest.FixtureRequest, variants: list[ClientVariant]) -> ClientVariant:
    """Each of the four in turn."""
    return variants[VARIANTS.index(request.param)]
