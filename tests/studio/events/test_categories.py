"""Ticket categories of an event."""

import re

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
