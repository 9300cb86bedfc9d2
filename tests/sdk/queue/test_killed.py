"""Scans added offline, and a process that is killed again and again while it drains them.

In CI 2,000 scans and 10 kills; with GATEPASS_FULL=1 (`make sdk-full`) 10,000 scans and 50 kills.
"""

import multiprocessing
import random
import signal
import sqlite3
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from gatepass_sdk import ScanQueue
from tests import factory
from tests.postgres import Cluster, free_port
from tests.processes import serve
from tests.sdk.queue.crash_points import Failpoint, add, drain
from tests.sdk.stack import Stack, running
from tests.size import dice, sized

SCANS, CARDS, KILLS = sized(short=(2_000, 1_700, 10), full=(10_000, 8_500, 50))
SCANNER = "scanner-7"
# Importing takes longer than the rest of such a process, so it is done once, in the server that forks them.
FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(["pytest", "tests.sdk.queue.crash_points"])
# Killed at most at the n-th pass, so that all together never reach the end of the queue.
COUNTDOWNS = {Failpoint.SENT: 150, Failpoint.ANSWERED: 150, Failpoint.COMMITTING: 20, Failpoint.REPORTING: 150}
ENDS_WITHIN = 300


@pytest.fixture
def path() -> Generator[Path]:
    """In memory where that is possible: this test has no power cuts, and other tests need the disk."""
    memory = Path("/dev/shm")  # noqa: S108
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder) / "scans.db"


class DrainProcess:
    """A process that drains the queue until it is killed."""

    def __init__(self, path: Path, base_url: str, key: str, failpoint: Failpoint, countdown: int = 0) -> None:
        self.failpoint = failpoint
        self.in_flight = FORKING.RawValue("i", 0)
        self.started, theirs = FORKING.Pipe(duplex=False)
        arguments = (str(path), base_url, key, (failpoint, countdown), self.in_flight, theirs)
        self.process = FORKING.Process(target=drain, args=arguments, daemon=True)
        self.process.start()
        theirs.close()

    def wait_until_sending(self) -> None:
        assert self.started.poll(ENDS_WITHIN)
        assert self.started.recv() is True

    def wait_until_ended(self) -> int | None:
        self.process.join(ENDS_WITHIN)
        self.started.close()
        return self.process.exitcode


def unused_cards(stack: Stack) -> list[dict[str, str]]:
    """The demo prints the tokens of 1,000 cards; the others have numbers only."""
    numbers = factory.unused_cards(stack.database_url, stack.event_id, CARDS)
    tokens = {card["card_number"]: card["token"] for card in stack.demo["cards"]["unused"]}
    found = [{"card_number": number, "token": tokens.get(number, "")} for number in numbers]
    assert len(found) == CARDS
    return found


def add_offline(path: Path, stack: Stack, rng: random.Random) -> dict[int, tuple[str, datetime]]:
    """Add most cards once and some several times, by number and by token."""
    cards = unused_cards(stack)
    shown = cards + rng.choices([card for card in cards if card["token"]], k=SCANS - CARDS)
    rng.shuffle(shown)
    began, added = datetime.now(UTC) - timedelta(hours=3), dict[int, tuple[str, datetime]]()
    with ScanQueue(path) as queue:
        for n, card in enumerate(shown):
            number, at = card["card_number"], began + timedelta(seconds=n)
            by_token = card["token"] and rng.random() < 0.5
            what = {"token": card["token"]} if by_token else {"card_number": number.lower()}
            id = queue.add(stack.event_id, **what, scanner_id=SCANNER, gate="North", occurred_at=at)
            added[id] = number, at
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE reported (id INTEGER, card TEXT, status INTEGER, replayed INTEGER)")
    db.close()
    return added


def waiting(path: Path) -> int:
    with ScanQueue(path) as queue:
        return queue.waiting


def test_each_scan_is_delivered_and_answered_once(cluster: Cluster, path: Path) -> None:
    rng = dice()
    with running(cluster, tickets=CARDS, unlimited=True) as stack:
        began = time.monotonic()
        added = add_offline(path, stack, rng)
        adding = time.monotonic() - began
        kills = drain_and_kill(path, stack, rng)
        draining = time.monotonic() - began - adding
        reported = check_report(path, added)
        check_service(stack, added)
    print(
        f"\n{SCANS} scans of {CARDS} cards added in {adding:.1f} s, drained in {draining:.1f} s; "
        f"{kills.total()} kills ({', '.join(f'{n} when {point}' for point, n in kills.items())}), "
        f"server killed once; {reported['replayed']} replays, {reported[200]} activated, {reported[409]} refused"
    )


