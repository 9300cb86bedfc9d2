"""Running a revision's SQL: each statement waits briefly for its locks, and tries again.

A statement that queues for a lock makes everything behind it queue too, the gates included. So it
gives up after LOCK_WAIT and comes back, until ATTEMPTS are used up.
"""

import time
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from alembic import context, op
from psycopg.errors import LockNotAvailable
from sqlalchemy.exc import OperationalError

LOCK_WAIT: Final = "250ms"
ATTEMPTS: Final = 60
PAUSE: Final = 0.5


def run_beside(revision_file: str) -> None:
    """Run the `.sql` file of the same name, statement by statement."""
    for statement in statements(Path(revision_file).with_suffix(".sql").read_text()):
        run(statement)


def run(statement: str) -> None:
    if context.is_offline_mode():
        op.execute(sa.text(statement))
        return
    bind = op.get_bind()
    for attempt in range(1, ATTEMPTS + 1):
        if _ran(bind, statement):
            return
        if attempt < ATTEMPTS:
            time.sleep(PAUSE)
    raise TimeoutError(f"no lock after {ATTEMPTS} tries: {statement.strip().splitlines()[0]}")


def _ran(bind: sa.Connection, statement: str) -> bool:
    point = bind.begin_nested()
    try:
        bind.execute(sa.text(f"SET LOCAL lock_timeout = '{LOCK_WAIT}'"))
        bind.execute(sa.text(statement))
    except OperationalError as error:
        point.rollback()
        original: Any = error.orig
        if isinstance(original, LockNotAvailable):
            return False
        raise
    point.commit()
    return True


def statements(script: str) -> list[str]:
    """Cut a script at the semicolons that end a line, outside of `$$` bodies and comments."""
    found: list[str] = []
    lines: list[str] = []
    in_body = False
    for line in script.splitlines():
        code = line.split("--", 1)[0].rstrip()
        if code or lines:
            lines.append(line if in_body else code)
        if code.count("$$") % 2:
            in_body = not in_body
        if code.endswith(";") and not in_body:
            found.append("\n".join(lines).strip())
            lines = []
    if any(line.strip() for line in lines):
        raise ValueError("the script does not end with a semicolon")
    return found
