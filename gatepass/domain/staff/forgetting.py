"""Forgetting sessions that ended and links that are too old: they are nobody's way in, and they name addresses."""

from datetime import datetime, timedelta
from typing import Final

from gatepass.base.database import Tx

# Long enough to ask where somebody was signed in.
KEPT: Final = timedelta(days=30)
BATCH: Final = 1_000


async def forget_some(tx: Tx, *, at: datetime) -> int:
    """A batch of both; how many that were."""
    return await tx.run(FORGET_SESSIONS, at - KEPT, BATCH) + await tx.run(FORGET_LINKS, at - KEPT, BATCH)


FORGET_SESSIONS: Final = """
    DELETE FROM studio_session s
     USING (SELECT id FROM studio_session WHERE expires_at < $1 LIMIT $2) old
     WHERE s.id = old.id
"""

FORGET_LINKS: Final = """
    DELETE FROM sign_in_link l
     USING (SELECT token_hash FROM sign_in_link WHERE expires_at < $1 LIMIT $2) old
     WHERE l.token_hash = old.token_hash
"""
