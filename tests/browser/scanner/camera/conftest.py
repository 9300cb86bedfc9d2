"""The camera's page in Chromium, with a video as its camera."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, async_playwright

from tests.browser.engines.programs import CHROMIUM, QUIET
from tests.browser.scanner.camera.site import Site, build, serving
from tests.browser.visit import TELL_VIOLATIONS

FAKE = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
# Without a video: each shows a clock.
TWO_CAMERAS = ["--use-fake-device-for-media-stream=device-count=2", "--use-fake-ui-for-media-stream"]

# Opens the page in a Chromium that has this video as its camera, and these options besides.
Opener = Callable[..., Awaitable[Page]]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("camera")
    build(folder)
    return folder


@pytest.fixture
def site(built: Path) -> Generator[Site]:
    with serving(built) as running:
        yield running


@pytest.fixture
async def watching(site: Site) -> AsyncGenerator[Opener]:
    browsers: list[Browser] = []
    async with async_playwright() as playwright:

        async def opened(feed: Path | None, *options: str, at: str = "") -> Page:
            given = [] if feed is None else [*FAKE, f"--use-file-for-fake-video-capture={feed}"]
            browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=[*QUIET, *given, *options])
            browsers.append(browser)
            page = await browser.new_page()
            await page.add_init_script(TELL_VIOLATIONS)
            await page.goto(at or site.origin)
            await page.wait_for_function("() => globalThis.bench")
            return page

        yield opened
        for browser in browsers:
            await browser.close()
