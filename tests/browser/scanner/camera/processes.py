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


def worker_milliseconds(process: psutil.Process) -> float:
    """What the threads of workers have used of a processor. The clock of the wall has the work of others in it too."""
    tasks = Path(f"/proc/{process.pid}/task").iterdir()
    workers = [task for task in tasks if (task / "comm").read_text().strip() == WORKER]
    return sum(int((task / "schedstat").read_text().split()[0]) for task in workers) / 1e6
