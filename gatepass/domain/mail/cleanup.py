"""What is kept of letters, and for how long. Their values go as soon as they have ended (`queue.py`).

The row of a letter says that a card was sent, so that nobody gets it twice. Events are sold for a year and longer.
"""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx

# Organizers look into what was refused for some weeks.
ADDRESS_KEPT: Final = timedelta(days=30)
LETTER_KEPT: Final = timedelta(days=400)
BATCH: Final = 1_000


async def erase_of_card(tx: Tx, organization_id: UUID, card_id: UUID) -> None:
    """Delete every letter to the holder of a card. One that waits is not sent; one that is being sent may arrive."""
    await tx.run(ERASE, organization_id, card_id)


async def forget_some_addresses(tx: Tx, *, at: datetime) -> int:
    """Take the addresses, and what the mail server said about them, off a batch of letters that ended long ago."""
    return await tx.run(FORGET, at - ADDRESS_KEPT, BATCH)


async def delete_some_old(tx: Tx, *, at: datetime) -> int:
    return await tx.run(DELETE, at - LETTER_KEPT, BATCH)


ERASE: Final = """
    DELETE FROM letter
     WHERE organization_id = $1
       AND card_id = $2
"""

FORGET: Final = """
    -- every organization: maintenance forgets addresses of all of them
    WITH old AS (SELECT organization_id, id
                   FROM letter
                  WHERE ended_at <= $1
                    AND address <> ''
                  ORDER BY ended_at
                  LIMIT $2
                    FOR UPDATE SKIP LOCKED)
    UPDATE letter l
       SET address = '', answer = NULL
      FROM old
     WHERE l.organization_id = old.organization_id
       AND l.id = old.id
"""

DELETE: Final = """
    -- every organization: maintenance deletes letters of all of them
    WITH old AS (SELECT organization_id, id
                   FROM letter
                  WHERE ended_at <= $1
                    AND address = ''
                  ORDER BY ended_at
                  LIMIT $2
                    FOR UPDATE SKIP LOCKED)
    DELETE FROM letter l
     USING old
     WHERE l.organization_id = old.organization_id
       AND l.id = old.id
"""
