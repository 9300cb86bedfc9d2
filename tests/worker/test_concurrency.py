"""AIMD windows: they grow with successes, halve when a receiver cannot keep up, and slow ones never take all slots."""

from itertools import count

from gatepass.base.ids import new_id
from gatepass.domain.webhooks.queue import Claimed, Lane
from gatepass.worker.concurrency import (
    BACKLOG_PER_SECOND,
    FIRST,
    MOST,
    SLOTS,
    SLOTS_FOR_SLOW,
    SLOTS_FOR_UNKNOWN,
    UNKNOWN,
    Windows,
)
from tests import factory

_ids = count(1)


class Hand:
    """Windows with a clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.windows = Windows(lambda: self.now)

    def take(self, lane: Lane, size: int) -> None:
        free_slots, of_others, _ = self.windows.free_slots(64)
        self.windows.took([claimed(lane) for _ in range(size)], free_slots, of_others, claimed_at=self.now)

    def start(self, lane: Lane) -> int:
        started = 0
        while self.windows.of(lane).next():
            started += 1
        return started

    def free(self, lane: Lane) -> int:
        free_slots, of_others, _ = self.windows.free_slots(64)
        return free_slots.get(lane, of_others)

    def prove(self, lane: Lane, answers: int = 1) -> None:
        """This many quick responses."""
        for _ in range(answers):
            self.take(lane, 1)
            self.start(lane)
            self.windows.of(lane).ended(0.01, well=True, strained=False)


def claimed(lane: Lane) -> Claimed:
    return Claimed(
        new_id(), lane.endpoint_id, new_id(), next(_ids), lane.number, 1, factory.now(), new_id(), False, new_id(),
        "webhook.ping", b"{}", "live", "https://example.com/", b"", None, None, None, 0,
    )  # fmt: skip


def test_a_new_endpoint_begins_with_one_and_gets_more_while_it_answers() -> None:
    hand, lane = Hand(), Lane(new_id(), 0)
    assert hand.free(lane) == UNKNOWN
    hand.prove(lane)
    assert hand.free(lane) >= FIRST
    hand.prove(lane, 3000)
    assert hand.windows.of(lane).width == MOST


def test_an_endpoint_that_cannot_keep_up_is_sent_half() -> None:
    hand, lane = Hand(), Lane(new_id(), 0)
    hand.prove(lane, 3000)
    for expected in (MOST / 2, MOST / 4):
        hand.take(lane, 1)
        hand.start(lane)
        hand.windows.of(lane).ended(15, well=False, strained=True)
        assert hand.windows.of(lane).width == expected


def test_no_more_are_sent_at_a_time_than_the_window_is_wide() -> None:
    hand, lane = Hand(), Lane(new_id(), 0)
    hand.take(lane, 3 * FIRST)
    assert hand.start(lane) == FIRST
    hand.windows.of(lane).ended(0.01, well=True, strained=False)
    assert hand.start(lane) == 1


def test_those_that_hang_leave_room_for_the_quick() -> None:
    hand, quick = Hand(), Lane(new_id(), 0)
    hand.prove(quick)
    for _ in range(1000):
        lane = Lane(new_id(), 0)
        hand.take(lane, hand.free(lane))
        hand.start(lane)
    assert hand.windows.in_hand() <= SLOTS_FOR_UNKNOWN + 64 < SLOTS
    assert hand.free(quick) > 0


def test_those_that_keep_hanging_leave_room_for_new_ones() -> None:
    """However many windows need slots, each is offered an equal share."""
    hand = Hand()
    crowd = [Lane(new_id(), 0) for _ in range(400)]
    for lane in crowd:
        hand.take(lane, 1)
        hand.start(lane)
        hand.windows.of(lane).ended(15, well=False, strained=True)
    assert hand.free(Lane(new_id(), 0)) == UNKNOWN
    for lane in crowd:
        hand.take(lane, hand.free(lane))
        hand.start(lane)
    assert SLOTS_FOR_SLOW <= hand.windows.in_hand() <= SLOTS_FOR_SLOW + 64
    assert hand.free(crowd[-1]) == 0
    assert hand.free(Lane(new_id(), 0)) == UNKNOWN


def test_what_can_wait_goes_at_a_bounded_rate() -> None:
    hand, lane = Hand(), Lane(new_id(), 1)
    sent = 0
    for _ in range(1000):  # ten seconds
        hand.now += 0.01
        free = hand.free(lane)
        hand.take(lane, free)
        for _ in range(hand.start(lane)):
            hand.windows.of(lane).ended(0.005, well=True, strained=False)
            sent += 1
    assert 0.8 * BACKLOG_PER_SECOND * 10 <= sent <= BACKLOG_PER_SECOND * 10 + 2 * MOST


def test_an_endpoint_that_was_quiet_for_long_is_forgotten() -> None:
    hand, lane = Hand(), Lane(new_id(), 0)
    hand.prove(lane, 3000)
    hand.now += 301
    hand.windows.free_slots(64)
    assert hand.windows.of(lane).width == FIRST
