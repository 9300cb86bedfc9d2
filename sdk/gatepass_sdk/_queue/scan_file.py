"""The scans of a queue in SQLite: added, sent, answered, reported, deleted.

The token of a scan is removed when its answer is stored, because it is no longer needed.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from gatepass_sdk._arguments import format_time
from gatepass_sdk._queue.database import QueueDatabase, number
from gatepass_sdk._queue.verdict import Outcome, QueuedScan, Verdict
from gatepass_sdk.errors import QueueError

OnVerdict = Callable[[Verdict, sqlite3.Connection], None]


class ScanFile:
    def __init__(self, database: QueueDatabase) -> None:
        self._database = database

    def add(self, body: dict[str, Any], card: str, key: str) -> int:
        row = {"card_number": None, "token": None, "scanner_id": None, "gate": None, **body, "card": card, "key": key}
        with self._database.transaction() as db:
            id = db.execute(ADD, row).lastrowid
        assert id is not None  # noqa: S101  an INSERT has one
        return id

    def waiting(self, *, after: int, limit: int) -> list[QueuedScan]:
        """Scans without an answer, in the order in which they were added."""
        with self._database.connection() as db:
            return [_scan(row) for row in db.execute(WAITING, (after, limit))]

    def record(
        self, answers: Iterable[tuple[QueuedScan, Outcome]], *, sending: Iterable[QueuedScan], at: datetime
    ) -> None:
        """Store these answers, and that these scans are about to be sent."""
        answered = [
            (format_time(at), outcome.ticket is not None, json.dumps(outcome.as_dict()), scan.id)
            for scan, outcome in answers
        ]
        sent = [(format_time(at), scan.id) for scan in sending]
        if answered or sent:
            with self._database.transaction() as db:
                db.executemany(ANSWERED, answered)
                db.executemany(SENT, sent)

    def is_activated_by_another(self, scan: QueuedScan) -> bool:
        """Whether another scan of this file activated the same ticket."""
        with self._database.connection() as db:
            return number(db, ACTIVATED_BY_ANOTHER, (scan.card, scan.event_id, scan.id)) > 0

    def acknowledged(self, *, after: datetime) -> list[tuple[datetime, QueuedScan]]:
        """Scans that activated a ticket, or probably did, and were answered after this time, with that time."""
        with self._database.connection() as db:
            found = [(datetime.fromisoformat(row[10]), _scan(row)) for row in db.execute(ACKNOWLEDGED)]
        return [(answered_at, scan) for answered_at, scan in found if answered_at > after]

    def already_activated(self) -> list[Verdict]:
        """The refusals that name another activation."""
        with self._database.connection() as db:
            return [_verdict(row) for row in db.execute(ALREADY_ACTIVATED)]

    def activated_or_waiting(self) -> list[tuple[str, str]]:
        """The event and the card of each ticket that a scan of this file activated, or may still activate."""
        with self._database.connection() as db:
            return db.execute(ACTIVATED_OR_WAITING).fetchall()

    def unreported(self, limit: int) -> list[Verdict]:
        with self._database.connection() as db:
            return [_verdict(row) for row in db.execute(UNREPORTED, (limit,))]

    def mark_reported(self, id: int, *, at: datetime) -> None:
        with self._database.transaction() as db:
            db.execute(REPORTED, (format_time(at), id))

    def report(self, on_verdict: OnVerdict, *, limit: int, at: datetime) -> int:
        """Call `on_verdict` inside the transaction that marks the verdicts as reported. Returns their number.

        If `on_verdict` fails, only that verdict is rolled back: it comes again, those before it do not.
        """
        failure: Exception | None = None
        reported = 0
        with self._database.transaction() as db:
            for verdict in [_verdict(row) for row in db.execute(UNREPORTED, (limit,))]:
                db.execute("SAVEPOINT verdict")
                db.execute(REPORTED, (format_time(at), verdict.id))
                failure = _failure_of(on_verdict, verdict, db)
                if not db.in_transaction:
                    raise failure or QueueError("on_verdict must not commit: the queue does, when it returns.")
                if failure is not None:
                    db.execute("ROLLBACK TO verdict")
                    break
                db.execute("RELEASE verdict")
                reported += 1
        if failure is not None:
            raise failure
        return reported

    def forget(self, *, reported_before: datetime) -> None:
        """Delete scans that were reported before this time, and leave no removed token in the journal."""
        with self._database.transaction() as db:
            db.execute(FORGET, (format_time(reported_before),))
        with self._database.connection() as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def counts(self) -> tuple[int, int, int]:
        """The numbers of waiting scans, of answered ones, and of those answered but not reported."""
        with self._database.connection() as db:
            return number(db, COUNT_WAITING), number(db, COUNT_SETTLED), number(db, COUNT_UNREPORTED)


def _failure_of(on_verdict: OnVerdict, verdict: Verdict, db: sqlite3.Connection) -> Exception | None:
    try:
        on_verdict(verdict, db)
    except Exception as error:  # noqa: BLE001  it is raised when what came before it is kept
        return error
    return None


def _scan(row: Sequence[Any]) -> QueuedScan:
    id, key, event_id, card, card_number, token, scanner_id, gate, occurred_at, sent_at = row[:10]
    return QueuedScan(
        id=id,
        idempotency_key=key,
        event_id=event_id,
        card=card,
        card_number=card_number,
        token=token,
        scanner_id=scanner_id,
        gate=gate,
        occurred_at=datetime.fromisoformat(occurred_at),
        sent_at=datetime.fromisoformat(sent_at) if sent_at else None,
    )


def _verdict(row: Sequence[Any]) -> Verdict:
    answered_at, answer = row[10:]
    return Verdict.of(_scan(row), Outcome(**json.loads(answer)), datetime.fromisoformat(answered_at))


ADD: Final = """
    INSERT INTO scan (idempotency_key, event_id, card, card_number, token, scanner_id, gate, occurred_at)
    VALUES (:key, :event_id, :card, :card_number, :token, :scanner_id, :gate, :occurred_at)
