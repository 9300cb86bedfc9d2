"""The shell in a real browser: a link signs in, the menu works, nothing is asked of anybody else."""

import pytest

from tests import make
from tests.browser.studio import Stack, sign_in, violations
from tests.browser.visiting import PHONE, Colours, Visitor

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("colours", ["light", "dark"])
async def test_a_link_opens_the_studio(stack: Stack, house: make.House, visit: Visitor, colours: Colours) -> None:
    visited = await sign_in(stack, house, visit, colours=colours)
    assert await violations(visited.page) == []
    await visited.page.get_by_role("link", name="Sandbox", exact=True).click()
    await visited.page.wait_for_url("**/sandbox/home")
    await visited.page.get_by_text("Nothing here opens a gate").wait_for()
    assert visited.complaints == []
    assert visited.elsewhere(stack.origin) == []


async def test_the_menu_opens_on_a_phone(stack: Stack, house: make.House, visit: Visitor) -> None:
    visited = await sign_in(stack, house, visit, viewport=PHONE)
    await visited.page.get_by_label("Menu", exact=True).click()
    await visited.page.get_by_role("link", name="Home", exact=True).wait_for()
    assert await violations(visited.page) == []


async def test_another_organizations_pages_are_not_here(stack: Stack, house: make.House, visit: Visitor) -> None:
    other = await make.house(house.db)
    card = await other.card()
    page = (await sign_in(stack, house, visit)).page
    for rest in (f"events/{other.event_id}", f"events/{other.event_id}/door", f"cards/{card.id}"):
        answer = await page.goto(stack.url(rest))
        assert answer is not None
        assert answer.status == 404
        await page.get_by_role("heading", name="Not here").wait_for()
        assert await violations(page) == []
