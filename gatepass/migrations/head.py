"""The schema that this code needs: the last revision, and the text of the routines.

A process that only compares them need not load Alembic and SQLAlchemy.
"""

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
REVISIONS: Final = sorted((HERE / "versions").glob("*.sql"))
ROUTINES: Final = sorted((HERE.parent / "domain").rglob("*.sql"))


@cache
def head() -> str:
    """In the same form as `installed` in `domain/schema.py`."""
    revision, _, _ = REVISIONS[-1].stem.partition("_")
    return f"{revision}+{fingerprint()}"


def is_ahead(installed: str | None) -> bool:
    """Whether a database has a later revision than this code; old code can run on it."""
    return installed is not None and installed.partition("+")[0] > head().partition("+")[0]


def fingerprint() -> str:
    text = "\n".join(path.read_text() for path in ROUTINES)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
