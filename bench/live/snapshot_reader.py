"""Reads the live figures as the studio does, and compares every read with a count in the same snapshot.

python -m bench.live.snapshot_reader URL ORGANIZATION EVENT SECONDS     prints the number of reads
"""

import asyncio
import sys
import time
from uuid import UUID

from gatepass.base.database import Database
from gatepass.domain.keys import Mode
from tests.domain.live.live_reader import Reader

# Counting without a pause would take a core from the measured processes.
PAUSE = 0.25


async def compare(url: str, organization_id: UUID, event_id: UUID, seconds: float) -> int:
    """Returns the number of reads. One that differs from the count raises AssertionError."""
    db, reads = Database(url, deadline=60), 0
    reader = Reader(db, (organization_id, Mode.LIVE, event_id))
    await reader.begin()
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        await reader.look()
        reads += 1
        await asyncio.sleep(PAUSE)
    await db.close()
    return reads


if __name__ == "__main__":
    url, organization_id, event_id, seconds = sys.argv[1:]
    print(asyncio.run(compare(url, UUID(organization_id), UUID(event_id), float(seconds))))
