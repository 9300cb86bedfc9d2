"""A venue for each test, a network that can go, and a gate behind it."""

from collections.abc import Generator
from pathlib import Path

import pytest

from gatepass_sdk import Gate
from tests.sdk.gate.network import Network, network_to
from tests.sdk.gate.strangers import elsewhere
from tests.sdk.gate.venue import Venue
from tests.sdk.stack import Stack

__all__ = ["elsewhere"]


@pytest.fixture
def venue(stack: Stack) -> Generator[Venue]:
    opened = Venue.open(stack)
    yield opened
    opened.client.close()


@pytest.fixture
def network(venue: Venue) -> Generator[Network]:
    with network_to(venue.port) as started:
        yield started


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "gate"


@pytest.fixture
def gate(venue: Venue, network: Network, directory: Path) -> Generator[Gate]:
    with venue.gate(directory, network.url) as opened:
        yield opened
