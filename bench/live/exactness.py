"""Are doors exact, and how soon do they show a scan?"""

import asyncio
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import quantiles

import psycopg

from bench.doors.estate import BY, PAUSE_MS, Estate, all_show
from gatepass.base.database import Database
from gatepass.domain import tickets


@dataclass
class Exactness:
    scans_a_second: float
    compared: int
    settled_after_undo: float
    p50_ms: float
    p99_ms: float
    worst_ms: float
    messages_a_second: float


def exactness(made: Estate, doors: int, seconds: int) -> Exactness:
    """Scans at an offered rate: doors against the table meanwhile, at the end, and across undoing and cancelling."""
    with made.screens(doors) as shown:
        before = made.activated()
        began = time.time()
        checking = subprocess.Popen(
            [sys.executable, "-m", "bench.doors.comparing", made.url, str(made.organization_id), str(made.event_id),
             str(seconds)], stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        one = made.scan(seconds, pause_ms=PAUSE_MS)
        assert one.failed == 0, f"{one.failed} scans were refused"
        compared = int(checking.communicate(timeout=60)[0])
        all_show(made, shown)
        after = made.activated()
        assert after - before >= one.done
        lines = [line for line in shown.lines() if line[1] >= began]
        delays = _delays(made, lines, before)
        asyncio.run(_take_back(made))
        settled = all_show(made, shown)
        assert made.activated() == after - 2 * TAKEN_BACK
    cuts = quantiles(delays, n=100)
    return Exactness(
        one.rate, compared, settled, cuts[49], cuts[98], max(delays), len(lines) / doors / (lines[-1][1] - began)
    )


def _delays(made: Estate, lines: list[tuple[int, float, int]], before: int) -> list[float]:
    """For each scan and screen: from the time in its row, a little before its commit, until it was in the figure."""
    with psycopg.connect(made.url) as connection:
        rows = connection.execute(TIMES, (made.organization_id, made.event_id, before)).fetchall()
    times = [row[0] for row in rows]
    found: list[float] = []
    for screen in {line[0] for line in lines}:
        place = 0
        for _, at, activated in (line for line in lines if line[0] == screen):
            found += [1000 * (at - scanned) for scanned in times[place : activated - before]]
            place = max(place, activated - before)
    return found


TIMES = """
    SELECT extract(epoch FROM at)::float8
      FROM scan
     WHERE organization_id = %s AND event_id = %s AND verdict = 'activated'
     ORDER BY at
    OFFSET %s
"""

TAKEN_BACK = 25
SOME = """
    SELECT id FROM ticket
     WHERE organization_id = %s AND event_id = %s AND activated_at IS NOT NULL AND cancelled_at IS NULL
     LIMIT %s
"""


async def _take_back(made: Estate) -> None:
    """Undo some activations and cancel some activated tickets."""
    with psycopg.connect(made.url) as connection:
        found = connection.execute(SOME, (made.organization_id, made.event_id, 2 * TAKEN_BACK)).fetchall()
    db = Database(made.url)
    for place, (ticket_id,) in enumerate(found):
        verb = tickets.cancel if place % 2 else tickets.undo_activation
        async with db.transaction() as tx:
            await verb(tx, made.organization_id, ticket_id, by=BY, at=datetime.now(UTC), reason="bench")
    await db.close()
