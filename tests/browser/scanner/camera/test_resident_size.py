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
LAST = 5000 if FULL else 450
GROWTH = 1.2
LOOKED = "(count) => bench.looks.length >= count"
# Engines keep garbage until they need its room: the least of some moments is what is used.
MOMENTS, APART = 5, 20


async def test_memory_is_steady(tmp_path: Path, watching: Opener) -> None:
    """The process of the page has the worker and the memory of the decoder too."""
    texts = feeds.tokens(4, seed=6)
    page = await watching(feeds.write_feed(tmp_path / "steady.mjpeg", [(feeds.straight, text) for text in texts]))
    await page.evaluate("bench.open()")
    first = await _resident(page, FIRST)
    last = await _resident(page, LAST)
    print(f"\n{first >> 20} MB after {FIRST} frames, {last >> 20} MB after {LAST}")
    assert last < GROWTH * first


async def _resident(page: Page, looks: int) -> int:
    """What is resident from this many frames on."""
    found: list[int] = []
    for moment in range(MOMENTS):
        await page.wait_for_function(LOOKED, arg=looks + moment * APART, timeout=LAST * 1000)
        found.append((await renderer(page)).memory_info().rss)
    return min(found)
