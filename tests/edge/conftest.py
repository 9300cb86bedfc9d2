"""Two cells behind the edge, for all tests of this folder."""

from collections.abc import AsyncGenerator

import pytest

from tests.edge.cells import Cells, two_cells
from tests.postgres import Cluster


@pytest.fixture(scope="session")
async def cells(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Cells]:
    async with two_cells(cluster, tmp_path_factory.mktemp("edge")) as made:
        yield made
