"""Two tabs in a real browser: one shows an organization, the other has switched to another one."""

import os
from pathlib import Path

import pytest

from gatepass.domain import staff
from gatepass.domain.staff import Role
from gatepass.studio.services.templates import root_of
from tests import factory
from tests.browser.studio import Stack, sign_in, violations
from tests.browser.visit import DESKTOP, PHONE, Colours, Visitor

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("colours", "size"), [("light", DESKTOP), ("dark", PHONE)], ids=["light", "dark, on a phone"])
async def test_the_form_of_an_old_tab_does_nothing_and_offers_to_switch(
    stack: Stack, tenant: factory.Tenant, visit: Visitor, colours: Colours, size: object
) -> None:
    other = await factory.tenant(tenant.db)
    visited = await sign_in(stack, tenant, visit, colours=colours, viewport=size)
    page = visited.page
    async with tenant.db.transaction() as tx:
        person_id = await tx.value("SELECT person_id FROM member WHERE organization_id = $1", tenant.id)
        await staff.join(tx, other.id, person_id, Role.OWNER, by=factory.BY, at=factory.now())
    await page.goto(stack.origin + root_of(tenant.id, "live") + "/team/invite")
    await page.get_by_label("E-mail address").fill("intern@example.org")
    second = await page.context.new_page()
    await second.goto(stack.url("/studio/organizations"))
    await second.locator(f"form:has(input[value='{other.id}']) button").click()
    await second.wait_for_url(f"**/o/{other.id}/live/home")
    await page.get_by_role("button", name="Make the link").click()
    await page.get_by_role("heading", name="This page is of").wait_for()
    assert await violations(page) == []
    if folder := os.environ.get("GATEPASS_LOOK"):
        await page.screenshot(path=Path(folder) / f"tabs-{colours}.png")
    async with tenant.db.autocommit() as tx:
        ids = [tenant.id, other.id]
        assert await tx.value("SELECT count(*) FROM invitation WHERE organization_id = ANY ($1)", ids) == 0
    await page.get_by_role("button", name="Switch to").click()
    await page.wait_for_url(f"**/o/{tenant.id}/live/team/invite")
