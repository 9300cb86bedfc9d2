"""Upgrade a database: revisions first, then the routines.

Routines (`gatepass/domain/**/*.sql`) are replaced whenever their text changes; a comment on a table
holds the fingerprint of the installed text, for `doctor` and `/readyz`.
"""

import io
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import psycopg
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import LockNotAvailable
from sqlalchemy.exc import OperationalError

from gatepass.migrations.head import HERE, ROUTINES, fingerprint, head
from gatepass.migrations.sql import statements

# Any number will do if every release uses the same.
ADVISORY_LOCK: Final = 7_220_111
# How often a revision is tried, and the seconds between two tries.
ATTEMPTS: Final = 60
PAUSE: Final = 0.5
# For each host.
CONNECT_SECONDS: Final = 5


def upgrade(url: str) -> str:
    """Bring the database to head; the revision it is at now."""
    with _only_one(url), connected(url) as connection:
        run_revisions(connection)
        _install_routines(connection)
        connection.commit()
    return head()


def run_revisions(connection: sa.Connection, last: str = "head") -> None:
    """Each revision is a transaction. One that finds a table in use is taken back as a whole, and tried again."""
    config = _config()
    config.attributes["connection"] = connection
    for attempt in range(1, ATTEMPTS + 1):
        try:
            command.upgrade(config, last)
            connection.commit()
        except OperationalError as error:
            connection.rollback()
            if not isinstance(error.orig, LockNotAvailable):
                raise
            if attempt == ATTEMPTS:
                first_line = str(error.statement).strip().splitlines()[0]
                raise TimeoutError(f"no lock after {ATTEMPTS} tries: {first_line}") from error
            time.sleep(PAUSE)
        else:
            return


@contextmanager
def _only_one(url: str) -> Generator[None]:
    """Two `migrate` at once take turns.

    The lock belongs to a transaction, because behind PgBouncer one of a session would stay with a pooled connection.
    """
    with connected(url) as connection:
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:number)"), {"number": ADVISORY_LOCK})
        yield


def as_sql() -> str:
    """Everything that `upgrade` would run on an empty database, for linters and database administrators."""
    out = io.StringIO()
    command.upgrade(_config(out), "head", sql=True)
    return "\n".join([out.getvalue(), *(path.read_text() for path in ROUTINES), _fingerprint_comment(), ""])


def _install_routines(connection: sa.Connection) -> None:
    for path in ROUTINES:
        for statement in statements(path.read_text()):
            connection.exec_driver_sql(statement.replace("%", "%%"))
    connection.exec_driver_sql(_fingerprint_comment())


def _fingerprint_comment() -> str:
    return f"COMMENT ON TABLE alembic_version IS '{fingerprint()}';"


def _config(out: io.StringIO | None = None) -> Config:
    config = Config(output_buffer=out) if out else Config()
    config.set_main_option("script_location", str(HERE))
    return config


@contextmanager
def connected(url: str) -> Generator[sa.Connection]:
    """The driver reads the URL, because SQLAlchemy knows no URL with several hosts."""
    engine = sa.create_engine("postgresql+psycopg://", creator=lambda: _open(url), poolclass=sa.pool.NullPool)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def _open(url: str) -> psycopg.Connection:
    """With several hosts, the one that can write. Nothing is prepared: an old PgBouncer would not know it."""
    options = conninfo_to_dict(url, connect_timeout=CONNECT_SECONDS)
    if "," in str(options.get("host", "")):
        options.setdefault("target_session_attrs", "read-write")
    return psycopg.connect(make_conninfo("", **options), prepare_threshold=None)
