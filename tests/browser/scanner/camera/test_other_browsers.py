"""The same camera in Firefox and in WebKit, which take no video from a file: frames are drawn on a canvas instead."""

import pytest
from playwright.async_api import Browser
from selenium.webdriver import Remote

from tests.browser.engines.webkit import WebkitPage
from tests.browser.scanner.camera import feeds
from tests.browser.scanner.camera.site import Site
from tests.browser.visit import TELL_VIOLATIONS, Visit

pytestmark = pytest.mark.browser

TEXTS = feeds.tokens(8, seed=8)
START = """(async () => {
    const { replaceCamera } = await import("/fake_camera.js");
    await replaceCamera(COUNT);
    return bench.open();
})()"""
READ_ALL = "texts.every((text) => bench.codes.includes(text)) && bench.times('zxing').length > 0"
WITHIN = 90


@pytest.fixture
def start(site: Site) -> str:
    """The frames of all looks, each with another code."""
    shown = zip(feeds.LOOKS.values(), TEXTS, strict=True)
    site.frames = [list(feeds.held_frames(look, text))[9] for look, text in shown]
    return START.replace("COUNT", str(len(site.frames)))


async def test_firefox(firefox: Browser, site: Site, start: str) -> None:
    visit = Visit(await firefox.new_page())
    await visit.page.add_init_script(TELL_VIOLATIONS)
    await visit.page.goto(site.origin)
    assert await visit.page.evaluate(start) is None
    await visit.page.wait_for_function(f"(texts) => {READ_ALL}", arg=TEXTS, timeout=WITHIN * 1000)
    assert visit.complaints == []


async def test_webkit(webkit: Remote, site: Site, start: str) -> None:
    def read(browser: Remote) -> set[str]:
        browser.set_script_timeout(WITHIN)
        browser.get(site.origin)
        assert browser.execute_async_script(f"{start}.then(arguments[0])") is None
        waiting = f"""
            const [texts, done] = arguments;
            setInterval(() => {{ if ({READ_ALL}) done(bench.codes); }}, 100);
        """
        return set(browser.execute_async_script(waiting, TEXTS))

    assert await WebkitPage(webkit).do(read) == set(TEXTS)
