"""The file of a `ScanQueue`: its mode, its contents, and the errors if it cannot be used."""

import sqlite3
import stat
import threading
from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gatepass_sdk import SANDBOX_EVENT_ID, Gatepass, QueueError, QueueInUse, ScanQueue, Verdict
from tests.sdk.stack import Stack


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "scans.db"


@pytest.fixture
def queue(path: Path) -> Generator[ScanQueue]:
    with ScanQueue(path) as opened:
        yield opened


@pytest.fixture
def sandbox(stack: Stack) -> Generator[Gatepass]:
    with Gatepass(stack.key("sandbox"), base_url=stack.base_url) as made:
        yield made


def add_some(queue: ScanQueue, number: int) -> list[int]:
    return [queue.add(SANDBOX_EVENT_ID, card_number="TEST_VALID") for _ in range(number)]


def test_the_file_is_its_owners_alone(path: Path) -> None:
    path.touch(0o644)
    with ScanQueue(path) as queue:
        add_some(queue, 1)
        modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()}
    assert set(modes) == {"scans.db", "scans.db-wal", "scans.db-shm"}
    assert set(modes.values()) == {0o600}


def test_a_token_is_gone_with_its_verdict(stack: Stack, path: Path, queue: ScanQueue) -> None:
    token = stack.unused()["token"]
    signature = token.rpartition(".")[2].encode()

    def is_kept() -> bool:
        return any(signature in one.read_bytes() for one in path.parent.iterdir())

    queue.add(stack.event_id, token=token)
    assert is_kept()
    with Gatepass(stack.key("live"), base_url=stack.base_url) as client:
        assert queue.drain(client).settled == 1
    assert not is_kept()
    assert queue.unreported == 1


def test_a_reported_scan_is_kept_as_long_as_was_asked(path: Path, sandbox: Gatepass) -> None:
    with ScanQueue(path, keep_reported=timedelta(hours=1)) as queue:
        add_some(queue, 2)
        queue.drain(sandbox)
        assert len(list(queue.verdicts())) == 2
        queue.drain(sandbox)
        assert queue.settled == 2
    with ScanQueue(path, keep_reported=timedelta(0)) as queue:
        (unreported,) = add_some(queue, 1)
        queue.drain(sandbox)
        assert queue.settled == 1
        assert [one.id for one in queue.verdicts()] == [unreported]


def test_a_verdict_that_was_in_hand_comes_again(queue: ScanQueue, sandbox: Gatepass) -> None:
    first, second, third = add_some(queue, 3)
    queue.drain(sandbox)
    for verdict in queue.verdicts():
        if verdict.id == second:
            break
    assert [one.id for one in queue.verdicts()] == [second, third]
    assert first < second < third
    assert list(queue.verdicts()) == []