"""

WAITING: Final = """
    SELECT id, idempotency_key, event_id, card, card_number, token, scanner_id, gate, occurred_at, sent_at
      FROM scan
     WHERE answered_at IS NULL
       AND id > ?
     ORDER BY id
     LIMIT ?
"""

ANSWERED: Final = """
    UPDATE scan
       SET answered_at = ?, activated = ?, answer = ?, token = NULL
     WHERE id = ?
       AND answered_at IS NULL
"""

SENT: Final = "UPDATE scan SET sent_at = coalesce(sent_at, ?) WHERE id = ?"

ACTIVATED_BY_ANOTHER: Final = "SELECT count(*) FROM scan WHERE activated AND card = ? AND event_id = ? AND id <> ?"

# Times of different files, and of different clocks, are compared when they are read.
ACKNOWLEDGED: Final = """
    SELECT id, idempotency_key, event_id, card, card_number, token, scanner_id, gate, occurred_at, sent_at, answered_at
      FROM scan
     WHERE activated
        OR json_extract(answer, '$.probably_ours')
     ORDER BY id
"""

ALREADY_ACTIVATED: Final = """
    SELECT id, idempotency_key, event_id, card, card_number, token, scanner_id, gate, occurred_at, sent_at,
           answered_at, answer
      FROM scan
     WHERE json_extract(answer, '$.code') = 'already_activated'
       AND json_extract(answer, '$.details.activated_at') IS NOT NULL
       AND NOT json_extract(answer, '$.probably_ours')
     ORDER BY id
"""

ACTIVATED_OR_WAITING: Final = """
    SELECT event_id, card
      FROM scan
     WHERE activated
        OR answered_at IS NULL
        OR json_extract(answer, '$.probably_ours')
"""

UNREPORTED: Final = """
    SELECT id, idempotency_key, event_id, card, card_number, token, scanner_id, gate, occurred_at, sent_at,
           answered_at, answer
      FROM scan
     WHERE answered_at IS NOT NULL
       AND reported_at IS NULL
     ORDER BY id
     LIMIT ?
"""

REPORTED: Final = "UPDATE scan SET reported_at = ? WHERE id = ?"

FORGET: Final = "DELETE FROM scan WHERE reported_at < ?"

COUNT_WAITING: Final = "SELECT count(*) FROM scan WHERE answered_at IS NULL"
COUNT_SETTLED: Final = "SELECT count(*) FROM scan WHERE answered_at IS NOT NULL"
COUNT_UNREPORTED: Final = "SELECT count(*) FROM scan WHERE answered_at IS NOT NULL AND reported_at IS NULL"
