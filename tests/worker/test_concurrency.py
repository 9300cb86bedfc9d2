"""Windows: they widen while a receiver answers, halve when it cannot keep up, and the slow never take all places."""

from itertools import count

from gatepass.base.ids import new_id
from gatepass.domain.webhooks.queue import Claimed, Lane
from gatepass.worker.windows import (
    FIRST,
    MOST,
    PLACES,
    PLACES_FOR_SLOW,
    PLACES_FOR_UNHEARD,
    UNHEARD,
    WAITING_A_SECOND,
    Windows,
)
from tests import make

_ids = count(1)


class Hand:
    """A clock that is set, and windows that go by it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.windows = Windows(lambda: self.now)

    def take(self, lane: Lane, size: int) -> None:
        rooms, elsewhere, _ = self.windows.rooms(64)
        self.windows.took([claimed(lane) for _ in range(size)], rooms, elsewhere, claimed_at=self.now)

    def start(self, lane: Lane) -> int:
        started = 0
        while self.windows.of(lane).next():
            started += 1
        return started

    def room(self, lane: Lane) -> int:
        rooms, elsewhere, _ = self.windows.rooms(64)
        return rooms.get(lane, elsewhere)

    def prove(self, lane: Lane, answers: int = 1) -> None:
        """So many quick answers."""
        for _ in range(answers):
            self.take(lane, 1)
            self.start(lane)
            self.windows.of(lane).answered(0.01, well=True, strained=False)


def claimed(lane: Lane) -> Claimed:
    return Claimed(
        new_id(), lane.endpoint_id, new_id(), next(_ids), lane.number, 1, make.now(), new_id(), False, new_id(),
        "webhook.ping", b"{}", "live", "https://example.com/", b"", None, None, None, 0,
    )  # fmt: skip


def test_a_new_endpoint_begins_with_one_and_gets_more_while_it_answers() -> None:
    hand, lane = Hand(), Lane(new_id(), 0)
    assert hand.room(lane) == UNHEARD
    hand.prove(lane)
    assert hand.room(lane) >= FIRST
    hand.prove(lane, 3000)
    assert hand.windows.of(lane).width == MOST


def test_an_endpoint_that_cannot_keep_up_is_sent_half() -> None:
    hand, lane = Hand(), Lane(new_id(), 0)
    hand.prove(lane, 3000)
    for expected in (MOST / 2, MOST / 4):
        hand.take(lane, 1)
        hand.start(lane)
        hand.windows.of(lane).answered(15, well=False, strained=True)
        assert hand.windows.of(lane).width == expected


def test_no_more_are_sent_at_a_time_than_the_window_is_wide() -> None:
    hand, lane = Hand(), Lane(new_id(), 0)
    hand.take(lane, 3 * FIRST)
    assert hand.start(lane) == FIRST
    hand.windows.of(lane).answered(0.01, well=True, strained=False)
    assert hand.start(lane) == 1


def test_those_that_hang_leave_room_for_the_quick() -> None:
    hand, quick = Hand(), Lane(new_id(), 0)
    hand.prove(quick)
    for _ in range(1000):
        lane = Lane(new_id(), 0)
        hand.take(lane, hand.room(lane))
        hand.start(lane)
    assert hand.windows.in_hand() <= PLACES_FOR_UNHEARD + 64 < PLACES
    assert hand.room(quick) > 0


def test_those_that_keep_hanging_leave_room_for_new_ones() -> None:
    """However many windows want a place, what one is offered is not taken from another."""
    hand = Hand()
    crowd = [Lane(new_id(), 0) for _ in range(400)]
    for lane in crowd:
        hand.take(lane, 1)
        hand.start(lane)
        hand.windows.of(lane).answered(15, well=False, strained=True)
    assert hand.room(Lane(new_id(), 0)) == UNHEARD
    for lane in crowd:
        hand.take(lane, hand.room(lane))
        hand.start(lane)
    assert PLACES_FOR_SLOW <= hand.windows.in_hand() <= PLACES_FOR_SLOW + 64
    assert hand.room(crowd[-1]) == 0
    assert hand.room(Lane(new_id(), 0)) == UNHEARD


def test_what_can_wait_goes_at_a_bounded_rate() -> None:
    hand, lane = Hand(), Lane(new_id(), 1)
    sent = 0
    for _ in range(1000):  # ten seconds
        hand.now += 0.01
        room = hand.room(lane)
        hand.take(lane, room)
        for _ in range(hand.start(lane)):
            hand.windows.of(lane).answered(0.005, well=True, strained=False)
            sent += 1
    assert 0.8 * WAITING_A_SECOND * 10 <= sent <= WAITING_A_SECOND * 10 + 2 * MOST


def test_an_endpoint_that_was_quiet_for_long_is_forgotten() -> None:
    hand, lane = Hand(), Lane(new_id(), 0)
    hand.prove(lane, 3000)
    hand.now += 301
    hand.windows.rooms(64)
    assert hand.windows.of(lane).width == FIRST
