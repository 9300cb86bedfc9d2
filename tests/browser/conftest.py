"""A real browser for the test session, and pages in it."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
from playwright.async_api import Browser, BrowserContext, Page, ViewportSize, async_playwright, expect
from selenium.webdriver import Remote

from tests import factory
from tests.browser.engines.programs import FIREFOX, HEADLESS_SHELL, QUIET
from tests.browser.engines.webkit import webkit_browser
from tests.browser.studio import Stack
from tests.browser.visit import DESKTOP, PATIENCE, TELL_VIOLATIONS, Colours, Visit, Visitor
from tests.mail_server import mail_server
from tests.postgres import free_port
from tests.processes import launch_worker, serve

expect.set_options(timeout=PATIENCE * 1000)


@pytest.fixture(scope="session")
async def browser() -> AsyncGenerator[Browser]:
    async with async_playwright() as playwright:
        shell = await playwright.chromium.launch(executable_path=HEADLESS_SHELL, args=QUIET)
        yield shell
        await shell.close()


@pytest.fixture(scope="module")
async def firefox() -> AsyncGenerator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.firefox.launch(channel="moz-firefox", executable_path=FIREFOX)
        yield browser
        await browser.close()


@pytest.fixture(scope="module")
def webkit() -> Generator[Remote]:
    with webkit_browser() as browser:
        yield browser


@pytest.fixture
async def visit(browser: Browser) -> AsyncGenerator[Visitor]:
    """Opens pages in contexts of their own, light or dark, wide or narrow; closed when the test ends."""
    contexts: list[BrowserContext] = []

    async def opened(*, colours: Colours = "light", viewport: ViewportSize = DESKTOP, javascript: bool = True) -> Visit:
        context = await browser.new_context(color_scheme=colours, viewport=viewport, java_script_enabled=javascript)
        contexts.append(context)
        await context.add_init_script(TELL_VIOLATIONS)
        return Visit(await context.new_page())

    yield opened
    for context in contexts:
        await context.close()


@pytest.fixture
async def page(visit: Visitor) -> Page:
    """A page for tests that do not depend on colours or size."""
    return (await visit()).page


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for pictures of the pages; pytest keeps those of the last three runs."""
    return tmp_path_factory.mktemp("screenshots")


@pytest.fixture(scope="session")
def stack(settings_env: dict[str, str]) -> Generator[Stack]:
    """A real `gatepass serve` with the API and the studio, and a real worker, on the test database."""
    yield from _started(settings_env)


@pytest.fixture(scope="session")
def mailing_stack(settings_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    """The same with a real mail server."""
    with mail_server(tmp_path_factory.mktemp("mail")) as server:
        yield from _started(settings_env | server.environment())


def _started(settings_env: dict[str, str]) -> Generator[Stack]:
    port = free_port()
    environment = {
        **settings_env,
        "GATEPASS_ENCRYPTION_KEYS": factory.KEY,
        "GATEPASS_WEBHOOK_ALLOW_PRIVATE": "1",
        "GATEPASS_PUBLIC_URL": f"http://localhost:{port}",
    }
    started = Stack(serve(environment, port), launch_worker(environment))
    yield started
    started.worker.stop()
    started.server.stop()
