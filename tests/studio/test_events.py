"""The pages of events: from a draft to a published event, and what can be refused on the way."""

import re
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from gatepass.domain import changes, events
from gatepass.domain.events import EventStatus, Listing
from gatepass.domain.sandbox import EVENT_ID
from gatepass.domain.staff import Role
from gatepass.domain.webhooks import MessageType
from gatepass.studio.reception import Reception
from tests import make
from tests.pictures import png
from tests.studio.desk import Desk, browser, sit_down
from tests.studio.samples_events import DETAILS, OFFER

NIGHT = DETAILS | {"title": "Long Night", "description": "Bring\r\nsoup.", "venue": "Hall", "city": "Ghent"}


def id_in(location: str) -> UUID:
    return UUID(location.split("/events/")[1][:36])


async def found(desk: Desk, event_id: UUID) -> Listing:
    async with desk.house.db.reading() as tx:
        return await events.find(tx, desk.house.id, event_id)


async def make_draft(desk: Desk, **fields: Any) -> UUID:
    return id_in((await desk.send("events/new", **(NIGHT | fields))).headers["location"])


async def test_from_a_draft_to_a_published_event(desk: Desk) -> None:
    answer = await desk.send("events/new", **NIGHT)
    assert "There are no" not in (page := await desk.follow(answer))
    assert "Now say what tickets there are" in page
    event_id = id_in(answer.headers["location"])
    page = await desk.see(f"events/{event_id}")
    assert "1 thing is missing" in page
    assert "Sun 1 Jun 2031, 20:00" in page
    assert "Europe/Brussels, UTC+02:00" in page
    assert "1 Jun 2031, 18:00 UTC" in page
    refused = await desk.send(f"events/{event_id}/publish", status=409)
    assert "Add a ticket category" in refused.text
    assert "disabled" in await desk.see(f"events/{event_id}/publish")
    page = await desk.follow(await desk.send(f"events/{event_id}/categories", **(OFFER | {"name": "Balcony"})))
    assert "12.50 EUR" in page
    page = await desk.follow(await desk.send(f"events/{event_id}/publish"))
    assert "The event is published." in page
    listing = await found(desk, event_id)
    assert listing.event.status is EventStatus.PUBLISHED
    assert (listing.event.description, listing.event.country) == ("Bring\nsoup.", "BE")
    async with desk.house.db.reading() as tx:
        noted = await changes.of_subject(tx, desk.house.id, event_id)
    assert {one.actor for one in noted} == {f"person {desk.person.id}"}


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
        ({"time_zone": "Belgium"}, "This is not a time zone"),
        ({"country": "Belgium"}, "A country is two capital letters"),
        ({"starts_date": "2031-03-30", "starts_time": "02:30"}, "there is no 02:30 on that day"),
        ({"starts_date": "1931-06-01"}, "The year must be from 2000"),
        ({"venue": "a\x00b"}, "cannot be stored"),
        ({"venue": "a\u202eb"}, "cannot be kept"),
    ],
)
async def test_what_is_wrong_is_said_and_the_input_kept(desk: Desk, fields: dict[str, str], sentence: str) -> None:
    answer = await desk.send("events/new", status=422, **(NIGHT | fields))
    assert sentence in answer.text
    assert 'value="Ghent"' in answer.text
    assert 'role="alert"' in answer.text


async def test_a_time_that_comes_twice_is_asked_about(desk: Desk) -> None:
    twice: dict[str, Any] = {
        "starts_date": "2031-10-26",
        "starts_time": "02:30",
        "ends_date": "2031-10-26",
        "ends_time": "09:00",
    }
    answer = await desk.send("events/new", status=422, **(NIGHT | twice))
    assert "Which one is meant?" in answer.text
    assert answer.text.count('name="starts_which"') == 2
    assert 'name="ends_which"' not in answer.text
    event_id = await make_draft(desk, **twice, starts_which="second")
    assert (await found(desk, event_id)).event.starts_at.isoformat() == "2031-10-26T01:30:00+00:00"
    page = await desk.see(f"events/{event_id}/edit")
    assert re.search(r'value="second" checked', page)
    await desk.send(f"events/{event_id}/edit", **(NIGHT | twice | {"starts_which": "first"}))
    assert (await found(desk, event_id)).event.starts_at.isoformat() == "2031-10-26T00:30:00+00:00"


