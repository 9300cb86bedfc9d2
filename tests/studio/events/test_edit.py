"""Creating and changing events: details, times, copies."""

import re
from datetime import timedelta
from typing import Any

import pytest

from tests.studio.browser_session import BrowserSession
from tests.studio.events.drafts import NIGHT, found, id_in, make_draft
from tests.studio.samples.events import OFFER


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"title": " "}, "This is needed."),
        ({"title": "x" * 201}, "longer than 200 characters"),
        ({"starts_date": "01/06/2031"}, "This is not a date."),
        ({"starts_date": "2031-02-30"}, "This is not a date."),
        ({"starts_time": "8pm"}, "This is not a time."),
        ({"ends_time": ""}, "This is needed."),
        ({"ends_time": "19:00"}, "An event starts before it ends."),
        ({"time_zone": "Belgium"}, "We do not know this time zone."),
        ({"country": "Belgium"}, "A country is two capital letters"),
        ({"starts_date": "2031-03-30", "starts_time": "02:30"}, "there is no 02:30 on that day"),
        ({"starts_date": "1931-06-01"}, "The year must be from 2000"),
        ({"venue": "a\x00b"}, "cannot be stored"),
        ({"venue": "a\u202eb"}, "cannot be kept"),
    ],
)
async def test_what_is_wrong_is_said_and_the_input_kept(
    user: BrowserSession, fields: dict[str, str], sentence: str
) -> None:
    answer = await user.send("events/new", status=422, **(NIGHT | fields))
    assert sentence in answer.text
    assert 'value="Ghent"' in answer.text
    assert 'role="alert"' in answer.text


async def test_everything_that_is_wrong_is_said_at_once(user: BrowserSession) -> None:
    wrong = {"title": "", "country": "Belgium", "ends_time": "19:00", "venue": "a\u202eb"}
    page = (await user.send("events/new", status=422, **(NIGHT | wrong))).text
    assert {"title", "country", "ends_at", "venue"} == set(re.findall(r'id="e-(\w+)"', page))
    assert re.search(r'name="ends_date"[^>]+aria-invalid="true" aria-describedby="e-ends_at"', page)
    page = (await user.send("events/new", status=422, **(NIGHT | wrong | {"time_zone": "Nowhere"}))).text
    assert {"title", "time_zone", "country", "venue"} == set(re.findall(r'id="e-(\w+)"', page))


@pytest.mark.parametrize(
    ("typed", "zone"),
    [
        ("Brussels", "Europe/Brussels"),
        ("europe/brussels", "Europe/Brussels"),
        ("new york", "America/New_York"),
        ("Buenos Aires", "America/Argentina/Buenos_Aires"),
        ("utc", "UTC"),
    ],
)
async def test_a_time_zone_is_found_by_its_city(user: BrowserSession, typed: str, zone: str) -> None:
    event_id = await make_draft(user, time_zone=typed)
    assert (await found(user, event_id)).event.time_zone == zone
    asked = f"time_zone={typed}&starts_date=2031-06-01&starts_time=20:00"
    assert "Jun 2031" in await user.see(f"events/clock?{asked}")


async def test_a_time_that_comes_twice_is_asked_about(user: BrowserSession) -> None:
    twice: dict[str, Any] = {
        "starts_date": "2031-10-26",
        "starts_time": "02:30",
        "ends_date": "2031-10-26",
        "ends_time": "09:00",
    }
    answer = await user.send("events/new", status=422, **(NIGHT | twice))
    assert "Which one is meant?" in answer.text
    assert answer.text.count('name="starts_which"') == 2
    assert 'name="ends_which"' not in answer.text
    event_id = await make_draft(user, **twice, starts_which="second")
    assert (await found(user, event_id)).event.starts_at.isoformat() == "2031-10-26T01:30:00+00:00"
    page = await user.see(f"events/{event_id}/edit")
    assert re.search(r'value="second" checked', page)
    await user.send(f"events/{event_id}/edit", **(NIGHT | twice | {"starts_which": "first"}))
    assert (await found(user, event_id)).event.starts_at.isoformat() == "2031-10-26T00:30:00+00:00"


