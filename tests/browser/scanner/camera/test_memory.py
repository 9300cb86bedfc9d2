"""Memory stays what it is while the camera looks for hours: here, in short, for some hundred frames."""

from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.browser.scanner.camera import feeds
from tests.browser.scanner.camera.conftest import Opener
from tests.browser.scanner.camera.processes import renderer
from tests.size import FULL

pytestmark = pytest.mark.browser

FIRST = 500 if FULL else 150
LAST = 5000 if FULL else 500
# Engines keep garbage until they need its room.
GROWTH = 1.2
LOOKED = "(count) => bench.looks.length >= count"


async def test_memory_is_steady(tmp_path: Path, watching: Opener) -> None:
    """The process of the page has the worker and the memory of the decoder too."""
    texts = feeds.tokens(4, seed=6)
    page = await watching(feeds.write_feed(tmp_path / "steady.mjpeg", [(feeds.straight, text) for text in texts]))
    await page.evaluate("bench.open()")
    await page.wait_for_function(LOOKED, arg=FIRST, timeout=LAST * 1000)
    first = await _resident(page)
    await page.wait_for_function(LOOKED, arg=LAST, timeout=LAST * 1000)
    last = await _resident(page)
    print(f"\n{first >> 20} MB after {FIRST} frames, {last >> 20} MB after {LAST}")
    assert last < GROWTH * first


async def _resident(page: Page) -> int:
    """Without what a garbage collection frees."""
    session = await page.context.new_cdp_session(page)
    await session.send("HeapProfiler.collectGarbage")
    return (await renderer(page)).memory_info().rss
