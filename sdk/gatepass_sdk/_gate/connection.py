"""Whether the service can be reached, and calls that end in time whatever the network does.

The synchronous client cannot bound a name resolver that does not answer, which is what a gate has whose network has
gone. So a scan is sent from a thread that can be left behind.
"""

import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Final, Generic, TypeVar

from gatepass_sdk.errors import APITimeoutError, DeviceUnknown

T = TypeVar("T")

# After a scan without an answer, those of the next seconds do not wait for the network: one of them tries it again.
OFFLINE_SECONDS: Final = 5.0
# A service that does not know this device is asked less and less often: people have to mend it.
UNKNOWN_SECONDS: Final = 60.0
# Threads that wait for a dead network. More would only wait with them.
MOST_CALLS: Final = 4


class Connection:
    """What the last calls said about the network."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._try_again_at = 0.0
        self._calls = threading.Semaphore(MOST_CALLS)
        self.offline_since: datetime | None = None
        # Whether the last answer came from a service that does not know this device.
        self.unknown = False
        self.pause = OFFLINE_SECONDS

    @property
    def is_worth_a_try(self) -> bool:
        return self.offline_since is None or self._clock() >= self._try_again_at

    def works(self) -> None:
        self.offline_since, self.unknown, self.pause = None, False, OFFLINE_SECONDS

    def failed(self, at: datetime, error: Exception | None = None) -> None:
        self.offline_since = self.offline_since or at
        self.unknown = isinstance(error, DeviceUnknown)
        self.pause = min(self.pause * 2, UNKNOWN_SECONDS) if self.unknown else OFFLINE_SECONDS
        self._try_again_at = self._clock() + self.pause

    def within(self, seconds: float, call: Callable[[], T]) -> T:
        """The result of this call, or `APITimeoutError` after so many seconds."""
        if not self._calls.acquire(blocking=False):
            raise APITimeoutError("Gatepass cannot be reached: earlier scans still wait for it.")
        started: _Call[T] = _Call(call, self._calls)
        return started.result(seconds)


class _Call(Generic[T]):
    def __init__(self, call: Callable[[], T], slot: threading.Semaphore) -> None:
        self._call = call
        self._slot = slot
        self._done = threading.Event()
        self._result: list[T] = []
        self._error: BaseException | None = None
        threading.Thread(target=self._run, name="gatepass-scan", daemon=True).start()

    def _run(self) -> None:
        try:
            self._result.append(self._call())
        except BaseException as error:  # noqa: BLE001  it is raised where the result is asked for
            self._error = error
        finally:
            self._slot.release()
            self._done.set()

    def result(self, seconds: float) -> T:
        if not self._done.wait(seconds):
            raise APITimeoutError("No answer came back in time.")
        if self._error is not None:
            raise self._error
        return self._result[0]
