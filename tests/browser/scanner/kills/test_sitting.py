"""Many scans in one sitting, offline: none takes long, nothing is left in the memory, and no place is lost.

In CI 1,000 scans; with GATEPASS_FULL=1 10,000.
"""

from pathlib import Path

import pytest

from tests.browser.scanner.kills.chromium import Chromium
from tests.browser.scanner.kills.page_server import paired, served
from tests.sdk.gate.network import State
from tests.sdk.gate.venue import Venue
from tests.size import sized

pytestmark = pytest.mark.browser

ROUNDS = sized(short=4, full=20)
SCANS = sized(short=250, full=500)
# Milliseconds from the code to the verdict.
P95 = 150
# No disk is waited for until a place is given up.
LONGEST = 3_000
# Of the memory after the first 500 scans.
GROWTH = 1.2
# Garbage is collected after each round: what nobody holds must not take a place with it.
COLLECTING = ("--js-flags=--expose-gc", "--enable-precise-memory-info")


def test_a_long_sitting(venue: Venue, script: bytes, tmp_path: Path) -> None:
    cards = len(venue.guests(100))
    with served(venue.port, script) as page:
        browser = Chromium(tmp_path / "profile", page.url, *COLLECTING)
        try:
            browser.start()
            paired(venue, page, cards)
            page.network.becomes(State.DOWN)
            rounds = []
            for n in range(ROUNDS):
                page.tasks.put({"do": "sit", "round": n, "scans": SCANS})
                rounds.append(page.hear("sat"))
        finally:
            browser.kill()
    for one in rounds:
        print({name: round(value) if isinstance(value, float) else value for name, value in one.items()})
    assert rounds[-1]["waiting"] == ROUNDS * SCANS
    assert {one["lost"] for one in rounds} == {None}
    assert max(one["p95"] for one in rounds) < P95
    assert max(one["longest"] for one in rounds) < LONGEST
    first = rounds[500 // SCANS - 1]
    assert rounds[-1]["heap"] < GROWTH * first["heap"]
