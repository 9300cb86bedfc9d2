"""The journal of a gate: each scan is written before it is sent, and each decision before it is shown.

So a process that dies at any moment leaves every admission that was shown on the disk. Entries that the device decided
have a sequence without gaps, and are uploaded once the service can be reached.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

from gatepass_sdk._arguments import format_time
from gatepass_sdk._gate.code import Code
from gatepass_sdk._gate.signing import DeviceKey
from gatepass_sdk._gate.storage.database import GateDatabase
from gatepass_sdk._gate.storage.entry import Entry
from gatepass_sdk._queue.database import number


@dataclass(frozen=True, slots=True)
class Rejected:
    """An entry that the service did not take, and why."""

    sequence: int
    code: str
    occurred_at: datetime


class Journal:
    def __init__(self, database: GateDatabase) -> None:
        self._database = database
        # Decided by this process, and shown since: the next transaction says so.
        self._shown: set[int] = set()

    def begin(
        self, code: Code, card: bytes, *, event_id: str, gate: str, scanner_id: str, at: datetime, sending: bool
    ) -> Entry:
        """Write a scan before anything is sent. `sending` says that it will be, at once."""
        key = str(uuid4())
        shown = self._database.sealer.seal(code.to_bytes(), f"scan {key}")
        with self._database.transaction() as db:
            db.executemany(SEEN, [(id,) for id in self._shown])
            values = (key, card, event_id, gate, scanner_id, format_time(at), shown, sending)
            id = db.execute(BEGIN, values).lastrowid
            row = db.execute(f"{SELECT} WHERE id = ?", (id,)).fetchone()
        self._shown.clear()
        return Entry.of(row, self._database.sealer)

    def sending(self, entry: Entry) -> None:
        """From now on the service may have activated the ticket, whatever becomes of the answer."""
        if not entry.was_sent:
            with self._database.transaction() as db:
                db.execute("UPDATE scan SET was_sent = 1 WHERE id = ?", (entry.id,))

    def admission(self, card: bytes) -> Entry | None:
        """The last time that this gate let this card in."""
        return self._one(f"{SELECT} WHERE card = ? AND let_in ORDER BY id DESC LIMIT 1", card)

    def was_shown(self, entry: Entry) -> bool:
        """False if the process died after it was written: nobody knows whether the screen showed it."""
        return entry.was_seen or entry.id in self._shown

    def showing(self, entry: Entry) -> None:
        self._shown.add(entry.id)

    def unsettled(self, card: bytes) -> Entry | None:
        """The scan of this card that must be repeated, because its outcome is not known."""
        last = self._one(f"{SELECT} WHERE card = ? ORDER BY id DESC LIMIT 1", card)
        return last if last is not None and last.is_unsettled else None

    def answered(self, entry: Entry, verdict: str, *, let_in: bool, at: datetime) -> None:
        """The service decided. An entry that has a sequence already is uploaded all the same: there is no gap."""
        with self._database.transaction() as db:
            db.execute(ANSWERED, {"verdict": verdict, "let_in": let_in, "at": format_time(at), "id": entry.id})
        self._shown.add(entry.id)

    def decided(self, entry: Entry, verdict: str, *, admitted: bool, key: DeviceKey, device_id: str) -> int:
        """The device decided: write it, signed. Returns its sequence."""
        with self._database.transaction() as db:
            sequence = entry.sequence
            if sequence is None:
                sequence = number(db, "UPDATE last_sequence SET value = value + 1 RETURNING value")
            signature = entry.signed(key, device_id, sequence, admitted=admitted)
            db.execute(DECIDED, (verdict, admitted, admitted, sequence, signature, entry.id))
        self._shown.add(entry.id)
        return sequence

    def abandoned(self, *, before: datetime) -> list[Entry]:
        """Scans without a decision whose guest did not come back."""
        found = self._all(f"{SELECT} WHERE verdict IS NULL AND settled_at IS NULL ORDER BY id", ())
        return [entry for entry in found if datetime.fromisoformat(entry.occurred_at) < before]

    def waiting(self, limit: int, *, after: int = 0) -> list[Entry]:
        """Entries to be uploaded, in the order of their sequence."""
        return self._all(f"{SELECT} WHERE {WAITING} AND sequence > ? ORDER BY sequence LIMIT ?", (after, limit))

    def uploading(self, entries: Iterable[Entry], *, at: datetime) -> None:
        """Before they are sent: what the service may have seen is never changed again."""
        with self._database.transaction() as db:
            db.executemany(UPLOADING, [(format_time(at), entry.id) for entry in entries])

    def acknowledged(self, results: Iterable[Mapping[str, Any]], *, at: datetime) -> None:
        """Store the results, and delete the codes of what the service has taken."""
        taken, rejected = [], []
        for result in results:
            outcome, sequence = str(result.get("outcome")), result.get("sequence")
            code, incidents = result.get("code"), len(result.get("incidents") or ())
            if outcome in ("activated", "recorded"):
                taken.append((format_time(at), outcome, code, incidents, sequence))
            elif outcome == "rejected":
                rejected.append((outcome, code, sequence))
        with self._database.transaction() as db:
            db.executemany(TAKEN, taken)
            db.executemany(REJECTED, rejected)

    def rejected(self) -> list[Rejected]:
        with self._database.connection() as db:
            rows = db.execute(LIST_REJECTED).fetchall()
        return [Rejected(sequence, code or "", datetime.fromisoformat(at)) for sequence, code, at in rows]

    def try_rejected_again(self) -> None:
        with self._database.transaction() as db:
            db.execute("UPDATE scan SET outcome = NULL, code = NULL WHERE outcome = 'rejected'")

    def forget(self, *, before: datetime) -> None:
        """Delete what the service has had for long, and leave nothing of it in SQLite's own journal."""
        with self._database.transaction() as db:
            db.executemany(SEEN, [(id,) for id in self._shown])
            db.execute(FORGET, (format_time(before),))
        self._shown.clear()
        self._database.overwrite()

    def count_waiting(self) -> int:
        with self._database.connection() as db:
            return number(db, f"SELECT count(*) FROM scan WHERE {WAITING}")

    def last_sequence(self) -> int:
        with self._database.connection() as db:
            return number(db, "SELECT value FROM last_sequence")

    def _one(self, sql: str, *values: object) -> Entry | None:
        found = self._all(sql, values)
        return found[0] if found else None

    def _all(self, sql: str, values: Sequence[object]) -> list[Entry]:
        with self._database.connection() as db:
            return [Entry.of(row, self._database.sealer) for row in db.execute(sql, values).fetchall()]