async def test_times_are_said_in_utc_while_one_types(desk: Desk) -> None:
    asked = "time_zone=Asia/Kathmandu&starts_date=2031-06-01&starts_time=20:00&ends_date=&ends_time=23:00"
    part = await desk.see(f"events/clock?{asked}")
    assert "1 Jun 2031, 14:15 UTC" in part
    assert "Ends" not in part
    assert (await desk.see("events/clock?time_zone=Nowhere&starts_date=2031-06-01&starts_time=20:00")).strip() == ""
    gap = "time_zone=Europe/Paris&starts_date=2031-03-30&starts_time=02:15"
    assert "03:15 comes instead" in await desk.see(f"events/clock?{gap}")
    assert "no such day" in await desk.see("events/clock?time_zone=UTC&starts_date=2031-02-30&starts_time=02:15")


async def test_an_edit_shows_what_was_and_what_is(desk: Desk) -> None:
    event_id = await make_draft(desk)
    page = await desk.see(f"events/{event_id}/edit")
    assert 'value="20:00"' in page
    assert 'value="Europe/Brussels"' in page
    page = await desk.follow(await desk.send(f"events/{event_id}/edit", **(NIGHT | {"title": "Short Night"})))
    assert "Saved." in page
    assert "Title changed" in page
    assert re.search("<del[^>]*>Long Night</del>", page)
    page = await desk.follow(await desk.send(f"events/{event_id}/edit", **(NIGHT | {"title": "Short Night"})))
    assert "Nothing was changed." in page


async def test_a_category_is_edited_and_removed(desk: Desk) -> None:
    event_id = await make_draft(desk)
    await desk.send(f"events/{event_id}/categories", **OFFER)
    category = (await found(desk, event_id)).categories[0]
    here = f"events/{event_id}/categories/{category.id}"
    assert 'value="12.50"' in await desk.see(here)
    answer = await desk.send(here, status=422, **(OFFER | {"price": "12.555", "tier": "V I P"}))
    assert "EUR has 2 decimal places." in answer.text
    assert "A tier is a short lower-case word" in answer.text
    await desk.send(here, **(OFFER | {"name": "Pit", "price": "9,99", "quantity_total": "7"}))
    category = (await found(desk, event_id)).categories[0]
    assert (category.name, category.price_minor, category.quantity_total) == ("Pit", 999, 7)
    await desk.send(f"{here}/remove")
    assert (await found(desk, event_id)).categories == []
    await desk.send(f"{here}/remove", status=404)
    await desk.see(here, status=404)


async def test_places_are_never_fewer_than_sold(desk: Desk) -> None:
    await desk.house.card()
    await desk.house.card()
    here = f"events/{desk.house.event_id}/categories/{desk.house.category_id}"
    answer = await desk.send(here, status=422, **(OFFER | {"quantity_total": "1"}))
    assert "2 are sold" in answer.text
    await desk.send(f"{here}/remove", status=409)


@pytest.mark.parametrize("field", ["price", "quantity_total"])
@pytest.mark.parametrize("text", ["", "x", "-1", "1e3", "1_000", " ", "NaN", "\uff19", "1" * 30])
async def test_a_number_that_is_none_is_refused(desk: Desk, field: str, text: str) -> None:
    answer = await desk.send(f"events/{desk.house.event_id}/categories", status=422, **(OFFER | {field: text}))
    assert f'id="e-{field}"' in answer.text


async def test_a_duplicate_is_another_draft(desk: Desk) -> None:
    event_id = await make_draft(desk)
    await desk.send(f"events/{event_id}/categories", **OFFER)
    answer = await desk.send(f"events/{event_id}/duplicate", title="Again", every="3", unit="days")
    assert "This is the copy" in await desk.follow(answer)
    first, copy = await found(desk, event_id), await found(desk, id_in(answer.headers["location"]))
    assert copy.event.starts_at - first.event.starts_at == timedelta(days=3)
    assert len(copy.categories) == 1
    for bad in ({"every": "x"}, {"every": "99999"}, {"unit": "years"}, {"title": ""}):
        fields: dict[str, Any] = {"title": "Again", "every": "3", "unit": "days"} | bad
        await desk.send(f"events/{event_id}/duplicate", status=422, **fields)


