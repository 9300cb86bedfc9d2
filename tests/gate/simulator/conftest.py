"""One service for all tests of a process."""

from collections.abc import AsyncGenerator

import pytest

from tests.gate.simulator.stack import Stack, started


@pytest.fixture(scope="session")
async def stack() -> AsyncGenerator[Stack]:
    async with started() as opened:
        yield opened
