"""A torn end of a store is silent: the browser reads up to it, writes on behind it, and loses that at every start."""

from pathlib import Path
from typing import Any

import pytest

from tests.browser.scanner.kills.chromium import PLACES, Chromium, log_of, tear_header
from tests.browser.scanner.kills.leveldb_log import BLOCK
from tests.browser.scanner.kills.page_server import PageServer, paired, served
from tests.sdk.gate.network import State
from tests.sdk.gate.venue import Guest, Venue

pytestmark = pytest.mark.browser

# Scans of a life: at least two, so that the loss is seen, and too few to fill the rest of a block.
SCANS = 2
# As many as fill a block.
MOST = 40
# The first does not see it, the second finds what is lost, the third begins the store anew.
LIVES = 3


@pytest.mark.parametrize("place", PLACES)
def test_a_torn_end_is_found_and_mended(place: str, venue: Venue, script: bytes, tmp_path: Path) -> None:
    guests = venue.guests(MOST + SCANS * LIVES)
    with served(venue.port, script) as page:
        browser = Chromium(tmp_path / "profile", page.url)
        try:
            browser.start()
            paired(venue, page, len(guests))
            page.network.becomes(State.DOWN)
            while log_of(browser.place(place)).stat().st_size % BLOCK > BLOCK // 4:
                scan(page, guests.pop())
            browser.kill()
            page.clear()
            tear_header(browser.place(place))
            found = [life(browser, page, [guests.pop() for _ in range(SCANS)]) for _ in range(LIVES)]
        finally:
            browser.kill()
    assert [opened["lost"] for opened in found] == [None, place, place]
    first = found[0]["waiting"]
    assert [opened["waiting"] for opened in found] == [first + n * SCANS for n in range(LIVES)]
    assert all(browser.is_whole(one) for one in PLACES)


def life(browser: Chromium, page: PageServer, guests: list[Guest]) -> dict[str, Any]:
    """Start it, scan, and kill it. What it found as it started."""
    browser.start()
    opened = page.hear("opened")
    for guest in guests:
        scan(page, guest)
    browser.kill()
    page.clear()
    return opened


def scan(page: PageServer, guest: Guest) -> None:
    page.tasks.put({"do": "scan", "n": 0, "code": guest.token})
    assert page.hear("shown")["colour"] == "green"
