"""The SQLite file of a queue: its connection, its transactions, and a lock that one process at a time holds.

A transaction is on the disk when it returns.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gatepass_sdk.errors import QueueError, QueueInUse

VERSION: Final = 1
# "gate": another program's SQLite file is not taken for a queue.
APPLICATION: Final = 0x67617465
# Other processes hold the file for milliseconds, unless their `on_verdict` is slow.
BUSY_SECONDS: Final = 30.0


class QueueDatabase:
    """One file, for any number of threads and processes. A gate has tables of its own in such a file."""

    def __init__(self, path: Path, *, schema: Sequence[str] | None = None, application: int | None = None) -> None:
        self.path = path
        self._schema = SCHEMA if schema is None else schema
        self._application = APPLICATION if application is None else application
        # Reentrant, so that a transaction inside a transaction raises instead of waiting for itself.
        self._lock = threading.RLock()
        with _queue_errors(path):
            _make_private(path)
            self._db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            self._prepare()
        except BaseException:
            self._db.close()
            raise

    def _prepare(self) -> None:
        with _queue_errors(self.path):
            _enable_wal(self._db)
            for pragma in PRAGMAS:
                self._db.execute(pragma)
        with self.transaction() as db:
            version, owner = number(db, "PRAGMA user_version"), number(db, "PRAGMA application_id")
            if owner == self._application and version > VERSION:
                raise QueueError(f"{self.path}: a newer gatepass-sdk made this file. Update this one.")
            if version == 0 and number(db, "SELECT count(*) FROM sqlite_master") == 0:
                for statement in self._schema:
                    db.execute(statement)
            elif owner != self._application:
                raise QueueError(f"{self.path}: this file is another program's. Give this one a file of its own.")

    @contextmanager
    def transaction(self) -> Generator[sqlite3.Connection]:
        """A transaction: all of it is committed, or nothing."""
        with self._lock, _queue_errors(self.path):
            if self._db.in_transaction:
                raise QueueError("The queue cannot be changed from within on_verdict.")
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def connection(self) -> Generator[sqlite3.Connection]:
        with self._lock, _queue_errors(self.path):
            yield self._db

    @contextmanager
    def exclusive(self) -> Generator[None]:
        """Exclusive among threads and processes. The lock is SQLite's, on a second file, and ends with its holder."""
        beside = self.path.with_name(self.path.name + "-turn")
        _make_private(beside)
        with _queue_errors(beside):
            lock = sqlite3.connect(beside, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                raise QueueInUse(f"{self.path}: somebody else is draining or reading this queue.") from error
            yield
        finally:
            lock.close()

    def close(self) -> None:
        with self._lock:
            self._db.close()


def number(db: sqlite3.Connection, sql: str, values: Sequence[object] = ()) -> int:
    found: int = db.execute(sql, values).fetchone()[0]
    return found


def _enable_wal(db: sqlite3.Connection) -> None:
    """Let readers and a writer work at once. For this statement alone SQLite does not wait while the file is busy."""
    ends = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > ends:
                raise
            time.sleep(0.01)
        else:
            return


def _make_private(path: Path) -> None:
    """Mode 0600, because the file holds tokens. SQLite gives its journals the same mode."""
    try:
        if path.exists():
            # It is not opened: closing it would release the locks that this process may hold on it.
            path.chmod(0o600)
        else:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise QueueError(f"{path}: the file cannot be used ({error.strerror}).") from error


@contextmanager
def _queue_errors(path: Path) -> Generator[None]:
    """SQLite's errors as `QueueError`, with a sentence."""
    try:
        yield
    except sqlite3.Error as error:
        sentence = SENTENCES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, f"the file cannot be used ({error})")
        raise QueueError(f"{path}: {sentence}.") from error


SENTENCES: Final = {
    sqlite3.SQLITE_FULL: "the disk is full; nothing more can be kept until there is room",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; put it aside, it may be possible to recover it",
    sqlite3.SQLITE_NOTADB: "the file is no queue, or it is damaged; put it aside",
    sqlite3.SQLITE_BUSY: "another program holds the file",
    sqlite3.SQLITE_READONLY: "the file may not be written",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened; does its folder exist?",
    sqlite3.SQLITE_IOERR: "the disk does not answer as it should",
}

PRAGMAS: Final = (
    # A commit is on the disk when it returns, and survives a power cut.
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",
    # Removed tokens are overwritten.
    "PRAGMA secure_delete = ON",
)

# A scan waits while `answered_at` is null, is unreported while `reported_at` is null, and is deleted some time later.
SCHEMA: Final = (
    """
    CREATE TABLE scan (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        idempotency_key TEXT NOT NULL UNIQUE,
        event_id TEXT NOT NULL,
        card TEXT NOT NULL,
        card_number TEXT,
        token TEXT,
        scanner_id TEXT,
        gate TEXT,
        occurred_at TEXT NOT NULL,
        sent_at TEXT,
        answered_at TEXT,
        activated INTEGER,
        answer TEXT,
        reported_at TEXT
    )
    """,
    "CREATE INDEX scan_waiting ON scan (id) WHERE answered_at IS NULL",
    "CREATE INDEX scan_unreported ON scan (id) WHERE answered_at IS NOT NULL AND reported_at IS NULL",
    "CREATE INDEX scan_reported ON scan (reported_at) WHERE reported_at IS NOT NULL",
    "CREATE INDEX scan_activated ON scan (card, event_id) WHERE activated",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)
