"""Every page of the studio in a real browser: accessible, whole at every width, quiet, and by itself."""

import os
from typing import NamedTuple

import pytest
from playwright.async_api import Page, ViewportSize

from tests import make
from tests.browser.studio import Stack, sign_in, violations
from tests.browser.visiting import DESKTOP, PHONE, Colours, Visit, Visitor
from tests.studio.walk import Walk, all_ids, named, walks

pytestmark = pytest.mark.browser

# What a laptop of 1280 pixels has at 200 %.
ZOOMED = ViewportSize(width=640, height=400)


class Look(NamedTuple):
    width: ViewportSize
    colours: Colours
    mode: str


# Each page is seen by day on a desk and by night on a phone; `GATEPASS_BROWSER_FULL=1` sees it in all four ways.
DAY, NIGHT = Look(DESKTOP, "light", "live"), Look(PHONE, "dark", "live")
LOOKS = [DAY, NIGHT, Look(DESKTOP, "light", "sandbox")]
if os.environ.get("GATEPASS_BROWSER_FULL"):
    LOOKS.extend([Look(DESKTOP, "dark", "live"), Look(PHONE, "light", "live"), Look(PHONE, "dark", "sandbox")])
SKIPPED = {"GET /studio", "GET /studio/", "GET /studio/static/{name:path}"}


def _pages() -> list[Walk]:
    left_out = SKIPPED | named("STREAMS") | named("DOWNLOADS") | named("PARTS")
    return [walk for walk in walks() if walk.method == "GET" and str(walk) not in left_out]


async def _problems(visited: Visit, url: str) -> list[str]:
    """What is wrong with the page at this address."""
    answer = await visited.page.goto(url)
    found = [] if answer is not None and answer.status == 200 else [f"answered {answer and answer.status}"]
    if await _is_too_wide(visited.page):
        found.append("wider than the window")
    return found + await violations(visited.page)


async def _is_too_wide(page: Page) -> bool:
    return await page.evaluate("() => document.documentElement.scrollWidth > window.innerWidth")


@pytest.mark.parametrize(
    ("width", "colours", "mode"), LOOKS, ids=[f"{look.width['width']}-{look.colours}-{look.mode}" for look in LOOKS]
)
async def test_axe_finds_nothing_on_any_page(
    stack: Stack, house: make.House, visit: Visitor, width: ViewportSize, colours: Colours, mode: str
) -> None:
    """What has an id exists only live."""
    ids = await all_ids(house)
    visited = await sign_in(stack, house, visit, viewport=width, colours=colours)
    pages = [walk for walk in _pages() if mode == "live" or ("{mode}" in walk.path and not walk.takes_ids)]
    assert len(pages) > 3
    problems: dict[str, list[str]] = {}
    for walk in pages:
        visited.complaints.clear()
        visited.requests.clear()
        found = await _problems(visited, stack.origin + walk.url(ids, mode))
        if found := found + visited.complaints + visited.elsewhere(stack.origin):
            problems[str(walk)] = found
    assert problems == {}, "\n".join(f"{walk}: {found}" for walk, found in problems.items())


async def test_no_page_is_too_wide_at_200_percent(stack: Stack, house: make.House, visit: Visitor) -> None:
    ids = await all_ids(house)
    page = (await sign_in(stack, house, visit, viewport=ZOOMED)).page
    wide: list[str] = []
    for walk in _pages():
        await page.goto(stack.origin + walk.url(ids))
        if await _is_too_wide(page):
            wide.append(str(walk))
    assert wide == []


async def test_a_keyboard_is_enough(stack: Stack, house: make.House, visit: Visitor) -> None:
    page = (await sign_in(stack, house, visit)).page
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