async def test_cancelling_says_what_it_means_and_needs_a_reason(desk: Desk) -> None:
    house = desk.house
    await house.endpoint("https://example.com/1", MessageType.EVENT_CANCELLED, MessageType.TICKET_CANCELLED)
    for _ in range(4):
        await house.card()
    page = await desk.see(f"events/{house.event_id}/cancel")
    assert re.findall(r'<dd class="figure">(.*?)</dd>', page) == ["4", "5"]
    answer = await desk.send(f"events/{house.event_id}/cancel", status=422, reason=" ")
    assert "Say why" in answer.text
    page = await desk.follow(await desk.send(f"events/{house.event_id}/cancel", reason="A storm is coming."))
    assert "A storm is coming." in page
    assert (await found(desk, house.event_id)).event.status is EventStatus.CANCELLED
    for what in ("edit", "categories", "cover", "cancel"):
        answer = await desk.client.get(desk.url(f"events/{house.event_id}/{what}"))
        assert answer.headers["location"].endswith(str(house.event_id))
    await desk.send(f"events/{house.event_id}/edit", status=409, **NIGHT)
    await desk.send(f"events/{house.event_id}/end", status=409)


async def test_an_event_that_is_on_can_be_ended(desk: Desk) -> None:
    running = await desk.house.event(starts_in=timedelta(hours=-1))
    assert "It is on now" in await desk.see(f"events/{running}")
    assert "This event is over" in await desk.follow(await desk.send(f"events/{running}/end"))


# ---- the list --------------------------------------------------------------------------------------------------


async def test_the_list_and_its_filters(desk: Desk) -> None:
    house = desk.house
    await house.event(starts_in=timedelta(days=-9), status=EventStatus.ENDED)
    draft = await make_draft(desk, title="Rare Night")
    upcoming, past = await desk.see("events"), await desk.see("events?when=past")
    assert "Rare Night" in upcoming
    assert "Rare Night" not in past
    assert "Ended" in past
    assert str(draft) in await desk.see("events?when=all&title=rare&status=draft&order=latest")
    assert "No event fits" in await desk.see("events?title=nowhere")
    assert "No event fits" in await desk.see("events?status=cancelled")


