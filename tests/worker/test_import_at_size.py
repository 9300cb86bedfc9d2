"""Fifty thousand rows through the real studio and worker: memory stays flat, and the progress moves."""

import pytest

from bench.imports import measure
from gatepass.migrations import runner
from tests.postgres import Cluster


@pytest.mark.slow
async def test_a_large_file_is_never_held_in_memory(cluster: Cluster) -> None:
    url = cluster.create_database("gatepass_import_at_size")
    runner.upgrade(url)
    figures = await measure(url, 50_000, undo=True)
    print(*figures.lines(), sep="\n")
    assert (figures.made, figures.faulty) == (50_000, 0)
    assert max(figures.memory.values()) < 40
    # A shared machine may stand still for a moment; the bench has the promise.
    assert figures.stall < 3
