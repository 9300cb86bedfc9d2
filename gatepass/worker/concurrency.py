"""AIMD concurrency: how many messages are sent to an endpoint at a time.

The window of a lane grows by one for each window of successes (additive increase), and halves when the receiver cannot
keep up (multiplicative decrease). Slow endpoints share one part of the worker's slots, and endpoints that have not
responded yet share another: however many of them hang, healthy and new endpoints get slots. A backlog is sent at a
bounded rate.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

from gatepass.domain.webhooks.queue import Claimed, Lane

# Claimed messages of all endpoints.
SLOTS: Final = 768
# Of those, for slow endpoints, and for those that have not responded yet: they may hang too, but only once.
SLOTS_FOR_SLOW: Final = 192
SLOTS_FOR_UNKNOWN: Final = 256
# The window of an endpoint that has not responded yet, after its first response, and at most.
UNKNOWN: Final = 1
FIRST: Final = 4
MOST: Final = 64
# Twice the window is claimed, so that the next message need not wait for the next claim.
AHEAD: Final = 2
# An endpoint whose responses take longer on average is slow.
SLOW_SECONDS: Final = 2.0
# Messages of a backlog in a second: a receiver that was away must not be flooded.
BACKLOG_PER_SECOND: Final = 100.0
# The window of an endpoint without messages for this long is dropped; the endpoint starts again.
FORGET_SECONDS: Final = 300.0


class Window:
    """The window of one lane, in this process. `more`: the last claim filled it, so more may be due."""

    __slots__ = (
        "_tokens",
        "_tokens_at",
        "average",
        "in_flight",
        "is_failing",
        "lane",
        "more",
        "seen",
        "waiting",
        "width",
    )

    def __init__(self, lane: Lane, now: float) -> None:
        self.lane = lane
        self.width = float(FIRST)
        self.in_flight = 0
        self.waiting: deque[tuple[Claimed, float]] = deque()
        self.average: float | None = None
        self.is_failing = False
        self.more = False
        self.seen = now
        self._tokens = float(FIRST)
        self._tokens_at = now

    @property
    def in_hand(self) -> int:
        return self.in_flight + len(self.waiting)

    @property
    def is_unknown(self) -> bool:
        return self.average is None

    @property
    def is_quick(self) -> bool:
        return self.average is not None and self.average < SLOW_SECONDS and not self.is_failing

    def free(self, now: float) -> int:
        width = UNKNOWN if self.is_unknown else int(self.width)
        free = (AHEAD if self.is_quick else 1) * width - self.in_hand
        if self.lane.can_wait:
            self._tokens = min(2 * float(MOST), self._tokens + (now - self._tokens_at) * BACKLOG_PER_SECOND)
            self._tokens_at = now
            free = min(free, int(self._tokens))
        return max(0, free)

    def took(self, count: int, free: int, now: float) -> None:
        self._tokens -= count
        self.more = count >= free
        self.seen = now

    def next(self) -> tuple[Claimed, float] | None:
        """The next message, if the window has a free slot, and the time of its claim."""
        if not self.waiting or self.in_flight >= int(self.width):
            return None
        self.in_flight += 1
        return self.waiting.popleft()

    def ended(self, seconds: float, *, well: bool, strained: bool) -> None:
        """An attempt ended: grow the window by 1/width, or halve it if the receiver could not keep up."""
        self.in_flight -= 1
        self.average = seconds if self.average is None else 0.8 * self.average + 0.2 * seconds
        self.is_failing = not well
        if strained:
            self.width = max(1.0, self.width / 2)
        elif well:
            self.width = min(float(MOST), self.width + 1 / self.width)


class Windows:
    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._windows: dict[Lane, Window] = {}

    def of(self, lane: Lane) -> Window:
        found = self._windows.get(lane)
        if found is None:
            found = self._windows[lane] = Window(lane, self._monotonic())
        return found

    def in_hand(self) -> int:
        return sum(window.in_hand for window in self._windows.values())

    def emptied(self) -> list[Claimed]:
        """Take out the messages that are not begun."""
        left = [claimed for window in self._windows.values() for claimed, _ in window.waiting]
        for window in self._windows.values():
            window.waiting.clear()
        return left

    def free_slots(self, lanes: int) -> tuple[dict[Lane, int], int, int]:
        """How many messages may be claimed: of each known lane, of each other one of `lanes`, and in all."""
        now = self._monotonic()
        oldest = now - FORGET_SECONDS
        self._windows = {lane: one for lane, one in self._windows.items() if one.in_hand or one.seen > oldest}
        known = self._windows.values()
        slow = SLOTS_FOR_SLOW - sum(one.in_flight for one in known if not (one.is_quick or one.is_unknown))
        unknown = SLOTS_FOR_UNKNOWN - sum(one.in_flight for one in known if one.is_unknown)
        # A claim takes from at most `lanes` lanes, so each is offered an equal share.
        most_of_slow, most_of_unknown = (-(-max(0, left) // lanes) for left in (slow, unknown))
        free_slots: dict[Lane, int] = {}
        for window in known:
            free = window.free(now)
            if window.is_unknown:
                free = min(free, most_of_unknown)
            elif not window.is_quick:
                free = min(free, most_of_slow)
            free_slots[window.lane] = free
        of_others = min(UNKNOWN, most_of_unknown)
        return free_slots, of_others, max(0, SLOTS - self.in_hand())

    def took(
        self, claimed: list[Claimed], free_slots: dict[Lane, int], of_others: int, *, claimed_at: float
    ) -> list[Window]:
        """Add claimed messages to their windows; return those windows."""
        now = self._monotonic()
        got: dict[Lane, int] = {}
        for one in claimed:
            lane = Lane(one.endpoint_id, one.lane)
            self.of(lane).waiting.append((one, claimed_at))
            got[lane] = got.get(lane, 0) + 1
        for lane, count in got.items():
            self.of(lane).took(count, free_slots.get(lane, of_others), now)
        return [self.of(lane) for lane in got]
