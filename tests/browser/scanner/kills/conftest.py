"""The service, an event, and the page of a gate."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.postgres import Cluster
from tests.sdk.gate.venue import Venue
from tests.sdk.javascript.node import tool
from tests.sdk.stack import Stack, running

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def script(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    built = tmp_path_factory.mktemp("page") / "gate.js"
    done = tool("esbuild", "page.ts", "--bundle", "--format=esm", "--target=es2022", f"--outfile={built}", cwd=HERE)
    assert done.returncode == 0, done.stderr
    return built.read_bytes()


@pytest.fixture(scope="session")
def service(cluster: Cluster) -> Generator[Stack]:
    with running(cluster, unlimited=True) as started:
        yield started


@pytest.fixture
def venue(service: Stack) -> Generator[Venue]:
    opened = Venue.open(service)
    yield opened
    opened.client.close()
