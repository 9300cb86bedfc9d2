"""The reference at /docs, in a real browser, from a real service."""

from collections.abc import AsyncGenerator
from pathlib import Path
from urllib.parse import urldefrag

import pytest
from playwright.async_api import Page, ViewportSize, expect

from gatepass.api.openapi.operations import NOTES
from gatepass.base.database import Database
from gatepass.domain.keys import Mode
from gatepass.domain.message_catalogue import MESSAGES
from tests import factory
from tests.browser.visit import DESKTOP, PHONE, Colours, Visitor
from tests.postgres import free_port
from tests.processes import GatepassProcess, serve

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
async def sandbox_key(db: Database) -> str:
    tenant = await factory.tenant(db)
    return (await tenant.key(mode=Mode.SANDBOX)).text


@pytest.fixture(scope="module")
async def documented(settings_env: dict[str, str], sandbox_key: str) -> AsyncGenerator[GatepassProcess]:
    """A service that shows a sandbox key on its pages, as `gatepass dev` does."""
    process = serve({**settings_env, "GATEPASS_DOCS_KEY": sandbox_key}, free_port())
    yield process
    process.stop()


async def drawn(page: Page, url: str) -> None:
    await page.goto(url)
    await expect(page.get_by_role("heading", name="Gatepass", exact=True)).to_be_visible()
    await expect(page.get_by_role("heading", name="Scans", exact=True)).to_be_attached()


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_the_reference_is_drawn_from_this_service_alone(
    visit: Visitor, documented: GatepassProcess, screenshots: Path, colours: Colours, viewport: ViewportSize
) -> None:
    visited = await visit(colours=colours, viewport=viewport)
    await drawn(visited.page, documented.url + "/")
    await visited.page.wait_for_load_state("networkidle")
    await visited.page.screenshot(path=screenshots / f"docs-{colours}-{viewport['width']}.png")

    # Scalar may name the section that is at the top.
    assert urldefrag(visited.page.url).url == documented.url + "/docs"
    await expect(visited.page.get_by_role("link", name="Open the studio")).to_be_in_viewport()
    assert visited.elsewhere(documented.url) == []
    assert visited.complaints == []
    assert await visited.page.locator(f"body.{colours}-mode").count() == 1
    assert await visited.page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


async def test_every_operation_and_webhook_is_in_the_sidebar(visit: Visitor, documented: GatepassProcess) -> None:
    page = (await visit()).page
    await drawn(page, documented.url + "/docs")
    for name in [notes.summary for notes in NOTES.values()] + [message.type for message in MESSAGES]:
        await expect(page.get_by_role("link", name=name).first).to_be_visible()


async def test_a_scan_can_be_tried_with_the_key_that_is_filled_in(
    visit: Visitor, documented: GatepassProcess, sandbox_key: str, screenshots: Path
) -> None:
    visited = await visit()
    page = visited.page
    await drawn(page, documented.url + "/docs")
    assert await page.get_by_label("Bearer Token").first.input_value() == sandbox_key
    await page.get_by_role("link", name="Scan a card").first.click()
    await page.locator("section[id$='POST/scan']").get_by_role("button", name="Test Request").click()
    async with page.expect_response("**/scan") as answered:
        await page.get_by_role("button", name="Send").first.click()
    answer = await answered.value
    await page.screenshot(path=screenshots / "docs-tried.png")

    assert answer.status == 200
    assert (await answer.request.all_headers())["authorization"] == f"Bearer {sandbox_key}"
    assert visited.elsewhere(documented.url) == []
    assert visited.complaints == []


async def test_without_a_configured_key_none_is_filled_in(visit: Visitor, server: GatepassProcess) -> None:
    visited = await visit()
    await drawn(visited.page, server.url + "/docs")
    assert await visited.page.get_by_label("Bearer Token").first.input_value() == ""
    assert visited.complaints == []
