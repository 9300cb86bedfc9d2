"""How far an attempt has come: noted deep inside the HTTP client, where no argument of ours reaches.

The client's own traces would tell the same, for an eighth of the speed.
"""

from contextvars import ContextVar
from time import perf_counter
from typing import Final


class Progress:
    """Times are readings of `perf_counter`; None: not come to that, or not needed on a connection that was there."""

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


# Tasks that the client starts for an attempt inherit it.
PROGRESS: Final[ContextVar[Progress]] = ContextVar("progress")
