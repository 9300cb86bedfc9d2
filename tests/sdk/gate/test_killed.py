"""A gate that is killed again and again: each admission that was shown is on the disk, and is uploaded once.

In CI 100 kills; with GATEPASS_FULL=1 (`make sdk-full`) 1,000.
"""

import multiprocessing
import signal
import sqlite3
import time
from collections import Counter
from pathlib import Path
from typing import Any

from gatepass_sdk import Gate
from gatepass_sdk._gate.storage.store import GateStore
from tests.sdk.gate.crash_points import Step, work
from tests.sdk.gate.network import Network, State
from tests.sdk.gate.venue import Guest, Venue
from tests.size import dice, sized

KILLS = sized(short=100, full=1_000)
# More than all processes together scan.
GUESTS = KILLS * 4
CODES_AT_ONCE = 4
# Less than the steps of so many scans, so that nearly every process is killed.
LONGEST_COUNTDOWN = 70
ENDS_WITHIN = 300
# Importing takes longer than the rest of such a process, so it is done once, in the server that forks them.
FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(["pytest", "tests.sdk.gate.crash_points", "gatepass_sdk.gate"])
# A lost answer costs each process 1.5 s.
STATES = [State.UP] * 5 + [State.DOWN] * 4 + [State.LOSES_ANSWERS]


class Screen:
    """The screen of one gate, over all its lives."""

    def __init__(self, directory: Path, guests: list[Guest]) -> None:
        self._directory = directory
        self._guests = guests
        self._next = 0
        self.shown: list[tuple[int, str, str, bool]] = []
        self.kills: Counter[str] = Counter()

    def live_once(self, countdown: int, after: float) -> bool:
        """One process. Whether it was killed. The guest who stood there when it died shows the code again."""
        assert self._next + CODES_AT_ONCE <= GUESTS, self.kills
        codes = [(n, self._guests[n].token) for n in range(self._next, self._next + CODES_AT_ONCE)]
        ours, theirs = FORKING.Pipe(duplex=False)
        process = FORKING.Process(
            target=work, args=(str(self._directory), codes, countdown, after, theirs), daemon=True
        )
        process.start()
        theirs.close()
        said = list(_all(ours))
        process.join(ENDS_WITHIN)
        for what, value in said:
            if what == "shown":
                self.shown.append(value)
                self._next = value[0] + 1
            elif what == "killed":
                self.kills[value] += 1
        was_killed = process.exitcode == -signal.SIGKILL
        assert was_killed or (process.exitcode == 0 and said[-1][0] == "ended"), (process.exitcode, said)
        self.require_on_disk()
        return was_killed

    def require_on_disk(self) -> None:
        """Read by SQLite alone, after the kill: each admission that the screen showed is in the journal."""
        with sqlite3.connect(self._directory / "gate.db") as db:
            let_in = {bytes(card) for (card,) in db.execute("SELECT card FROM scan WHERE let_in")}
        db.close()
        assert self._marks(n for n, colour, *_ in self.shown if colour == "green") <= let_in

    def _marks(self, guests: Any) -> set[bytes]:
        store = GateStore(self._directory, None)
        try:
            device = store.device
            assert device is not None
            return {store.sealer.mark(device.event_id, self._guests[n].number) for n in guests}
        finally:
            store.close()


def _all(pipe: Any) -> Any:
    assert pipe.poll(ENDS_WITHIN)
    try:
        while True:
            yield pipe.recv()
    except EOFError:
        pipe.close()


def test_each_admission_that_was_shown_is_on_disk_and_uploaded_once(
    venue: Venue, network: Network, directory: Path
) -> None:
    rng, began = dice(), time.monotonic()
    guests = venue.guests(GUESTS)
    with venue.gate(directory, network.url) as gate:
        venue.known(gate, *guests)
    screen, killed = Screen(directory, guests), 0
    while killed < KILLS:
        network.becomes(rng.choice(STATES))
        # Every fifth dies at any moment, the others at a step that they count.
        by_timer = killed % 5 == 4
        killed += screen.live_once(
            0 if by_timer else rng.randint(1, LONGEST_COUNTDOWN), rng.uniform(0.005, 0.12) if by_timer else 0.0
        )
    network.becomes(State.UP)
    with Gate(directory) as gate:
        while gate.upload().waiting:
            assert time.monotonic() - began < 3_600
        last_sequence = gate.status().last_sequence
        assert gate.status().rejected == ()
    check_screen(screen)
    check_service(venue, screen, guests, last_sequence)
    colours = Counter(colour for _, colour, *_ in screen.shown)
    print(
        f"\n{killed} kills ({', '.join(f'{n} when {step}' for step, n in sorted(screen.kills.items()))}), "
        f"{colours['green']} admissions shown, {colours['amber']} to be checked after a kill, "
        f"{last_sequence} entries uploaded, in {time.monotonic() - began:.0f} s"
    )
    assert set(screen.kills) == set(Step)


def check_screen(screen: Screen) -> None:
    """Nobody was let in twice. Amber is what was written and perhaps not shown: a person looks."""
    green = Counter(n for n, colour, *_ in screen.shown if colour == "green")
    assert set(green.values()) == {1}
    for n, colour, verdict, _ in screen.shown:
        assert colour == "green" or verdict in ("was_admitted", "already_activated"), (n, verdict)
    amber = {n for n, colour, *_ in screen.shown if colour == "amber"}
    red = {n for n, colour, *_ in screen.shown if colour == "red"}
    # Red is only who was green, or amber, in another life.
    assert red <= amber | set(green)


def check_service(venue: Venue, screen: Screen, guests: list[Guest], last_sequence: int) -> None:
    assert venue.incidents() == []
    activated = Counter(
        str(ticket_id)
        for (ticket_id,) in venue.execute(
            "SELECT ticket_id FROM scan WHERE event_id = %s AND verdict = 'activated'", venue.event_id
        )
    )
    admitted = {guests[n].ticket_id for n, colour, *_ in screen.shown if colour in ("green", "amber")}
    assert {ticket_id: activated[ticket_id] for ticket_id in admitted} == dict.fromkeys(admitted, 1)
    sequences = venue.execute("SELECT sequence FROM journal_entry WHERE event_id = %s ORDER BY 1", venue.event_id)
    assert [sequence for (sequence,) in sequences] == list(range(1, last_sequence + 1))
