"""The deadline of a call. It runs from the call's arrival, whatever the call then waits for."""

import time
from contextvars import ContextVar
from typing import Final

# Seconds to wait for a connection. A longer wait means that calls arrive faster than they are answered, and
# queueing would only hide it. An operator who grants calls more time grants them more of this too, see Settings.
ACQUIRE_WITHIN: Final = 0.5
# On the clock of time.monotonic(). None outside of calls: then each statement has its own time.
call_ends: Final[ContextVar[float | None]] = ContextVar("call_ends", default=None)


def begin_call(seconds: float) -> None:
    call_ends.set(time.monotonic() + seconds)


def seconds_left(most: float) -> float:
    """How long this call may still wait, at most so long."""
    ends = call_ends.get()
    return most if ends is None else max(0.0, min(most, ends - time.monotonic()))
