"""Bringing a database to the present: revisions first, then the routines that stand beside their verbs.

Routines (`gatepass/domain/**/*.sql`) are replaced whenever their text changes; a comment on the
schema remembers which text is installed, so that `doctor` and `/readyz` can tell.
"""

import io
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from gatepass.migrations.head import HERE, ROUTINES, fingerprint, head
from gatepass.migrations.sql import statements

# Any number will do, as long as every release uses the same: two `migrate` at once take turns.
TURN: Final = 7_220_111


def upgrade(url: str) -> str:
    """Bring the database to head; the revision it is at now."""
    with _connected(url) as connection:
        connection.execute(sa.text("SELECT pg_advisory_lock(:turn)"), {"turn": TURN})
        connection.commit()
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        connection.commit()
        _install_routines(connection)
        connection.commit()
    return head()


def as_sql() -> str:
    """Everything that `upgrade` would run on an empty database, for linters and database administrators."""
    out = io.StringIO()
    command.upgrade(_config(out), "head", sql=True)
    return "\n".join([out.getvalue(), *(path.read_text() for path in ROUTINES), _remembering(), ""])


def _install_routines(connection: sa.Connection) -> None:
    for path in ROUTINES:
        for statement in statements(path.read_text()):
            connection.exec_driver_sql(statement.replace("%", "%%"))
    connection.exec_driver_sql(_remembering())


def _remembering() -> str:
    return f"COMMENT ON TABLE alembic_version IS '{fingerprint()}';"


def _config(out: io.StringIO | None = None) -> Config:
    config = Config(output_buffer=out) if out else Config()
    config.set_main_option("script_location", str(HERE))
    return config


@contextmanager
def _connected(url: str) -> Generator[sa.Connection]:
    engine = sa.create_engine(_for_psycopg(url), poolclass=sa.pool.NullPool)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def _for_psycopg(url: str) -> str:
    scheme, rest = url.split("://", 1)
    return f"postgresql+psycopg://{rest}" if scheme in ("postgres", "postgresql") else url
