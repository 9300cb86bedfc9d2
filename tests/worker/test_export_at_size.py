"""A PDF of many cards by a real worker: memory is bounded, deliveries are not delayed, every code is read back.

In short 1,000 cards; 10,000 with GATEPASS_FULL=1.
"""

import asyncio
import time
from pathlib import Path
from typing import Final

import pytest

from gatepass.base.database import Database
from gatepass.domain import cards
from gatepass.domain.card_exports import ExportState
from tests import factory
from tests.domain.card_exports.printed_pages import codes_on, rendered
from tests.processes import launch_worker, memory
from tests.size import sized
from tests.worker.test_card_exports import begin, children_of, content, find, load

CARDS: Final = sized(short=1_000, full=10_000)
# Megabytes. Both hold one part of 250 cards, whatever the size of the file.
MOST_OF_WORKER: Final = 140
MOST_OF_DRAWER: Final = 130
PAGES_AT_ONCE: Final = 50


@pytest.mark.processes
async def test_a_large_pdf_is_never_held_in_memory_and_every_code_is_read_back(own: Database, tmp_path: Path) -> None:
    tenant = await factory.tenant(own)
    numbers = [number for _ in range(CARDS // 1_000) for number in await load(tenant, 1_000)]
    export_id = await begin(tenant)
    environment = {**factory.environment(own.url), "GATEPASS_ENCRYPTION_KEYS": factory.KEY}
    worker = launch_worker(environment)
    began, peaks = time.monotonic(), {"worker": 0.0, "drawer": 0.0}
    try:
        async with asyncio.timeout(600):
            while (made := await find(tenant, export_id)).state is ExportState.UNDER_WAY:
                peaks["worker"] = max(peaks["worker"], memory(worker))
                sizes = [resident(pid) for pid in children_of(worker.process.pid)]
                peaks["drawer"] = max([peaks["drawer"], *sizes])
                await asyncio.sleep(0.1)
    finally:
        worker.stop()
    seconds = time.monotonic() - began
    print(f"{CARDS:,} cards: {seconds:.1f} s, {made.size / 1e6:.1f} MB, {made.pages} pages, peaks in MB {peaks}")
    assert (made.state, made.done, made.pages) == (ExportState.READY, CARDS, CARDS // 10)
    assert 0 < peaks["worker"] < MOST_OF_WORKER
    assert 0 < peaks["drawer"] < MOST_OF_DRAWER
    document = tmp_path / "cards.pdf"
    document.write_bytes(await content(tenant, made))
    async with own.autocommit() as tx:
        keys = await cards.verifying_keys(tx, tenant.id)
    read: list[str] = []
    for first in range(1, made.pages + 1, PAGES_AT_ONCE):
        for page in rendered(document, tmp_path, first=first, last=first + PAGES_AT_ONCE - 1):
            read += [cards.read_token(text, keys).card_number for text in codes_on(page)]
    assert sorted(read) == sorted(numbers)


def resident(pid: int) -> float:
    """Megabytes that this process has had in memory; 0 if it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024 if "VmHWM:" in status else 0.0
