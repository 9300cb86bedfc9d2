"""When a delivery that failed is tried again. Pure: the dice are an argument.

Each message has its own schedule. An endpoint that keeps failing is asked with one message, however many wait.
"""

from datetime import timedelta
from typing import Final

from gatepass.domain.keys import Mode

SECOND: Final = 1.0
MINUTE: Final = 60.0
HOUR: Final = 3600.0

# After the first attempt and after each one that follows; then the delivery has failed. 72 hours in all.
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
# A receiver that comes back must not be met by everything at once.
JITTER: Final = 0.2
# A receiver may ask for patience, but not for the loss of its messages.
LONGEST_WISH: Final = 12 * HOUR
# How much faster time runs in the sandbox, so that a developer sees a retry without waiting for it.
PACE: Final = {Mode.LIVE: 1, Mode.SANDBOX: 60}

# So many failures in a row, and the endpoint is asked with one message at a time.
FAILING: Final = 5
# It is asked again after half of the time for which it has failed, within these limits.
SHORTEST_PROBE: Final = timedelta(seconds=5)
LONGEST_PROBE: Final = timedelta(minutes=10)
# Failing for so long pauses it.
PATIENCE: Final = timedelta(hours=72)


def again_in(attempt: int, mode: Mode, dice: float, retry_after: float | None = None) -> float | None:
    """Seconds until the next attempt after this one failed; None: there is none. `dice` is from 0 to 1."""
    if attempt > len(DELAYS):
        return None
    planned = DELAYS[attempt - 1] / PACE[mode] * (1 - JITTER + 2 * JITTER * dice)
    return max(planned, min(retry_after or 0, LONGEST_WISH))
