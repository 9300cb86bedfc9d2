"""A venue for each test, a network that can go, and a gate in Node behind it."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.sdk.gate.conftest import elsewhere, network, venue
from tests.sdk.gate.network import Network
from tests.sdk.gate.venue import Venue
from tests.sdk.javascript.gate.gate import NodeGate, bundled, started
from tests.sdk.javascript.gate.lead import Lead

__all__ = ["elsewhere", "network", "venue"]


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bundled(tmp_path_factory.mktemp("gate"))


@pytest.fixture
def gate(program: Path, venue: Venue, network: Network) -> Generator[NodeGate]:
    """One that is paired and has the manifest."""
    with started(program) as opened:
        Lead(venue).pair(opened, network.url)
        yield opened
