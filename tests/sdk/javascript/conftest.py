"""One service, and one clean installation of the SDK for JavaScript."""

from collections.abc import Generator

import pytest

from tests.postgres import Cluster
from tests.sdk.javascript.node import Project, install
from tests.sdk.stack import Stack, running
from tests.size import sized


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory, testrun_uid: str) -> Project:
    """One installation for all processes of a test run."""
    return install(tmp_path_factory.getbasetemp().parent / f"gatepass-sdk-js-{testrun_uid}")


@pytest.fixture(scope="session")
def stack(cluster: Cluster) -> Generator[Stack]:
    """With a ticket for each scan of the bad network, and no rate limits."""
    tickets = sized(short=1_500, full=8_000)
    with running(cluster, tickets=tickets, unlimited=True) as started:
        yield started
