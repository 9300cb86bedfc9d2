"""Ten thousand scans taken offline, and a process that is killed fifty times while it drains them."""

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
from tests.postgres import Cluster, free_port
from tests.sdk.doomed_queue import Failpoint, add, drain
from tests.sdk.stack import Stack, running
from tests.serving import serve

SCANS = 10_000
CARDS = 8_500
KILLS = 50
SCANNER = "scanner-7"
# Importing takes longer than the rest of such a process's life, so it is done once, in the server that forks them.
FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(["pytest", "tests.sdk.doomed_queue"])
# The n-th time that it comes by, so that all of them together never reach the end.
COUNTDOWNS = {Failpoint.SENT: 150, Failpoint.ANSWERED: 150, Failpoint.COMMITTING: 20, Failpoint.REPORTING: 150}
ENDS_WITHIN = 60


@pytest.fixture
def path() -> Generator[Path]:
    """In memory where that is possible: power cuts are not in this test, and the disk has others to serve."""
    memory = Path("/dev/shm")  # noqa: S108
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder) / "scans.db"


class Life:
    """A process that drains, until its death."""

    def __init__(self, path: Path, base_url: str, key: str, failpoint: Failpoint, countdown: int = 0) -> None:
        self.failpoint = failpoint
        self.on_the_way = FORKING.RawValue("i", 0)
        self.begun, theirs = FORKING.Pipe(duplex=False)
        given = (str(path), base_url, key, (failpoint, countdown), self.on_the_way, theirs)
        self.process = FORKING.Process(target=drain, args=given, daemon=True)
        self.process.start()
        theirs.close()

    def begins(self) -> None:
        assert self.begun.poll(ENDS_WITHIN)
        assert self.begun.recv() is True

    def ends(self) -> int | None:
        self.process.join(ENDS_WITHIN)
        self.begun.close()
        return self.process.exitcode


def unused_cards(stack: Stack) -> list[dict[str, str]]:
    """The demo shows the tokens of a thousand; the others have numbers."""
    with psycopg.connect(stack.database_url) as db:
        numbers = [number for (number,) in db.execute(UNUSED, [stack.event_id, CARDS])]
    tokens = {card["card_number"]: card["token"] for card in stack.demo["cards"]["unused"]}
    found = [{"card_number": number, "token": tokens.get(number, "")} for number in numbers]
    assert len(found) == CARDS
    return found


def add_offline(path: Path, stack: Stack, chance: random.Random) -> dict[int, tuple[str, datetime]]:
    """Most cards once, some again and again, by number and by token."""
    cards = unused_cards(stack)
    shown = cards + chance.choices([card for card in cards if card["token"]], k=SCANS - CARDS)
    chance.shuffle(shown)
    began, added = datetime.now(UTC) - timedelta(hours=3), dict[int, tuple[str, datetime]]()
    with ScanQueue(path) as queue:
        for n, card in enumerate(shown):
            number, at = card["card_number"], began + timedelta(seconds=n)
            by_token = card["token"] and chance.random() < 0.5
            what = {"token": card["token"]} if by_token else {"card_number": number.lower()}
            id = queue.add(stack.event_id, **what, scanner_id=SCANNER, gate="North", occurred_at=at)
            added[id] = number, at
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE told (id INTEGER, card TEXT, status INTEGER, replayed INTEGER)")
    db.close()
    return added


def waiting(path: Path) -> int:
    with ScanQueue(path) as queue:
        return queue.waiting


@pytest.mark.slow
def test_each_scan_is_delivered_and_answered_once(cluster: Cluster, path: Path) -> None:
    chance = random.Random()
    with running(cluster, tickets=CARDS, unlimited=True) as stack:
        began = time.monotonic()
        added = add_offline(path, stack, chance)
        adding = time.monotonic() - began
        kills = drain_and_kill(path, stack, chance)
        draining = time.monotonic() - began - adding
        told = check_report(path, added)
        check_service(stack, added)
    print(
        f"\n{SCANS} scans of {CARDS} cards added in {adding:.1f} s, drained in {draining:.1f} s; "
        f"{kills.total()} kills ({', '.join(f'{n} when {point}' for point, n in kills.items())}), "
        f"server killed once; {told['replayed']} replays, {told[200]} activated, {told[409]} refused"
    )


def drain_and_kill(path: Path, stack: Stack, chance: random.Random) -> Counter[Failpoint]:
    """Lives that end badly, one of them with the server, and one that does not."""
    port, key, kills = free_port(), stack.key("live"), Counter[Failpoint]()
    server = serve(stack.environment, port)
    try:
        while kills.total() < KILLS:
            failpoint = list(Failpoint)[kills.total() % 5]
            life = Life(path, server.base_url, key, failpoint, chance.randint(1, COUNTDOWNS.get(failpoint, 1)))
            if failpoint is Failpoint.ANYWHERE:
                life.begins()
                time.sleep(chance.random() * 0.25)
                if kills.total() == KILLS // 2 - 1:
                    server.kill()
                life.process.kill()
            assert life.ends() == -signal.SIGKILL
            assert waiting(path) > 0
            # Nothing could be on its way at the very first commit; at any other point something must be.
            kills[failpoint] += life.on_the_way.value > 0
            if not server.is_alive():
                server = serve(stack.environment, port)
        assert Life(path, server.base_url, key, Failpoint.NOWHERE).ends() == 0
    finally:
        server.stop()
    return kills


def check_report(path: Path, added: dict[int, tuple[str, datetime]]) -> Counter[object]:
    """Each scan was told of once, and of each card the first entered and the others did not, in their order."""
    with sqlite3.connect(path) as db:
        told = db.execute("SELECT id, card, status, replayed FROM told ORDER BY rowid").fetchall()
    db.close()
    assert Counter(id for id, *_ in told) == Counter(dict.fromkeys(added, 1))
    of_card: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for id, card, status, _ in told:
        assert card == added[id][0]
        of_card[card].append((id, status))
    for card, scans in of_card.items():
        ids, statuses = zip(*scans, strict=True)
        assert list(ids) == sorted(ids), card
        assert list(statuses) == [200] + [409] * (len(scans) - 1), card
    replays = sum(replayed for *_, replayed in told)
    assert replays > 0
    return Counter({"replayed": replays, **Counter(status for _, _, status, _ in told)})


def check_service(stack: Stack, added: dict[int, tuple[str, datetime]]) -> None:
    """The service has each scan once, and each ticket is activated by the first, at the time when it was shown."""
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


@pytest.mark.slow
def test_what_was_added_survives_a_kill(tmp_path: Path) -> None:
    """On a real disk, and each time at another moment."""
    path, known, chance = tmp_path / "scans.db", dict[int, int](), random.Random()
    for _ in range(10):
        ours, theirs = FORKING.Pipe(duplex=False)
        process = FORKING.Process(target=add, args=(str(path), len(known) * 10, theirs), daemon=True)
        process.start()
        theirs.close()
        assert ours.poll(ENDS_WITHIN)
        time.sleep(chance.random() * 0.2)
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
    # A scan whose `add` did not return may be there or not: one for each kill, at most.
    assert len(kept) - len(known) <= 10
    print(f"\n10 kills while adding: {len(known)} scans were promised, {len(kept)} are there")


UNUSED = """
    SELECT c.number
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
     WHERE t.event_id = %s
       AND t.activated_at IS NULL
       AND t.cancelled_at IS NULL
       AND c.status = 'active'
     ORDER BY c.number
     LIMIT %s
"""
STORED = "SELECT card_number, occurred_at, verdict FROM scan WHERE scanner_id = %s"
