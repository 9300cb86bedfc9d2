"""Reads a door as the studio does, for so long, and compares every look with a count in the same snapshot.

python -m bench.doors.comparing URL ORGANIZATION EVENT SECONDS     prints how many looks that were
"""

import asyncio
import sys
import time
from uuid import UUID

from gatepass.base.database import Database
from gatepass.domain.keys import Mode
from tests.domain.door.reading import Reader

# Counting without a pause would take a core from what is measured.
PAUSE = 0.25


async def compare(url: str, organization_id: UUID, event_id: UUID, seconds: float) -> int:
    """As a door does it, and each look against a count in the same snapshot; how many looks that were."""
    db, looks = Database(url, deadline=60), 0
    reader = Reader(db, (organization_id, Mode.LIVE, event_id))
    await reader.begin()
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        await reader.look()
        looks += 1
        await asyncio.sleep(PAUSE)
    await db.close()
    return looks


if __name__ == "__main__":
    url, organization_id, event_id, lasting = sys.argv[1:]
    print(asyncio.run(compare(url, UUID(organization_id), UUID(event_id), float(lasting))))
