"""How far the bridge is, in one small SQLite file. Without the file it reads everything again, and doubles nothing."""

import sqlite3
from pathlib import Path

TABLES = """
    BEGIN EXCLUSIVE;
    CREATE TABLE IF NOT EXISTS cursor (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS refused (code TEXT PRIMARY KEY);
    COMMIT;
"""


class Cursors:
    """Each change is on the disk when the call returns. The file is locked: a second bridge on it does not start."""

    def __init__(self, file: Path) -> None:
        self._db = sqlite3.connect(file, isolation_level=None, timeout=0)
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._db.executescript(TABLES)

    def read(self, name: str) -> str | None:
        row = self._db.execute("SELECT value FROM cursor WHERE name = ?", [name]).fetchone()
        return None if row is None else row[0]

    def write(self, name: str, value: str) -> None:
        if self.read(name) != value:
            self._db.execute("INSERT OR REPLACE INTO cursor VALUES (?, ?)", [name, value])

    def refused(self) -> set[str]:
        """The codes of orders that Gatepass refused, in whole or in part. They are tried again."""
        return {code for (code,) in self._db.execute("SELECT code FROM refused")}

    def refuse(self, code: str) -> bool:
        """Whether it was not refused before."""
        return self._db.execute("INSERT OR IGNORE INTO refused VALUES (?)", [code]).rowcount == 1

    def accept(self, code: str) -> None:
        self._db.execute("DELETE FROM refused WHERE code = ?", [code])

    def close(self) -> None:
        self._db.close()
