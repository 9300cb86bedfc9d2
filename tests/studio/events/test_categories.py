"""Ticket categories of an event."""

import re
from datetime import UTC, datetime

import pytest

from tests.studio.browser_session import BrowserSession
from tests.studio.events.drafts import found, make_draft
from tests.studio.samples.events import OFFER


async def test_a_category_is_edited_and_removed(user: BrowserSession) -> None:
    event_id = await make_draft(user)
    await user.send(f"events/{event_id}/categories", **OFFER)
    category = (await found(user, event_id)).categories[0]
    here = f"events/{event_id}/categories/{category.id}"
    assert 'value="12.50"' in await user.see(here)
    answer = await user.send(here, status=422, **(OFFER | {"price": "12.555", "tier": "V I P"}))
    assert "EUR has 2 decimal places." in answer.text
    assert "A tier is a short lower-case word" in answer.text
    await user.send(here, **(OFFER | {"name": "Pit", "price": "9,99", "quantity_total": "7"}))
    category = (await found(user, event_id)).categories[0]
    assert (category.name, category.price_minor, category.quantity_total) == ("Pit", 999, 7)
    await user.send(f"{here}/remove")
    assert (await found(user, event_id)).categories == []
    await user.send(f"{here}/remove", status=404)
    await user.see(here, status=404)


async def test_places_are_never_fewer_than_issued(user: BrowserSession) -> None:
    await user.tenant.card()
    await user.tenant.card()
    here = f"events/{user.tenant.event_id}/categories/{user.tenant.category_id}"
    answer = await user.send(here, status=422, **(OFFER | {"quantity_total": "1"}))
    assert "2 are issued" in answer.text
    await user.send(f"{here}/remove", status=409)


@pytest.mark.parametrize("field", ["price", "quantity_total"])
@pytest.mark.parametrize("text", ["", "x", "-1", "1e3", "1_000", " ", "NaN", "\uff19", "1" * 30])
async def test_a_number_that_is_none_is_refused(user: BrowserSession, field: str, text: str) -> None:
    answer = await user.send(f"events/{user.tenant.event_id}/categories", status=422, **(OFFER | {field: text}))
    assert f'id="e-{field}"' in answer.text


async def test_a_number_below_zero_is_told_what_is_wanted(user: BrowserSession) -> None:
    wrong = {"name": "", "tier": "V I P", "price": "-3", "quantity_total": "-3"}
    page = (await user.send(f"events/{user.tenant.event_id}/categories", status=422, **(OFFER | wrong))).text
    assert "Write a whole number, 0 or more." in page
    assert "Write the price as a number, 0 or more: 25.50." in page
    assert (
        "EUR has 2 decimal places."
        in (
            await user.send(
                f"events/{user.tenant.event_id}/categories", status=422, **(OFFER | wrong | {"price": "12.555"})
            )
        ).text
    )
    assert {"name", "tier", "price", "quantity_total"} == set(re.findall(r'id="e-(\w+)"', page))


async def test_a_category_says_when_and_where_its_tickets_open_the_gate(user: BrowserSession) -> None:
    event_id = await make_draft(user)
    rules = {
        "valid_from_date": "2031-06-01", "valid_from_time": "19:00", "valid_until_date": "2031-06-01",
        "valid_until_time": "20:30", "gates": " North 1\r\n\r\nNorth 2 ",
    }  # fmt: skip
    page = await user.follow(await user.send(f"events/{event_id}/categories", **(OFFER | rules)))
    assert "Gates North 1, North 2" in page
    (category,) = (await found(user, event_id)).categories
    assert category.gates == ["North 1", "North 2"]
    # In Brussels.
    assert (category.valid_from, category.valid_until) == (
        datetime(2031, 6, 1, 17, tzinfo=UTC),
        datetime(2031, 6, 1, 18, 30, tzinfo=UTC),
    )
    form = await user.see(f"events/{event_id}/categories/{category.id}")
    for shown in ('value="19:00"', 'value="20:30"', "North 1\nNorth 2</textarea>"):
        assert shown in form
    none = dict.fromkeys(rules, "")
    await user.send(f"events/{event_id}/categories/{category.id}", **(OFFER | none))
    (category,) = (await found(user, event_id)).categories
    assert (category.valid_from, category.valid_until, category.gates) == (None, None, None)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"valid_until_date": "2031-06-01", "valid_until_time": "19:00"}, "valid_until_at"),
        ({"valid_from_time": ""}, "valid_from_at"),
        ({"valid_from_date": "June"}, "valid_from_date"),
        ({"valid_from_date": "2031-03-30", "valid_from_time": "02:30"}, "valid_from_at"),
        ({"valid_from_date": "2031-10-26", "valid_from_time": "02:30"}, "valid_from_at"),
        ({"gates": "North\nNorth"}, "gates"),
        ({"gates": "x" * 65}, "gates"),
        ({"gates": "\n".join(str(number) for number in range(51))}, "gates"),
        ({"gates": "a\u202eb"}, "gates"),
    ],
)
async def test_a_rule_that_is_wrong_is_said_beside_its_field(
    user: BrowserSession, fields: dict[str, str], error: str
) -> None:
    event_id = await make_draft(user)
    page = (await user.send(f"events/{event_id}/categories", status=422, **(OFFER | fields))).text
    assert set(re.findall(r'id="e-(\w+)"', page)) == {error}


async def test_a_time_that_comes_twice_is_chosen(user: BrowserSession) -> None:
    event_id = await make_draft(user)
    twice = OFFER | {"valid_from_date": "2031-10-26", "valid_from_time": "02:30"}
    page = (await user.send(f"events/{event_id}/categories", status=422, **twice)).text
    assert 'name="valid_from_which"' in page
    await user.send(f"events/{event_id}/categories", **(twice | {"valid_from_which": "second"}))
    (category,) = (await found(user, event_id)).categories
    assert category.valid_from == datetime(2031, 10, 26, 1, 30, tzinfo=UTC)
