"""Readers that hold the lock of a SELECT on every table for seconds, as a report or a dump does."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

import psycopg
from psycopg import sql

TABLES = """
    SELECT relname
      FROM pg_class
     WHERE relnamespace = 'public'::regnamespace
       AND relkind IN ('r', 'p')
       AND NOT relispartition
"""


@contextmanager
def reading(database_url: str, seconds: float) -> Generator[None]:
    """In the block, all tables are read for this time. A migration waits for the end of it."""
    holds, over = threading.Event(), threading.Event()

    def hold() -> None:
        with psycopg.connect(database_url) as db:
            names = [sql.Identifier(name) for (name,) in db.execute(TABLES).fetchall()]
            db.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(sql.SQL(", ").join(names)))
            holds.set()
            over.wait(seconds)

    reader = threading.Thread(target=hold)
    reader.start()
    assert holds.wait(60), "the reader got no lock"
    try:
        yield
    finally:
        over.set()
        reader.join()
