"""The retry schedule: backoff with jitter. Pure: the random number is an argument.

Each message has its own schedule. An endpoint that keeps failing is probed with one message, however many wait.
"""

from datetime import timedelta
from typing import Final

from gatepass.domain.keys import Mode

SECOND: Final = 1.0
MINUTE: Final = 60.0
HOUR: Final = 3600.0

# The delay after each failed attempt; after the last one the delivery has failed. 72 hours in all.
DELAYS: Final = (
    5 * SECOND,
    30 * SECOND,
    2 * MINUTE,
    10 * MINUTE,
    30 * MINUTE,
    1 * HOUR,
    2 * HOUR,
    4 * HOUR,
    8 * HOUR,
    12 * HOUR,
    12 * HOUR,
    16 * HOUR,
    16 * HOUR,
)
# ±20 %, so that a receiver that recovers does not get all retries at once.
JITTER: Final = 0.2
# A longer Retry-After is cut, so that no message is lost by it.
LONGEST_RETRY_AFTER: Final = 12 * HOUR
# Delays in the sandbox are divided by 60, so that a developer soon sees a retry.
PACE: Final = {Mode.LIVE: 1, Mode.SANDBOX: 60}

# After this many failures in a row the endpoint is probed with one message at a time.
FAILING: Final = 5
# The next probe comes after half of the time for which it has failed, within these limits.
SHORTEST_PROBE: Final = timedelta(seconds=5)
LONGEST_PROBE: Final = timedelta(minutes=10)
# An endpoint that fails for this long is paused.
PAUSED_AFTER: Final = timedelta(hours=72)


def again_in(attempt: int, mode: Mode, dice: float, retry_after: float | None = None) -> float | None:
    """Seconds from this failed attempt to the next; None: there is none. `dice` is a random number from 0 to 1."""
    if attempt > len(DELAYS):
        return None
    planned = DELAYS[attempt - 1] / PACE[mode] * (1 - JITTER + 2 * JITTER * dice)
    return max(planned, min(retry_after or 0, LONGEST_RETRY_AFTER))
