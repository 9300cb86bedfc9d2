"""Follows an event, and compares every look with a fresh manifest of the same snapshot.

python -m bench.manifest.looks URL ORGANIZATION EVENT SECONDS     prints the number of looks
"""

import asyncio
import sys
import time
from uuid import UUID

from gatepass.base.database import Database
from tests.domain.manifest.follower import TestFollower

# Making manifests without a pause would take a core from the measured processes.
PAUSE = 0.25


async def compare(url: str, organization_id: UUID, event_id: UUID, seconds: float) -> int:
    db, looks = Database(url, deadline=60), 0
    follower = TestFollower(db, organization_id, event_id)
    await follower.begin()
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        await follower.look(independently=False)
        looks += 1
        await asyncio.sleep(PAUSE)
    await db.close()
    return looks


if __name__ == "__main__":
    url, organization_id, event_id, seconds = sys.argv[1:]
    print(asyncio.run(compare(url, UUID(organization_id), UUID(event_id), float(seconds))))
