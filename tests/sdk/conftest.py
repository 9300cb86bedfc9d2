"""One running service for the tests of the SDK, and one clean installation of it."""

from collections.abc import Generator

import pytest

from tests.postgres import Cluster
from tests.sdk.installed import Installed, install
from tests.sdk.stack import Stack, running


@pytest.fixture(scope="session")
def stack(cluster: Cluster) -> Generator[Stack]:
    with running(cluster, unlimited=True) as started:
        yield started


@pytest.fixture(scope="session")
def large_stack(cluster: Cluster) -> Generator[Stack]:
    """A service with 8,000 tickets and no rate limits."""
    with running(cluster, tickets=8000, unlimited=True) as started:
        yield started


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory, testrun_uid: str) -> Installed:
    """One installation for all processes of a test run."""
    return install(tmp_path_factory.getbasetemp().parent / f"gatepass-sdk-{testrun_uid}")
