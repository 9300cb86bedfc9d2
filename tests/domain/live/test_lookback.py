"""How far back the door looks for scans that it has not seen."""

from datetime import UTC, datetime, timedelta

from gatepass.domain.door import Horizon
from gatepass.domain.door.horizon import FARTHEST, SKEW

START = datetime(2026, 7, 1, 20, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def test_the_first_snapshot_knows_nothing_of_what_runs() -> None:
    horizon = Horizon()
    horizon.looked(after(0), "90:100:90")
    assert horizon.since() == after(0) - FARTHEST - SKEW


def test_where_nothing_runs_it_looks_back_as_far_as_clocks_may_differ() -> None:
    horizon = Horizon()
    horizon.looked(after(0), "100:100:")
    assert horizon.since() == after(0) - SKEW
    horizon.looked(after(1), "140:140:")
    assert horizon.since() == after(1) - SKEW


def test_a_transaction_that_goes_on_is_waited_for() -> None:
    horizon = Horizon()
    horizon.looked(after(0), "100:100:")
    for second in range(1, 50):
        horizon.looked(after(second), f"103:{100 + 10 * second}:103")
        assert horizon.since() == after(0) - SKEW  # 103 was given out after that moment
    horizon.looked(after(50), "600:600:")
    assert horizon.since() == after(50) - SKEW


def test_it_goes_back_no_farther_than_to_the_look_before_the_oldest_that_runs() -> None:
    horizon = Horizon()
    horizon.looked(after(0), "100:100:")
    horizon.looked(after(1), "100:120:100")
    horizon.looked(after(2), "125:140:125")
    assert horizon.since() == after(1) - SKEW


def test_nobody_is_waited_for_forever() -> None:
    horizon = Horizon()
    horizon.looked(after(0), "100:100:")
    for second in range(1, 1000):
        horizon.looked(after(second), f"103:{100 + 10 * second}:103")
    assert horizon.since() == after(999) - FARTHEST - SKEW
    assert len(horizon._looks) <= FARTHEST.total_seconds() + 1
