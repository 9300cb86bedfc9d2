"""Run the SQL of a revision. No statement waits long for a lock: the runner then takes the whole revision back.

A statement that waits for a lock makes every later one wait too, those of the gates included; and so do the locks of
the statements before it. So a revision gets each of its locks within LOCK_WAIT, or releases all and tries again.
"""

from pathlib import Path
from typing import Final

import sqlalchemy as sa
from alembic import context, op

LOCK_WAIT: Final = "250ms"


def run_beside(revision_file: str) -> None:
    """Run the `.sql` file of the same name, statement by statement."""
    if not context.is_offline_mode():
        op.execute(sa.text(f"SET LOCAL lock_timeout = '{LOCK_WAIT}'"))
    for statement in statements(Path(revision_file).with_suffix(".sql").read_text()):
        op.execute(sa.text(statement))


def statements(script: str) -> list[str]:
    """Split a script at the semicolons that end a line, outside of `$$` bodies and comments."""
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
