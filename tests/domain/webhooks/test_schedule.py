"""The retry schedule: its delays, its jitter, Retry-After as a lower bound, and its end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepass.domain.keys import Mode
from gatepass.domain.webhooks.schedule import DELAYS, JITTER, LONGEST_RETRY_AFTER, again_in

# As in the decision: 5 s, 30 s, 2 m, 10 m, 30 m, 1 h, 2 h, 4 h, 8 h, 12 h, 12 h, 16 h, 16 h.
DECIDED = [5, 30, 120, 600, 1800, 3600, 7200, 14400, 28800, 43200, 43200, 57600, 57600]


@pytest.mark.parametrize(("attempt", "seconds"), list(enumerate(DECIDED, 1)))
def test_the_schedule_is_the_one_that_was_decided(attempt: int, seconds: int) -> None:
    assert again_in(attempt, Mode.LIVE, dice=0.5) == pytest.approx(seconds)
    assert again_in(attempt, Mode.SANDBOX, dice=0.5) == pytest.approx(seconds / 60)


def test_it_takes_72_hours_and_then_ends() -> None:
    assert sum(DELAYS) / 3600 == pytest.approx(72, abs=0.5)
    assert again_in(len(DELAYS) + 1, Mode.LIVE, dice=0.5) is None


@given(st.integers(1, len(DELAYS)), st.sampled_from(Mode), st.floats(0, 1), st.none() | st.floats(0, 1e10))
def test_it_stays_within_its_jitter_and_honours_a_wish(
    attempt: int, mode: Mode, dice: float, wish: float | None
) -> None:
    planned = DECIDED[attempt - 1] / (60 if mode is Mode.SANDBOX else 1)
    again = again_in(attempt, mode, dice, wish)
    assert again is not None
    wished = min(wish or 0, LONGEST_RETRY_AFTER)
    assert max(planned * (1 - JITTER), wished) - 1e-6 <= again <= max(planned * (1 + JITTER), wished) + 1e-6
