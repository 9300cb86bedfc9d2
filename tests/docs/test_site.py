"""The site: built with strict links, loads nothing from other sites, and has each page as Markdown too."""

import re
import threading
from collections.abc import Generator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.engines.programs import HEADLESS_SHELL, QUIET
from tests.markdown_page import ROOT, Page
from tools import site

LISTED = re.compile(r"^- \[.+\]\((.+)\): (.+)$", re.MULTILINE)
Scheme = Literal["light", "dark"]
COPY = ".md-code__nav"
LOOK = """(one) => ({
    label: getComputedStyle(one, "::before").content,
    colour: getComputedStyle(one.querySelector("code")).backgroundColor,
})"""
PAGES = ["", "concepts/", "guides/errors/", "guides/webhooks/", "reference/api/", "reference/sdk/", "studio/"]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *_: object) -> None:
        pass


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    site.build()


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site.SITE))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=HEADLESS_SHELL, args=QUIET)
        yield launched
        launched.close()


def test_each_page_is_there_as_html_and_as_markdown() -> None:
    for page in site.pages():
        name = page.removesuffix(".md")
        folder = name.removesuffix("README").rstrip("/") if name.endswith("README") else name
        assert (site.SITE / folder / "index.html").exists(), page
        assert (site.SITE / page).read_bytes() == (ROOT / "docs" / page).read_bytes()


def test_llms_txt_has_a_line_for_each_page() -> None:
    lines = LISTED.findall((site.SITE / "llms.txt").read_text())
    assert [page for page, _ in lines] == site.pages()
    assert all((site.SITE / page).exists() and len(said) > 10 for page, said in lines), lines
    whole = (site.SITE / "llms-full.txt").read_text()
    assert all((ROOT / "docs" / page).read_text().strip() in whole for page in site.pages())


def test_every_page_about_the_studio_leads_to_it() -> None:
    for page in [page for page in site.pages() if page.startswith("studio/")]:
        folder = page.removesuffix(".md").removesuffix("README")
        assert f'<a href="{site.studio()}/studio/' in (site.SITE / folder / "index.html").read_text(), page


def test_every_group_of_tabs_is_in_the_site() -> None:
    found = 0
    for page in site.pages():
        folder = page.removesuffix(".md").removesuffix("README")
        html = (site.SITE / folder / "index.html").read_text()
        groups = Page.of(f"docs/{page}").groups()
        assert html.count('<div class="tabbed-block">') == sum(map(len, groups)), page
        assert "tabs -->" not in html.replace("&lt;!-- ", ""), page
        found += len(groups)
    assert found > 20


def test_the_chosen_tab_is_shown_and_holds_for_the_page(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(address + "guides/first-scan/", wait_until="networkidle")
    groups = page.locator(".tabbed-set").all()
    for group in groups:
        assert group.locator(".language-bash").first.is_visible()
        assert not group.locator(".language-python").is_visible()
    groups[0].get_by_text("Python", exact=True).click()
    for group in groups:
        expect(group.locator(".language-python")).to_be_visible()
        expect(group.locator(".language-bash").first).not_to_be_visible()
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_output_does_not_look_like_a_command(browser: Browser, address: str, scheme: Scheme) -> None:
    page = browser.new_page(color_scheme=scheme)
    page.goto(address + "guides/first-scan/", wait_until="networkidle")
    command, output = page.locator(".language-bash").first, page.locator(".language-json").first
    looks = [one.evaluate(LOOK) for one in (command, output)]
    assert [look["label"] for look in looks] == ["none", '"Output"']
    assert looks[0]["colour"] != looks[1]["colour"]
    assert command.locator(COPY).is_visible()
    assert not output.locator(COPY).is_visible()
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_loaded_from_elsewhere(browser: Browser, address: str, scheme: str, width: int) -> None:
    asked: list[str] = []
    wrong: list[str] = []
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})  # pyright: ignore[reportArgumentType]
    context.route(lambda url: not url.startswith(address), lambda route: route.abort())
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("response", lambda response: wrong.append(response.url) if response.status >= 400 else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    for path in PAGES:
        page.goto(address + path, wait_until="networkidle")
        sideways = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert sideways <= 0, f"{path} is wider than the window"
    context.close()
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
    assert wrong == []


def test_the_guide_for_those_who_scan_is_one_sheet(browser: Browser, address: str) -> None:
    """It hangs at a gate. A page of a PDF is an object of the type `Page`."""
    page = browser.new_page()
    page.goto(f"{address}guides/scanning/", wait_until="networkidle")
    for paper in ("A4", "Letter"):
        printed = page.pdf(
            format=paper,
            margin={"top": "10mm", "bottom": "10mm", "left": "12mm", "right": "12mm"},
            print_background=True,
        )
        assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1, paper
    page.close()
