"""Every page of the studio in a real browser: accessible, complete at every width, no errors, no foreign requests."""

import os
from typing import NamedTuple

import pytest
from playwright.async_api import Page, ViewportSize

from gatepass.domain import staff
from gatepass.domain.staff.mail.links import make_proof
from tests import factory
from tests.browser.studio import Stack, sign_in, violations
from tests.browser.visit import DESKTOP, PHONE, Colours, Visit, Visitor
from tests.studio.routes import Walk, all_ids, named, walks

pytestmark = pytest.mark.browser

# The width of a 1280 pixel laptop at 200 % zoom.
ZOOMED = ViewportSize(width=640, height=400)


class Look(NamedTuple):
    width: ViewportSize
    colours: Colours

    def __str__(self) -> str:
        return f"{self.width['width']} pixels, {self.colours}"


# Each page is checked in light on a desktop and in dark on a phone; with `GATEPASS_BROWSER_FULL=1` in all four ways.
DAY, NIGHT = Look(DESKTOP, "light"), Look(PHONE, "dark")
FULL = [Look(DESKTOP, "dark"), Look(PHONE, "light")] if os.environ.get("GATEPASS_BROWSER_FULL") else []
# The sandbox has the same pages, with other colours at the top.
LOOKS = {"live": [DAY, NIGHT, *FULL], "sandbox": [DAY, *([NIGHT] if FULL else [])]}
# Shares, so that two browsers can work at a time.
SHARES = 4
# After this time all colour transitions have ended, or were broken off by a later change of the page.
HAS_CHANGED = """() => Promise.allSettled(
    document.getAnimations().map((one) => one instanceof CSSTransition && one.finished)
)"""
SKIPPED = {"GET /studio", "GET /studio/", "GET /studio/static/{name:path}"}
# Pages that are there only where there is a mail server. Of the second, each person has a link of their own.
OF_MAIL = {"GET /studio/account/address", "GET /studio/address/{token}", "GET /studio/sign-in/mail"}
# Pages that have more to show where there is one.
MORE_WITH_MAIL = {
    "GET /studio/welcome/{token}",
    "GET /studio/{mode}/events/{event_id}/mail",
    "GET /studio/{mode}/events/{event_id}/mail/{mailing_id}",
    "GET /studio/{mode}/events/{event_id}/tell",
}


def _pages() -> list[Walk]:
    left_out = SKIPPED | OF_MAIL | named("STREAMS") | named("DOWNLOADS") | named("PARTS")
    return [walk for walk in walks() if walk.method == "GET" and str(walk) not in left_out]


async def _problems(visited: Visit, url: str, looks: list[Look]) -> list[str]:
    """The problems of the page at this URL. It is loaded once, and then checked in every way."""
    page = visited.page
    answer = await page.goto(url)
    found = [] if answer is not None and answer.status == 200 else [f"answered {answer and answer.status}"]
    for look in looks:
        await page.set_viewport_size(look.width)
        await page.emulate_media(color_scheme=look.colours)
        await page.evaluate(HAS_CHANGED)
        if await _is_too_wide(page):
            found.append(f"{look}: wider than the window")
        found += [f"{look}: {one}" for one in await violations(page)]
    await page.set_viewport_size(ZOOMED)
    if await _is_too_wide(page):
        found.append("wider than the window at 200 %")
    return found


async def _is_too_wide(page: Page) -> bool:
    return await page.evaluate("() => document.documentElement.scrollWidth > window.innerWidth")


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("mode", LOOKS)
async def test_nothing_is_wrong_with_any_page(
    stack: Stack, tenant: factory.Tenant, visit: Visitor, mode: str, share: int
) -> None:
    """Axe finds nothing, nothing is too wide, the console is empty. Pages with an id exist only live."""
    ids = await all_ids(tenant)
    visited = await sign_in(stack, tenant, visit)
    pages = [walk for walk in _pages() if mode == "live" or ("{mode}" in walk.path and not walk.takes_ids)]
    assert len(pages) > 3 * SHARES
    problems: dict[str, list[str]] = {}
    for walk in pages[share::SHARES]:
        visited.complaints.clear()
        visited.requests.clear()
        found = await _problems(visited, stack.origin + walk.url(ids, mode), LOOKS[mode])
        if found := found + visited.complaints + visited.elsewhere(stack.origin):
            problems[str(walk)] = found
    assert problems == {}, "\n".join(f"{walk}: {found}" for walk, found in problems.items())


async def test_nothing_is_wrong_with_the_pages_of_mail(
    mailing_stack: Stack, tenant: factory.Tenant, visit: Visitor
) -> None:
    ids = await all_ids(tenant)
    visited = await sign_in(mailing_stack, tenant, visit)
    await visited.page.goto(mailing_stack.url("/studio/account/address"))
    email = await visited.page.get_by_label("E-mail address").input_value()
    async with tenant.db.transaction() as tx:
        person = await staff.find_person(tx, email)
        assert person is not None
        proof = await make_proof(tx, person.id, email, cell="a", at=factory.now())
    pages = [walk for walk in walks() if str(walk) in OF_MAIL | MORE_WITH_MAIL]
    assert len(pages) == len(OF_MAIL | MORE_WITH_MAIL)
    problems: dict[str, list[str]] = {}
    for walk in pages:
        visited.complaints.clear()
        here = ids | {"token": proof} if "/address/" in walk.path else ids
        found = await _problems(visited, mailing_stack.origin + walk.url(here), LOOKS["live"])
        if found := found + visited.complaints:
            problems[str(walk)] = found
    assert problems == {}, "\n".join(f"{walk}: {found}" for walk, found in problems.items())


async def test_a_keyboard_is_enough(stack: Stack, tenant: factory.Tenant, visit: Visitor) -> None:
    page = (await sign_in(stack, tenant, visit)).page
    await page.keyboard.press("Tab")
    assert await _focused(page) == "Skip to the content"
    for _ in range(40):
        await page.keyboard.press("Tab")
        if await _focused(page) == "Ada Byron":
            break
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Sign out").wait_for()
    await page.keyboard.press("Escape")
    assert await _focused(page) == "Ada Byron"
    await page.get_by_role("button", name="Sign out").wait_for(state="hidden")


async def _focused(page: Page) -> str:
    return await page.evaluate("() => document.activeElement.innerText.trim()")