async def test_times_are_said_in_utc_while_one_types(user: BrowserSession) -> None:
    asked = "time_zone=Asia/Kathmandu&starts_date=2031-06-01&starts_time=20:00&ends_date=&ends_time=23:00"
    part = await user.see(f"events/clock?{asked}")
    assert "1 Jun 2031, 14:15 UTC" in part
    assert "Ends" not in part
    assert (await user.see("events/clock?time_zone=Nowhere&starts_date=2031-06-01&starts_time=20:00")).strip() == ""
    gap = "time_zone=Europe/Paris&starts_date=2031-03-30&starts_time=02:15"
    assert "03:15 comes instead" in await user.see(f"events/clock?{gap}")
    assert "no such day" in await user.see("events/clock?time_zone=UTC&starts_date=2031-02-30&starts_time=02:15")


async def test_an_edit_shows_what_was_and_what_is(user: BrowserSession) -> None:
    event_id = await make_draft(user)
    page = await user.see(f"events/{event_id}/edit")
    assert 'value="20:00"' in page
    assert 'value="Europe/Brussels"' in page
    page = await user.follow(await user.send(f"events/{event_id}/edit", **(NIGHT | {"title": "Short Night"})))
    assert "Saved." in page
    assert "Title changed" in page
    assert re.search("<del[^>]*>Long Night</del>", page)
    page = await user.follow(await user.send(f"events/{event_id}/edit", **(NIGHT | {"title": "Short Night"})))
    assert "Nothing was changed." in page


async def test_a_duplicate_is_another_draft(user: BrowserSession) -> None:
    event_id = await make_draft(user)
    await user.send(f"events/{event_id}/categories", **OFFER)
    answer = await user.send(f"events/{event_id}/duplicate", title="Again", every="3", unit="days")
    assert "This is the copy" in await user.follow(answer)
    first, copy = await found(user, event_id), await found(user, id_in(answer.headers["location"]))
    assert copy.event.starts_at - first.event.starts_at == timedelta(days=3)
    assert len(copy.categories) == 1
    for bad in ({"every": "x"}, {"every": "99999"}, {"unit": "years"}, {"title": ""}):
        fields: dict[str, Any] = {"title": "Again", "every": "3", "unit": "days"} | bad
        await user.send(f"events/{event_id}/duplicate", status=422, **fields)


async def test_the_doors_of_an_event_open_in_its_time_zone(user: BrowserSession) -> None:
    event_id = await make_draft(user)
    event = (await found(user, event_id)).event
    assert (event.doors_open_at, event.offline) == (event.starts_at - timedelta(hours=1.5), "stop")
    form = await user.see(f"events/{event_id}/edit")
    assert re.search(r'name="doors_open_time"[^>]*value="18:30"', form)
    page = await user.see(f"events/{event_id}")
    assert "<dt>Doors open" in page
    assert "It lets nobody in" in page
    none = {"doors_open_date": "", "doors_open_time": "", "offline": "manifest"}
    await user.send(f"events/{event_id}/edit", **(NIGHT | none))
    event = (await found(user, event_id)).event
    assert (event.doors_open_at, event.offline) == (None, "manifest")
    assert "<dt>Doors open" not in await user.see(f"events/{event_id}")


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"doors_open_time": ""}, "doors_open_at"),
        ({"doors_open_date": ""}, "doors_open_at"),
        ({"doors_open_time": "23:00"}, "doors_open_at"),
        ({"doors_open_time": "seven"}, "doors_open_time"),
        ({"doors_open_date": "2031-03-30", "doors_open_time": "02:30"}, "doors_open_at"),
        ({"offline": "sometimes"}, "offline"),
    ],
)
async def test_doors_that_cannot_be_are_said(user: BrowserSession, fields: dict[str, str], error: str) -> None:
    page = (await user.send("events/new", status=422, **(NIGHT | fields))).text
    assert set(re.findall(r'id="e-(\w+)"', page)) == {error}


async def test_a_copy_has_the_rules_of_its_original_on_its_own_day(user: BrowserSession) -> None:
    """Across the end of summer time: local times stay."""
    event_id = await make_draft(user)
    until = {"valid_until_date": "2031-06-01", "valid_until_time": "21:00", "gates": "North 1"}
    await user.send(f"events/{event_id}/categories", **(OFFER | until))
    answer = await user.send(f"events/{event_id}/duplicate", title="Copy", every="26", unit="weeks")
    original, copy = await found(user, event_id), await found(user, id_in(answer.headers["location"]))
    assert copy.event.doors_open_at == copy.event.starts_at - timedelta(hours=1.5)
    assert copy.event.offline == "stop"
    (was,), (category,) = original.categories, copy.categories
    assert category.gates == ["North 1"]
    assert was.valid_until
    assert category.valid_until == was.valid_until + timedelta(days=182, hours=1)
