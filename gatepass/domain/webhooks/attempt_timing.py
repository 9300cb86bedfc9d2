"""The timing of an attempt: measured deep inside the HTTP client, where no argument of ours reaches.

The client's own traces would measure the same, at an eighth of the speed.
"""

from contextvars import ContextVar
from time import perf_counter
from typing import Final


class AttemptTiming:
    """Times are values of `perf_counter`; None: not reached, or not needed on a reused connection."""

    __slots__ = ("address", "answered", "began", "connected", "dns_ms", "opened", "refused")

    def __init__(self) -> None:
        self.began = perf_counter()
        self.dns_ms: float | None = None
        self.opened: float | None = None
        self.connected: float | None = None
        self.answered: float | None = None
        self.address: str | None = None
        self.refused = False

    @property
    def connect_ms(self) -> float | None:
        return milliseconds(self.opened, self.connected)

    @property
    def answer_ms(self) -> float | None:
        return milliseconds(self.connected, self.answered)


def milliseconds(since: float | None, until: float | None) -> float | None:
    return None if since is None or until is None else (until - since) * 1000


# Tasks that the client starts for an attempt inherit this context variable.
ATTEMPT_TIMING: Final[ContextVar[AttemptTiming]] = ContextVar("attempt_timing")
