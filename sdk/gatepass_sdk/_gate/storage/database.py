"""The file of a gate, `gate.db`: settings, journal and manifest, on the foundations of `ScanQueue`'s file.

A transaction is on the disk when it returns, and what is deleted is overwritten. Settings, codes and the manifest are
sealed; what stands in the open are times, ids, verdicts and signatures.
"""

import json
from pathlib import Path
from typing import Any, Final

from gatepass_sdk._gate.storage.encryption import Sealer
from gatepass_sdk._queue.database import QueueDatabase

# "door": a queue's file is not taken for a gate's.
APPLICATION: Final = 0x646F6F72
FILE: Final = "gate.db"


class GateDatabase(QueueDatabase):
    def __init__(self, path: Path, sealer: Sealer) -> None:
        super().__init__(path, schema=SCHEMA, application=APPLICATION)
        self.sealer = sealer

    def setting(self, name: str) -> dict[str, Any] | None:
        with self.connection() as db:
            row = db.execute("SELECT sealed FROM setting WHERE name = ?", (name,)).fetchone()
        return None if row is None else json.loads(self.sealer.opened(row[0], f"setting {name}"))

    def keep_setting(self, name: str, value: dict[str, Any]) -> None:
        sealed = self.sealer.seal(json.dumps(value).encode(), f"setting {name}")
        with self.transaction() as db:
            db.execute(KEEP_SETTING, (name, sealed))

    def forget_setting(self, name: str) -> None:
        with self.transaction() as db:
            db.execute("DELETE FROM setting WHERE name = ?", (name,))

    def manifest_parts(self) -> list[bytes]:
        """The manifest as it came, then each of its changes."""
        with self.connection() as db:
            rows = db.execute("SELECT part, sealed FROM manifest ORDER BY part").fetchall()
        return [self.sealer.opened(sealed, f"manifest {part}") for part, sealed in rows]

    def keep_manifest(self, part: int, body: bytes) -> None:
        """Part 0 is a whole manifest and ends all parts before it."""
        sealed = self.sealer.seal(body, f"manifest {part}")
        with self.transaction() as db:
            if part == 0:
                db.execute("DELETE FROM manifest")
            db.execute("INSERT INTO manifest (part, sealed) VALUES (?, ?)", (part, sealed))

    def keep_only_change(self, body: bytes) -> None:
        """One change behind the whole manifest, in place of those that it sums up."""
        sealed = self.sealer.seal(body, "manifest 1")
        with self.transaction() as db:
            db.execute("DELETE FROM manifest WHERE part > 0")
            db.execute("INSERT INTO manifest (part, sealed) VALUES (1, ?)", (sealed,))

    def forget_manifest(self) -> None:
        with self.transaction() as db:
            db.execute("DELETE FROM manifest")
        self.overwrite()

    def overwrite(self) -> None:
        """Leave nothing that was deleted in SQLite's own journal either."""
        with self.connection() as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


KEEP_SETTING: Final = """
    INSERT INTO setting (name, sealed)
    VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed
"""

# A scan is open while `verdict` is null. Decided by the device it has a sequence and is uploaded. It is settled once
# the service has it. `card` is a mark that says nothing without the key, `shown` the sealed code until it is settled.
SCHEMA: Final = (
    "CREATE TABLE setting (name TEXT PRIMARY KEY, sealed BLOB NOT NULL)",
    "CREATE TABLE manifest (part INTEGER PRIMARY KEY, sealed BLOB NOT NULL)",
    "CREATE TABLE last_sequence (value INTEGER NOT NULL)",
    "INSERT INTO last_sequence (value) VALUES (0)",
    """
    CREATE TABLE scan (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        idempotency_key TEXT NOT NULL UNIQUE,
        card BLOB NOT NULL,
        event_id TEXT NOT NULL,
        gate TEXT NOT NULL,
        scanner_id TEXT NOT NULL,
        occurred_at TEXT NOT NULL,
        shown BLOB,
        was_sent INTEGER NOT NULL DEFAULT 0,
        verdict TEXT,
        let_in INTEGER NOT NULL DEFAULT 0,
        was_seen INTEGER NOT NULL DEFAULT 0,
        sequence INTEGER UNIQUE,
        admitted INTEGER,
        signature TEXT,
        uploaded_at TEXT,
        settled_at TEXT,
        outcome TEXT,
        code TEXT,
        incidents INTEGER NOT NULL DEFAULT 0
    )
    """,
    "CREATE INDEX scan_of_card ON scan (card, id)",
    "CREATE INDEX scan_unsettled ON scan (id) WHERE settled_at IS NULL",
    f"PRAGMA application_id = {APPLICATION}",
    "PRAGMA user_version = 1",
)
