"""How far a machine's clock is from PostgreSQL's, and when that is too far."""

from datetime import UTC, datetime, timedelta

import pytest

from gatepass.base.clock import READY_WITHIN, ClockSkew
from gatepass.base.commit_probe import CommitProbe
from gatepass.base.database import Database

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def seconds(value: float) -> timedelta:
    return timedelta(seconds=value)


@pytest.mark.parametrize(
    ("asked", "answered", "ahead"),
    [
        (-1, 1, 0),  # the middle is PostgreSQL's time
        (-9, 0.5, 0),  # a slow answer
        (0, 30, 0),
        (7, 9, 7),
        (-9, -7, -7),
        (-86402, -86400, -86400),
    ],
)
def test_a_difference_is_what_half_of_the_round_trip_does_not_explain(
    asked: float, answered: float, ahead: float
) -> None:
    skew = ClockSkew(lambda: NOON + seconds(answered))
    skew.measure(NOON + seconds(asked), NOON)
    assert skew.ahead == seconds(ahead)
    middle, half = (asked + answered) / 2, (answered - asked) / 2
    assert abs(skew.ahead) == seconds(max(abs(middle) - half, 0))


@pytest.mark.parametrize("way", [1, -1])
def test_five_seconds_are_allowed_and_no_more(way: int) -> None:
    def told(off: timedelta) -> str | None:
        skew = ClockSkew(lambda: NOON + way * off)
        skew.measure(skew.own(), NOON)
        return skew.trouble()

    assert told(READY_WITHIN) is None
    assert ("5.1 s ahead of" if way > 0 else "5.1 s behind") in str(told(READY_WITHIN + seconds(0.1)))


async def test_the_probe_of_commits_compares_the_clocks(db: Database) -> None:
    probe = CommitProbe(db.url, "clocks")
    probe.skew = ClockSkew(lambda: datetime.now(UTC) + timedelta(days=1))
    assert await probe.trouble() is None, "a wrong clock keeps nobody from committing"
    assert probe.skew.ahead > timedelta(hours=23)
    assert "ahead of PostgreSQL's" in str(probe.skew.trouble())
    await probe.close()
