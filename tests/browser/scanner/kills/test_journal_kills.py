"""A browser that is killed again and again while a gate in it scans offline, and whose storage is torn in between.

Each admission that was shown is uploaded once. In CI 10 kills and 3 torn stores; with GATEPASS_FULL=1 500 and 50.
"""

import random
import statistics
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.browser.scanner.kills.chromium import HARMS, PLACES, Chromium
from tests.browser.scanner.kills.page_server import PageServer, paired, served
from tests.sdk.gate.network import State
from tests.sdk.gate.venue import Guest, Venue
from tests.size import dice, sized

pytestmark = pytest.mark.browser

KILLS = sized(short=10, full=500)
TEARS = sized(short=3, full=50)
# Scans of one life, at most. More than it has the time for.
AT_ONCE = 16
# Seconds from the start of scanning to the kill.
LONGEST_LIFE = 0.7
# A torn store is whole again after a few starts. If it never is, the test ends at so many kills.
MOST_KILLS = 3 * KILLS
# One in so many is killed while it starts.
EARLY = 8


class Screen:
    """The screen of one gate, over all the lives of its browser."""

    def __init__(self, page: PageServer, browser: Chromium, guests: list[Guest]) -> None:
        self._page = page
        self._browser = browser
        self._guests = guests
        self._next = 0
        self.shown: list[dict[str, Any]] = []
        self.kills: Counter[str] = Counter()
        self.harms: Counter[str] = Counter()
        self.lost: Counter[str] = Counter()
        self.openings: list[float] = []
        self.history: list[object] = []

    def start(self) -> dict[str, Any]:
        self._browser.start()
        return self._note(self._page.hear("opened"))

    def _note(self, opened: dict[str, Any]) -> dict[str, Any]:
        self.history.append(opened)
        self.openings.append(opened["milliseconds"])
        if opened["lost"] is not None:
            self.lost[opened["lost"]] += 1
        return opened

    def live(self, rng: random.Random) -> bool:
        """One browser, until it is killed. Whether its gate had opened: only then has it mended what it found."""
        self.plan()
        if rng.randrange(EARLY) == 0:
            self._browser.start()
            time.sleep(rng.uniform(0.2, 2.0))
            self.die("as it starts")
            return False
        assert self.start()["paired"], self.told()
        time.sleep(rng.uniform(0, LONGEST_LIFE))
        self.die("as it scans")
        return True

    def plan(self) -> None:
        """The guest who stood there when the last browser died shows the code again."""
        for n in range(self._next, min(self._next + AT_ONCE, len(self._guests))):
            self._page.tasks.put({"do": "scan", "n": n, "code": self._guests[n].token})

    def die(self, when: str) -> None:
        self._browser.kill()
        self.history.append(when)
        self.kills[when] += 1
        for what, value in self._page.clear():
            assert what != "failed", f"{value}\n{self.told()}"
            if what == "opened":
                self._note(value)
            elif what == "shown":
                self.shown.append(value)
                self._next = value["n"] + 1

    def is_whole(self) -> bool:
        return all(self._browser.is_whole(place) for place in PLACES)

    def harm(self, rng: random.Random) -> None:
        place, harm = rng.choice(PLACES), HARMS[self.harms.total() % len(HARMS)]
        harm(self._browser.place(place), rng)
        self.harms[f"{harm.__name__} {place}"] += 1
        self.history.append(f"{harm.__name__} {place}")

    def told(self) -> str:
        """What happened last, a line each."""
        return "\n".join(str(one) for one in self.history[-20:])

    def of(self, colour: str) -> list[int]:
        return [one["n"] for one in self.shown if one["colour"] == colour]


def test_each_admission_that_was_shown_is_uploaded_once(venue: Venue, script: bytes, tmp_path: Path) -> None:
    rng, began = dice(), time.monotonic()
    guests = venue.guests(KILLS * AT_ONCE)
    with served(venue.port, script) as page:
        browser = Chromium(tmp_path / "profile", page.url)
        screen = Screen(page, browser, guests)
        try:
            browser.start()
            device_id = paired(venue, page, len(guests))
            browser.kill()
            page.clear()
            page.network.becomes(State.DOWN)
            run(screen, rng)
            page.network.becomes(State.UP)
            last_sequence = upload(page, screen)
        finally:
            browser.kill()
    check_screen(screen)
    check_service(venue, screen, guests, device_id, last_sequence)
    report(screen, last_sequence, time.monotonic() - began)


def run(screen: Screen, rng: random.Random) -> None:
    """All kills and harms. One store is harmed at a time: the next when both are whole again."""
    due = sorted(rng.sample(range(KILLS), TEARS))
    while screen.kills.total() < KILLS or due:
        opened = screen.live(rng)
        assert screen.kills.total() < MOST_KILLS, screen.told()
        if due and screen.kills.total() > due[0] and opened and screen.is_whole():
            due.pop(0)
            screen.harm(rng)


def upload(page: PageServer, screen: Screen) -> int:
    """Returns the number of entries."""
    opened = screen.start()
    while True:
        page.tasks.put({"do": "upload"})
        uploaded = page.hear("uploaded")
        assert (uploaded["rejected"], uploaded["incidents"]) == (0, 0)
        if uploaded["waiting"] == 0:
            assert uploaded["missing"] == []
            return opened["last_sequence"]


def check_screen(screen: Screen) -> None:
    """Nobody was let in twice. Amber is what was written and perhaps not shown: a person looks."""
    green, amber, red = (screen.of(colour) for colour in ("green", "amber", "red"))
    assert len(green) == len(set(green))
    assert set(red) <= set(green) | set(amber)
    for one in screen.shown:
        assert not one["online"]
        assert one["verdict"] in ("activated", "was_admitted", "already_activated"), one


def check_service(venue: Venue, screen: Screen, guests: list[Guest], device_id: str, last_sequence: int) -> None:
    assert venue.incidents() == []
    entries = venue.entries(device_id)
    assert [sequence for sequence, *_ in entries] == list(range(1, last_sequence + 1))
    activated = Counter(
        str(ticket_id)
        for (ticket_id,) in venue.execute(
            "SELECT ticket_id FROM scan WHERE event_id = %s AND verdict = 'activated'", venue.event_id
        )
    )
    admitted = {guests[n].ticket_id for n in screen.of("green") + screen.of("amber")}
    assert {ticket_id: activated[ticket_id] for ticket_id in admitted} == dict.fromkeys(admitted, 1)
    assert max(activated.values()) == 1
    # At most the one that was written and not told in each life.
    assert len(activated) <= len(admitted) + screen.kills.total()
    uploaded = [outcome for _, was_admitted, outcome, _ in entries if was_admitted]
    assert set(uploaded) == {"activated"}
    assert len(uploaded) == len(activated)


def report(screen: Screen, last_sequence: int, seconds: float) -> None:
    times = sorted(one["milliseconds"] for one in screen.shown)
    print(
        f"\n{screen.kills.total()} kills ({dict(screen.kills)}), harms {dict(screen.harms)}, "
        f"places found lost {dict(screen.lost)}, {len(screen.of('green'))} admissions shown, "
        f"{len(screen.of('amber'))} to be checked after a kill, {last_sequence} entries uploaded; "
        f"scan p50 {statistics.median(times):.0f} ms, p95 {times[int(len(times) * 0.95)]:.0f} ms, "
        f"start {statistics.median(screen.openings):.0f} ms; in {seconds:.0f} s"
    )
    assert screen.harms.total() == TEARS
