"""The process of a page, and what its decoder costs there."""

from pathlib import Path

import psutil
from playwright.async_api import Page

WORKER = "DedicatedWorker"


async def renderer(page: Page) -> psutil.Process:
    """The largest: Chromium keeps an empty one beside it, for the next page."""
    browser = page.context.browser
    assert browser is not None
    session = await browser.new_browser_cdp_session()
    told = await session.send("SystemInfo.getProcessInfo")
    found = [psutil.Process(one["id"]) for one in told["processInfo"] if one["type"] == "renderer"]
    return max(found, key=lambda process: process.memory_info().rss)


async def worker_seconds(page: Page) -> float:
    """Seconds of a processor that the worker's thread has used."""
    return _worker_seconds(await renderer(page))


def _worker_seconds(process: psutil.Process) -> float:
    return sum(
        thread.user_time + thread.system_time
        for thread in process.threads()
        if Path(f"/proc/{process.pid}/task/{thread.id}/comm").read_text().strip() == WORKER
    )
