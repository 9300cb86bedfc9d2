"""A bound on events: of one kind, in all, by the minute; what is left out is counted."""

from gatepass.base.event_limit import WINDOW, EventLimit


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_so_many_of_one_kind_a_minute() -> None:
    clock = Clock()
    limit = EventLimit(of_one=2, most=100, monotonic=clock)
    assert [limit.allows("refused", "ada") for _ in range(4)] == [True, True, False, False]
    assert limit.allows("refused", "bob")
    clock.now += WINDOW
    assert limit.allows("refused", "ada")


def test_so_many_in_all() -> None:
    limit = EventLimit(of_one=2, most=5)
    assert sum(limit.allows("refused", number) for number in range(1_000)) == 5


def test_those_left_out_are_counted_once() -> None:
    limit = EventLimit(of_one=1, most=100)
    for _ in range(4):
        limit.allows("refused", "ada")
    assert [limit.take_suppressed("refused"), limit.take_suppressed("refused"), limit.take_suppressed("other")] == [
        3,
        0,
        0,
    ]
