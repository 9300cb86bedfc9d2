"""The frame of the pages in a real browser: a link signs in, the menu works, no request goes to another host."""

import pytest

from tests import factory
from tests.browser.studio import Stack, sign_in, violations
from tests.browser.visit import PHONE, Colours, Visitor

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("colours", ["light", "dark"])
async def test_a_link_opens_the_studio(stack: Stack, tenant: factory.Tenant, visit: Visitor, colours: Colours) -> None:
    visited = await sign_in(stack, tenant, visit, colours=colours)
    assert await violations(visited.page) == []
    await visited.page.get_by_role("link", name="Sandbox", exact=True).click()
    await visited.page.wait_for_url("**/sandbox/home")
    await visited.page.get_by_text("Nothing here opens a gate").wait_for()
    assert visited.complaints == []
    assert visited.elsewhere(stack.origin) == []


async def test_the_menu_opens_on_a_phone(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    visited = await sign_in(stack, tenant, visit, viewport=PHONE)
    await visited.page.get_by_label("Menu", exact=True).click()
    await visited.page.get_by_role("link", name="Home", exact=True).wait_for()
    assert await violations(visited.page) == []


async def test_another_organizations_pages_are_not_here(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    other = await factory.tenant(tenant.db)
    card = await other.card()
    page = (await sign_in(stack, tenant, visit)).page
    for rest in (f"events/{other.event_id}", f"events/{other.event_id}/live", f"cards/{card.id}"):
        answer = await page.goto(stack.url(rest))
        assert answer is not None
        assert answer.status == 404
        await page.get_by_role("heading", name="Not here").wait_for()
        assert await violations(page) == []
