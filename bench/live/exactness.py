"""Is the live page exact, and how soon does it show a scan?"""

import asyncio
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import quantiles

import psycopg

from bench.live.stack import BY, PAUSE_MS, Stack, wait_until_all_show
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


def exactness(stack: Stack, screens: int, seconds: int) -> Exactness:
    """Compare the page with the table while scans run at an offered rate, after them, and after some are undone."""
    with stack.screens(screens) as log:
        before = stack.activated()
        began = time.time()
        reader = subprocess.Popen(
            [sys.executable, "-m", "bench.live.snapshot_reader", stack.url, str(stack.organization_id),
             str(stack.event_id), str(seconds)], stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        one = stack.scan(seconds, pause_ms=PAUSE_MS)
        assert one.failed == 0, f"{one.failed} scans were refused"
        compared = int(reader.communicate(timeout=60)[0])
        wait_until_all_show(stack, log)
        after = stack.activated()
        assert after - before >= one.done
        lines = [line for line in log.lines() if line[1] >= began]
        delays = _delays(stack, lines, before)
        asyncio.run(_undo_and_cancel(stack))
        settled = wait_until_all_show(stack, log)
        assert stack.activated() == after - 2 * EACH
    cuts = quantiles(delays, n=100)
    return Exactness(
        one.rate, compared, settled, cuts[49], cuts[98], max(delays), len(lines) / screens / (lines[-1][1] - began)
    )


def _delays(stack: Stack, lines: list[tuple[int, float, int]], before: int) -> list[float]:
    """For each scan and screen: milliseconds from the time in its row, just before the commit, to the shown figure."""
    with psycopg.connect(stack.url) as connection:
        rows = connection.execute(TIMES, (stack.organization_id, stack.event_id, before)).fetchall()
    times = [row[0] for row in rows]
    found: list[float] = []
    for screen in {line[0] for line in lines}:
        index = 0
        for _, at, activated in (line for line in lines if line[0] == screen):
            found += [1000 * (at - scanned) for scanned in times[index : activated - before]]
            index = max(index, activated - before)
    return found


TIMES = """
    SELECT extract(epoch FROM at)::float8
      FROM scan
     WHERE organization_id = %s AND event_id = %s AND verdict = 'activated'
     ORDER BY at
    OFFSET %s
"""

# Activations that are undone, and as many activated tickets that are cancelled.
EACH = 25
SOME = """
    SELECT id FROM ticket
     WHERE organization_id = %s AND event_id = %s AND activated_at IS NOT NULL AND cancelled_at IS NULL
     LIMIT %s
"""


async def _undo_and_cancel(stack: Stack) -> None:
    """Undo some activations and cancel some activated tickets."""
    with psycopg.connect(stack.url) as connection:
        found = connection.execute(SOME, (stack.organization_id, stack.event_id, 2 * EACH)).fetchall()
    db = Database(stack.url)
    for index, (ticket_id,) in enumerate(found):
        verb = tickets.cancel if index % 2 else tickets.undo_activation
        async with db.transaction() as tx:
            await verb(tx, stack.organization_id, ticket_id, by=BY, at=datetime.now(UTC), reason="bench")
    await db.close()
