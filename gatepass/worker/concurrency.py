"""How many messages an endpoint is sent at a time: few at first, more while it answers, half when it does not.

Endpoints that are slow share a part of the worker's places, and those that we have not heard from share another, so
that however many of them hang, those that are well find room, and so do new ones. What was held or is replayed goes at
a bounded rate.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

from gatepass.domain.webhooks.queue import Claimed, Lane

# Messages in hand at a time, over all endpoints.
PLACES: Final = 768
# Of those, for endpoints that are slow, and for those that we have not heard from: they may hang too, but only once.
PLACES_FOR_SLOW: Final = 192
PLACES_FOR_UNHEARD: Final = 256
# Who has not answered yet gets one, and then so many.
UNHEARD: Final = 1
FIRST: Final = 4
MOST: Final = 64
# As many again are claimed while the first are under way, so that none waits for the next claim.
AHEAD: Final = 2
# An endpoint that takes longer than this on average is slow.
SLOW_SECONDS: Final = 2.0
# A receiver that was away for long must not be drowned in what it missed.
WAITING_A_SECOND: Final = 100.0
# An endpoint that has been quiet for so long is forgotten, and begins anew.
FORGET_SECONDS: Final = 300.0


class Window:
    """One lane of an endpoint, as this process knows it. `more` says that there was more than it had room for."""

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
    def is_unheard(self) -> bool:
        return self.average is None

    @property
    def is_quick(self) -> bool:
        return self.average is not None and self.average < SLOW_SECONDS and not self.is_failing

    def room(self, now: float) -> int:
        width = UNHEARD if self.is_unheard else int(self.width)
        room = (AHEAD if self.is_quick else 1) * width - self.in_hand
        if self.lane.can_wait:
            self._tokens = min(2 * float(MOST), self._tokens + (now - self._tokens_at) * WAITING_A_SECOND)
            self._tokens_at = now
            room = min(room, int(self._tokens))
        return max(0, room)

    def took(self, count: int, room: int, now: float) -> None:
        self._tokens -= count
        self.more = count >= room
        self.seen = now

    def next(self) -> tuple[Claimed, float] | None:
        """One to be sent now, if the window lets it, and when it was claimed."""
        if not self.waiting or self.in_flight >= int(self.width):
            return None
        self.in_flight += 1
        return self.waiting.popleft()

    def answered(self, seconds: float, *, well: bool, strained: bool) -> None:
        """An attempt ended: widen a little, or halve when the receiver could not keep up."""
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

    def of(self, endpoint: Lane) -> Window:
        found = self._windows.get(endpoint)
        if found is None:
            found = self._windows[endpoint] = Window(endpoint, self._monotonic())
        return found

    def in_hand(self) -> int:
        return sum(window.in_hand for window in self._windows.values())

    def emptied(self) -> list[Claimed]:
        """What waits to be begun, taken out of the windows."""
        left = [claimed for window in self._windows.values() for claimed, _ in window.waiting]
        for window in self._windows.values():
            window.waiting.clear()
        return left

    def rooms(self, lanes: int) -> tuple[dict[Lane, int], int, int]:
        """How many more each lane may take, how many each of `lanes` that we do not know, and how many in all."""
        now = self._monotonic()
        oldest = now - FORGET_SECONDS
        self._windows = {lane: one for lane, one in self._windows.items() if one.in_hand or one.seen > oldest}
        known = self._windows.values()
        slow = PLACES_FOR_SLOW - sum(one.in_flight for one in known if not (one.is_quick or one.is_unheard))
        unheard = PLACES_FOR_UNHEARD - sum(one.in_flight for one in known if one.is_unheard)
        # No more than `lanes` of them take what they are offered, so it is not offered to one instead of another.
        most_of_slow, most_of_unheard = (-(-max(0, left) // lanes) for left in (slow, unheard))
        rooms: dict[Lane, int] = {}
        for window in known:
            room = window.room(now)
            if window.is_unheard:
                room = min(room, most_of_unheard)
            elif not window.is_quick:
                room = min(room, most_of_slow)
            rooms[window.lane] = room
        elsewhere = min(UNHEARD, most_of_unheard)
        return rooms, elsewhere, max(0, PLACES - self.in_hand())

    def took(
        self, claimed: list[Claimed], rooms: dict[Lane, int], elsewhere: int, *, claimed_at: float
    ) -> list[Window]:
        """Hand what was claimed to its windows; those that got something."""
        now = self._monotonic()
        got: dict[Lane, int] = {}
        for one in claimed:
            lane = Lane(one.endpoint_id, one.lane)
            self.of(lane).waiting.append((one, claimed_at))
            got[lane] = got.get(lane, 0) + 1
        for lane, count in got.items():
            self.of(lane).took(count, rooms.get(lane, elsewhere), now)
        return [self.of(lane) for lane in got]