def record(verdict: Verdict, db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE IF NOT EXISTS recorded (id INTEGER)")
    db.execute("INSERT INTO recorded VALUES (?)", (verdict.id,))


def recorded(path: Path) -> list[int]:
    with sqlite3.connect(path) as db:
        found = [id for (id,) in db.execute("SELECT id FROM recorded ORDER BY rowid")]
    db.close()
    return found


def test_what_is_written_beside_a_verdict_is_written_once(path: Path, queue: ScanQueue, sandbox: Gatepass) -> None:
    ids = add_some(queue, 5)
    failing_id = ids[2]

    def fail_at_one(verdict: Verdict, db: sqlite3.Connection) -> None:
        record(verdict, db)
        if verdict.id == failing_id:
            raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            queue.drain(sandbox, fail_at_one, workers=1)
        assert recorded(path) == ids[:2]
    assert queue.drain(sandbox, record).waiting == 0
    assert recorded(path) == ids


def test_an_application_that_commits_too_early_gets_an_error(queue: ScanQueue, sandbox: Gatepass) -> None:
    add_some(queue, 1)
    with pytest.raises(QueueError, match="must not commit"):
        queue.drain(sandbox, lambda _verdict, db: db.commit())


def test_the_queue_is_not_changed_from_within(queue: ScanQueue, sandbox: Gatepass) -> None:
    add_some(queue, 1)
    with pytest.raises(QueueError, match="from within on_verdict"):
        queue.drain(sandbox, lambda _verdict, _db: print(add_some(queue, 1)))
    assert len(list(queue.verdicts())) == 1


def test_only_one_may_drain_and_all_may_add(path: Path, queue: ScanQueue, sandbox: Gatepass) -> None:
    add_some(queue, 2)
    queue.drain(sandbox)
    with ScanQueue(path) as other:
        verdicts = queue.verdicts()
        next(verdicts)
        for refused in (lambda: other.drain(sandbox), lambda: queue.drain(sandbox), lambda: list(other.verdicts())):
            with pytest.raises(QueueInUse):
                refused()
        add_some(other, 1)
        assert len(list(verdicts)) == 1
        assert other.drain(sandbox).settled == 1


def test_threads_add_while_one_drains(queue: ScanQueue, sandbox: Gatepass) -> None:
    threads = [threading.Thread(target=add_some, args=(queue, 8)) for _ in range(4)]
    for thread in threads:
        thread.start()
    queue.drain(sandbox)
    for thread in threads:
        thread.join()
    queue.drain(sandbox)
    assert (queue.waiting, queue.settled) == (0, 32)


def test_many_may_make_the_file_at_once(path: Path) -> None:
    made: list[int] = []

    def make() -> None:
        with ScanQueue(path) as queue:
            made.extend(add_some(queue, 1))

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == list(range(1, 9))


def test_a_full_disk_is_reported_and_loses_nothing(queue: ScanQueue, sandbox: Gatepass) -> None:
    ids = add_some(queue, 3)
    with queue._database.connection() as db:
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages}").fetchall()
    with pytest.raises(QueueError, match="the disk is full"):
        ids += add_some(queue, 1000)
    with queue._database.connection() as db:
        db.execute("PRAGMA max_page_count = 1000000").fetchall()
    assert queue.waiting >= 3
    assert queue.drain(sandbox).waiting == 0


def test_a_damaged_file_is_reported(path: Path) -> None:
    with ScanQueue(path) as queue:
        add_some(queue, 200)
    raw = bytearray(path.read_bytes())
    raw[4096:] = bytes(len(raw) - 4096)
    path.write_bytes(raw)
    with ScanQueue(path) as queue, pytest.raises(QueueError, match="damaged"):
        add_some(queue, 1)


def test_a_file_that_is_no_queue_is_left_as_it_is(path: Path) -> None:
    path.write_text("Dear diary, " * 1000)
    with pytest.raises(QueueError, match="no queue"):
        ScanQueue(path)
    assert path.read_text() == "Dear diary, " * 1000
    path.unlink()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE diary (day)")
    db.close()
    with pytest.raises(QueueError, match="another program's"):
        ScanQueue(path)


def test_a_file_of_a_newer_version_is_not_touched(path: Path) -> None:
    ScanQueue(path).close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 2")
    db.close()
    with pytest.raises(QueueError, match="newer"):
        ScanQueue(path)


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(QueueError, match="No such file"):
        ScanQueue(tmp_path / "nowhere" / "scans.db")


def test_a_scan_that_cannot_be_one_is_not_kept(queue: ScanQueue) -> None:
    with pytest.raises(ValueError, match="either card_number or token"):
        queue.add(SANDBOX_EVENT_ID)
    with pytest.raises(ValueError, match="zone"):
        queue.add(SANDBOX_EVENT_ID, card_number="TEST_VALID", occurred_at=datetime.now(UTC).replace(tzinfo=None))
    assert queue.waiting == 0


def test_no_token_shows_in_a_repr(queue: ScanQueue, path: Path) -> None:
    queue.add(SANDBOX_EVENT_ID, token="SVC1.TEST_VALID.0.0")
    (scan,) = queue._file.waiting(after=0, limit=9)
    assert "SVC1" not in repr(scan)
    assert repr(queue) == f"ScanQueue({str(path)!r})"
