"""Every failure of a delivery is explained, and the bars of the sparkline add up."""

from datetime import timedelta

import pytest

from gatepass.domain.webhooks import SUBSCRIBABLE, PausedReason
from gatepass.domain.webhooks.health import Hour
from gatepass.domain.webhooks.preflight import PreflightStep
from gatepass.domain.webhooks.queue import AttemptError
from gatepass.studio.webhooks import text as words
from gatepass.studio.webhooks.sparkline import HEIGHT, sparkline
from tests import factory


@pytest.mark.parametrize("error", [*AttemptError, "expired", "secret_locked"])
def test_every_error_is_explained(error: str) -> None:
    page = words.explain(None, error)
    assert page == words.ERRORS[error]


@pytest.mark.parametrize("status", [301, 400, 404, 410, 418, 429, 500, 503, 599])
def test_every_status_that_is_not_2xx_is_explained(status: int) -> None:
    assert words.explain(status, None) is not None


def test_success_needs_no_explanation() -> None:
    assert words.explain(204, None) is None
    assert words.explain(200, "timeout") is not None


def test_nothing_is_without_words() -> None:
    assert set(words.TYPES) == set(SUBSCRIBABLE)
    assert set(words.PAUSED) == set(PausedReason)
    assert set(words.STEPS) == set(PreflightStep)


def hour(delivered: int, failed: int) -> Hour:
    return Hour(factory.now() + timedelta(), delivered, delivered, failed, 0, 0, busy=False)


def test_a_day_of_bars() -> None:
    drawn = sparkline([hour(0, 0), hour(100, 0), hour(50, 50), hour(1, 0), hour(0, 1), hour(0, 200)])
    by_place: dict[int, list[tuple[str, float]]] = {}
    for part in drawn.parts:
        by_place.setdefault(part.x, []).append((part.kind, part.height))
        assert part.y >= 0
        assert part.y + part.height == pytest.approx(HEIGHT, abs=HEIGHT)
    bars = list(by_place.values())
    assert bars[0] == [("none", 1)]
    assert bars[1] == [("delivered", HEIGHT / 2)]
    assert bars[2] == [("delivered", HEIGHT / 4), ("failed", HEIGHT / 4)]
    assert bars[3] == [("delivered", 2)]
    assert bars[4] == [("failed", 2)]
    assert bars[5] == [("failed", HEIGHT)]
    assert drawn.sentence == "Last 24 hours: 151 attempts got through, 251 failed."


def test_a_day_without_anything_says_so() -> None:
    assert sparkline([hour(0, 0)] * 24).sentence == "Nothing was sent in the last 24 hours."
