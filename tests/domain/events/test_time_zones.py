"""Local time: every moment has a local time, and a local time has its moments."""

from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepass.base.errors import InvalidRequest
from gatepass.domain.events.duplication import shifted_event
from gatepass.domain.events.event import Event, EventStatus
from gatepass.domain.events.time_zones import (
    Fold,
    fold_of,
    local_time,
    moments,
    offered_zones,
    offset,
    shifted,
    to_moment,
    zone,
)

BRUSSELS = ZoneInfo("Europe/Brussels")
# Changes by half an hour, an offset with 45 minutes, and a whole day that does not exist.
ODD = ["Europe/Brussels", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "UTC"]

zones = st.one_of(st.sampled_from(ODD), st.sampled_from(offered_zones())).map(zone)
walls = st.datetimes(datetime(2001, 1, 1), datetime(2099, 1, 1))  # noqa: DTZ001  local time has no zone
times = st.datetimes(datetime(2001, 1, 1), datetime(2099, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(times, zones)
def test_a_moment_is_one_of_the_moments_of_its_time(moment: datetime, clock: ZoneInfo) -> None:
    wall = local_time(moment, clock)
    assert moment in moments(wall, clock)
    assert to_moment(wall, clock, fold_of(moment, clock), param="starts_at") == moment


@given(walls, zones)
def test_what_the_wall_shows_at_each_of_them_is_that_time(wall: datetime, clock: ZoneInfo) -> None:
    found = moments(wall, clock)
    assert len(found) <= 2
    assert found == sorted(set(found))
    assert all(local_time(moment, clock) == wall for moment in found)


@given(st.sampled_from(["Europe/Brussels", "America/New_York", "Australia/Lord_Howe"]), st.integers(2010, 2035))
def test_the_wall_leaves_out_as_much_as_it_shows_twice(name: str, year: int) -> None:
    clock, quarter = zone(name), timedelta(minutes=15)
    days = [datetime(year, 1, 1, 12, tzinfo=UTC) + timedelta(days=n) for n in range(365)]
    odd = [day for day in days if offset(day, clock) != offset(day + timedelta(days=1), clock)]
    counts = [len(moments(local_time(day, clock) + n * quarter, clock)) for day in odd for n in range(96)]
    assert len(odd) == 2
    assert counts.count(0) == counts.count(2) == (2 if name == "Australia/Lord_Howe" else 4)


def test_a_time_that_is_left_out_is_refused() -> None:
    with pytest.raises(InvalidRequest, match=r"no 02:30 on that day\. 03:30 comes instead") as refusal:
        to_moment(datetime(2027, 3, 28, 2, 30), BRUSSELS, None, param="starts_at")  # noqa: DTZ001
    assert refusal.value.param == "starts_at"


def test_a_time_that_comes_twice_is_asked_about() -> None:
    wall = datetime(2026, 10, 25, 2, 30)  # noqa: DTZ001
    first, second = datetime(2026, 10, 25, 0, 30, tzinfo=UTC), datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    with pytest.raises(InvalidRequest, match="twice") as refusal:
        to_moment(wall, BRUSSELS, None, param="ends_at")
    assert refusal.value.details == {"choices": [first, second]}
    assert to_moment(wall, BRUSSELS, Fold.FIRST, param="ends_at") == first
    assert to_moment(wall, BRUSSELS, Fold.SECOND, param="ends_at") == second
    assert [offset(moment, BRUSSELS) for moment in (first, second)] == ["UTC+02:00", "UTC+01:00"]


@pytest.mark.parametrize("year", [1, 1999, 2101, 9999])
def test_a_year_far_off_is_refused(year: int) -> None:
    with pytest.raises(InvalidRequest, match="year"):
        to_moment(datetime(year, 1, 1), BRUSSELS, None, param="starts_at")  # noqa: DTZ001


@pytest.mark.parametrize("name", ["", "Mars/Olympus", "../../etc/passwd", "localtime", "Factory", "europe/brussels"])
def test_what_is_no_zone_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        zone(name)
    assert refusal.value.param == "time_zone"


def test_an_offset_is_written_as_hours_and_minutes() -> None:
    at = datetime(2026, 7, 1, tzinfo=UTC)
    written = {name: offset(at, zone(name)) for name in ("UTC", "Asia/Kathmandu", "America/St_Johns")}
    assert written == {"UTC": "UTC+00:00", "Asia/Kathmandu": "UTC+05:45", "America/St_Johns": "UTC-02:30"}


@given(times, zones, st.integers(-800, 800))
def test_days_later_the_wall_shows_the_same_time(moment: datetime, clock: ZoneInfo, days: int) -> None:
    wall = local_time(moment, clock) + timedelta(days=days)
    there = shifted(moment, clock, days)
    assert local_time(there, clock) == wall or not moments(wall, clock)


@given(times, st.timedeltas(timedelta(minutes=1), timedelta(days=3)), zones, st.integers(-800, 800))
def test_a_moved_event_still_starts_before_it_ends(
    starts_at: datetime, lasts: timedelta, clock: ZoneInfo, days: int
) -> None:
    event = Event(
        id=UUID(int=0), title="", description=None, venue=None, city=None, country=None, starts_at=starts_at,
        ends_at=starts_at + lasts, cover_url=None, status=EventStatus.DRAFT, time_zone=clock.key,
    )  # fmt: skip
    there = shifted_event(event, days)
    assert there.starts_at < there.ends_at