async def test_pages_lead_on_and_back(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatepass.studio.event_list.PAGE", 2)
    made = [await desk.house.event(starts_in=timedelta(days=n)) for n in range(1, 5)]
    expected = [desk.house.event_id, *made]

    async def read(url: str) -> tuple[list[UUID], str | None, str | None]:
        page = await desk.see(url)
        ids = [UUID(id) for id in re.findall(r'inset-0" href="/studio/live/events/([0-9a-f-]{36})"', page)]
        links = re.findall(r'href="(/studio/live/events\?[^"]*(?:after|before)=[^"]*)"', page)
        by = {("after" if "after=" in link else "before"): link.replace("&amp;", "&") for link in links}
        return ids, by.get("before"), by.get("after")

    first, before, after = await read("events")
    assert (first, before) == (expected[:2], None)
    second, before, after = await read(after or "")
    assert second == expected[2:4]
    assert (await read(before or ""))[0] == expected[:2]
    third, before, after = await read(after or "")
    assert (third, after) == (expected[4:], None)
    back, _, after = await read(before or "")
    assert back == expected[2:4]
    assert (await read(after or ""))[0] == expected[4:]


@pytest.mark.parametrize(
    "cursor", ["x", "_", "2031-01-01_x", "0001-01-01T00:00:00+00:00_" + str(UUID(int=0)), "9" * 500]
)
async def test_a_place_that_we_did_not_write_is_the_beginning(desk: Desk, cursor: str) -> None:
    assert str(desk.house.event_id) in await desk.see(f"events?after={cursor}")


async def test_an_empty_list_says_what_to_do_next(studio: Reception, desk: Desk) -> None:
    await desk.send(f"events/{desk.house.event_id}/cancel", reason="x")
    assert "New event" in (page := await desk.see("events"))
    assert "Nothing is planned" in page
    async with await sit_down(studio, desk.house, Role.VIEWER) as viewer:
        assert "New event" not in await viewer.see("events")


# ---- who may what ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [Role.GATE_LEAD, Role.VIEWER])
async def test_gate_leads_and_viewers_see_and_change_nothing(studio: Reception, house: make.House, role: Role) -> None:
    async with await sit_down(studio, house, role) as desk:
        page = await desk.see(f"events/{house.event_id}")
        assert "/edit" not in page
        assert "/cancel" not in page
        assert "Newest changes" not in page
        await desk.send(f"events/{house.event_id}/edit", status=403, **NIGHT)
        await desk.send(f"events/{house.event_id}/cancel", status=403, reason="x")
        await desk.send("events/new", status=403, **NIGHT)
        await desk.see(f"events/{house.event_id}/edit", status=403)


async def test_the_sandbox_has_one_event_which_nobody_changes(studio: Reception, house: make.House) -> None:
    async with await sit_down(studio, house, mode="sandbox") as desk:
        assert "Sandbox Night" in await desk.see("events")
        page = await desk.see(f"events/{EVENT_ID}")
        assert "TEST_REVOKED" in page
        assert "/edit" not in page
        await desk.send(f"events/{EVENT_ID}/edit", status=409, **NIGHT)
        await desk.send("events/new", status=409, **NIGHT)
        await desk.see(f"events/{house.event_id}", status=404)


# ---- covers ----------------------------------------------------------------------------------------------------


async def test_a_cover_is_uploaded_shown_to_all_and_taken_away(desk: Desk, studio: Reception) -> None:
    here, picture = f"events/{desk.house.event_id}/cover", png(320, 180)
    page = await desk.follow(await desk.send(here, files={"cover": ("evil.html", picture, "text/html")}))
    (path,) = set(re.findall(r'src="(/covers/[^"]+)"', page))
    async with browser(studio) as anybody:
        answer = await anybody.get(path)
        assert answer.content == picture
        assert answer.headers["content-type"] == "image/png"
        assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
        again = await anybody.get(path, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert (await anybody.get(path.replace(".png", ".jpg"))).status_code == 404
        assert (await anybody.get(path.replace(".png", ".html"))).status_code == 404
        assert (await anybody.head(path)).status_code == 200
        await desk.send(here)
        assert (await anybody.get(path)).status_code == 404
    assert (await found(desk, desk.house.event_id)).event.cover_url is None


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"<svg onload=alert(1)>", "not a PNG, JPEG or WebP"),
        (png(20, 20), "20 by 20 pixels"),
        (b"\x89PNG" + b"\x00" * (2 * 1024 * 1024), "larger than 2 MB"),
        (b"\x00" * (4 * 1024 * 1024), "larger than 2 MB"),
    ],
    ids=["no picture", "small", "a little too large", "much too large"],
)
async def test_what_is_no_cover_is_refused(desk: Desk, content: bytes, sentence: str) -> None:
    here = f"events/{desk.house.event_id}/cover"
    answer = await desk.send(here, status=422, files={"cover": ("a.png", content, "image/png")})
    assert sentence in answer.text


async def test_a_cover_elsewhere_is_named_and_not_asked_for(desk: Desk) -> None:
    here = f"events/{desk.house.event_id}/cover"
    for bad in ("http://example.com/a.png", "javascript:alert(1)", "//example.com/a.png"):
        answer = await desk.send(here, status=422, cover_url=bad)
        assert "begins with https://" in answer.text
    page = await desk.follow(await desk.send(here, cover_url="https://example.com/a.png"))
    assert "https://example.com/a.png" in page
    assert "<img" not in page.partition("<main")[2]


async def test_each_tab_has_its_own_order(desk: Desk) -> None:
    """What is past is read backwards from now, wherever one comes from."""
    page = await desk.see("events?order=earliest")
    (past,) = re.findall(r'href="([^"]+when=past[^"]*)"', page)
    assert '<option value="latest" selected>' in await desk.see(past.replace("&amp;", "&"))