SELECT: Final = """
    SELECT id, idempotency_key, card, event_id, gate, scanner_id, occurred_at, shown, was_sent, verdict, let_in,
           was_seen, sequence, admitted, signature, uploaded_at, settled_at
      FROM scan
"""

WAITING: Final = "sequence IS NOT NULL AND settled_at IS NULL AND outcome IS NULL"

BEGIN: Final = """
    INSERT INTO scan (idempotency_key, card, event_id, gate, scanner_id, occurred_at, shown, was_sent)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""

SEEN: Final = "UPDATE scan SET was_seen = 1 WHERE id = ?"

ANSWERED: Final = """
    UPDATE scan
       SET verdict = :verdict,
           let_in = :let_in,
           settled_at = CASE WHEN sequence IS NULL THEN :at END,
           shown = CASE WHEN sequence IS NOT NULL THEN shown END
     WHERE id = :id
"""

DECIDED: Final = """
    UPDATE scan
       SET verdict = ?, let_in = ?, admitted = ?, sequence = ?, signature = ?
     WHERE id = ?
"""

UPLOADING: Final = "UPDATE scan SET uploaded_at = coalesce(uploaded_at, ?) WHERE id = ?"

TAKEN: Final = """
    UPDATE scan
       SET settled_at = ?, outcome = ?, code = ?, incidents = ?, shown = NULL
     WHERE sequence = ?
       AND settled_at IS NULL
"""

REJECTED: Final = "UPDATE scan SET outcome = ?, code = ? WHERE sequence = ? AND settled_at IS NULL"

LIST_REJECTED: Final = "SELECT sequence, code, occurred_at FROM scan WHERE outcome = 'rejected' ORDER BY sequence"

FORGET: Final = "DELETE FROM scan WHERE settled_at < ?"