def drain_and_kill(path: Path, stack: Stack, rng: random.Random) -> Counter[Failpoint]:
    """Kill many processes, one of them with the server, and let the last one finish."""
    port, key, kills = free_port(), stack.key("live"), Counter[Failpoint]()
    server = serve(stack.environment, port)
    try:
        while kills.total() < KILLS:
            failpoint = list(Failpoint)[kills.total() % 5]
            drainer = DrainProcess(path, server.base_url, key, failpoint, rng.randint(1, COUNTDOWNS.get(failpoint, 1)))
            if failpoint is Failpoint.ANYWHERE:
                drainer.wait_until_sending()
                time.sleep(rng.random() * 0.25)
                if kills.total() == KILLS // 2 - 1:
                    server.kill()
                drainer.process.kill()
            assert drainer.wait_until_ended() == -signal.SIGKILL
            assert waiting(path) > 0
            # At the first commit no request can be in flight; at any other point at least one must be.
            kills[failpoint] += drainer.in_flight.value > 0
            if not server.is_alive():
                server = serve(stack.environment, port)
        assert DrainProcess(path, server.base_url, key, Failpoint.NOWHERE).wait_until_ended() == 0
    finally:
        server.stop()
    return kills


def check_report(path: Path, added: dict[int, tuple[str, datetime]]) -> Counter[object]:
    """Each scan was reported once. Of each card the first scan was activated and the others were refused, in order."""
    with sqlite3.connect(path) as db:
        reported = db.execute("SELECT id, card, status, replayed FROM reported ORDER BY rowid").fetchall()
    db.close()
    assert Counter(id for id, *_ in reported) == Counter(dict.fromkeys(added, 1))
    of_card: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for id, card, status, _ in reported:
        assert card == added[id][0]
        of_card[card].append((id, status))
    for card, scans in of_card.items():
        ids, statuses = zip(*scans, strict=True)
        assert list(ids) == sorted(ids), card
        assert list(statuses) == [200] + [409] * (len(scans) - 1), card
    replays = sum(replayed for *_, replayed in reported)
    assert replays > 0
    return Counter({"replayed": replays, **Counter(status for _, _, status, _ in reported)})


def check_service(stack: Stack, added: dict[int, tuple[str, datetime]]) -> None:
    """The service has each scan once, and each ticket was activated by its first scan, at the time of that scan."""
    first: dict[str, datetime] = {}
    for number, at in added.values():
        first.setdefault(number, at)
    with psycopg.connect(stack.database_url) as db:
        found = db.execute(STORED, [SCANNER]).fetchall()
    assert len(found) == SCANS
    activated = [(number, at) for number, at, verdict in found if verdict == "activated"]
    assert len(activated) == CARDS
    assert dict(activated) == first
    assert Counter((number, at) for number, at, _ in found) == Counter(added.values())


def test_what_was_added_survives_a_kill(tmp_path: Path) -> None:
    """On a real disk, killed at a random moment each time."""
    path, known, rng = tmp_path / "scans.db", dict[int, int](), dice()
    for _ in range(10):
        ours, theirs = FORKING.Pipe(duplex=False)
        process = FORKING.Process(target=add, args=(str(path), len(known) * 10, theirs), daemon=True)
        process.start()
        theirs.close()
        assert ours.poll(ENDS_WITHIN)
        time.sleep(rng.random() * 0.2)
        process.kill()
        before = len(known)
        try:
            while True:
                id, number = ours.recv()
                known[id] = number
        except EOFError:
            ours.close()
        process.join(ENDS_WITHIN)
        assert process.exitcode == -signal.SIGKILL
        assert len(known) > before
    with ScanQueue(path) as queue:
        kept = {scan.id: scan for scan in queue._file.waiting(after=0, limit=1_000_000)}
    assert {id: kept[id].card for id in known} == {id: f"card {number}" for id, number in known.items()}
    assert len({scan.idempotency_key for scan in kept.values()}) == len(kept)
    # A scan whose `add` did not return may be stored or not: at most one per kill.
    assert len(kept) - len(known) <= 10
    print(f"\n10 kills while adding: {len(known)} scans were promised, {len(kept)} are there")


STORED = "SELECT card_number, occurred_at, verdict FROM scan WHERE scanner_id = %s"
