"""How far back deltas look for scans that were not visible."""

from datetime import UTC, datetime, timedelta

from gatepass.domain.live import Lookback
from gatepass.domain.live.lookback import FARTHEST, SKEW

START = datetime(2026, 7, 1, 20, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def test_the_first_snapshot_knows_nothing_of_what_runs() -> None:
    lookback = Lookback()
    lookback.looked(after(0), "90:100:90")
    assert lookback.since() == after(0) - FARTHEST - SKEW


def test_where_nothing_runs_it_looks_back_as_far_as_clocks_may_differ() -> None:
    lookback = Lookback()
    lookback.looked(after(0), "100:100:")
    assert lookback.since() == after(0) - SKEW
    lookback.looked(after(1), "140:140:")
    assert lookback.since() == after(1) - SKEW


def test_a_transaction_that_goes_on_is_waited_for() -> None:
    lookback = Lookback()
    lookback.looked(after(0), "100:100:")
    for second in range(1, 50):
        lookback.looked(after(second), f"103:{100 + 10 * second}:103")
        assert lookback.since() == after(0) - SKEW  # 103 was given out after that moment
    lookback.looked(after(50), "600:600:")
    assert lookback.since() == after(50) - SKEW


def test_it_goes_back_no_farther_than_to_the_look_before_the_oldest_that_runs() -> None:
    lookback = Lookback()
    lookback.looked(after(0), "100:100:")
    lookback.looked(after(1), "100:120:100")
    lookback.looked(after(2), "125:140:125")
    assert lookback.since() == after(1) - SKEW


def test_nobody_is_waited_for_forever() -> None:
    lookback = Lookback()
    lookback.looked(after(0), "100:100:")
    for second in range(1, 1000):
        lookback.looked(after(second), f"103:{100 + 10 * second}:103")
    assert lookback.since() == after(999) - FARTHEST - SKEW
    assert len(lookback._looks) <= FARTHEST.total_seconds() + 1
