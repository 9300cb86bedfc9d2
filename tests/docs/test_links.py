"""Every link leads to a page, a heading or a file. Those of docs/ stay in docs/, because the site has nothing else."""

import re
from functools import cache
from urllib.parse import unquote, urlsplit

import pytest

from tests.markdown_page import ROOT, Page, pages

OTHERS = [
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "bench/README.md",
    "examples/pretix/README.md",
    "gatepass/studio/README.md",
]
PAGES = {page.name: page for page in [*pages(), *map(Page.of, OTHERS)]}
DOCS = ROOT / "docs"


@cache
def anchors(page: Page) -> set[str]:
    """The anchors that forges and the site make from headings."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in page.headings()}


def fault(page: Page, link: str) -> str | None:
    """The fault of a link; None if it has none."""
    url = urlsplit(link)
    if url.scheme:
        return None if url.scheme == "https" else "not https"
    target = (ROOT / page.name).parent / unquote(url.path) if url.path else ROOT / page.name
    if not target.exists():
        return "no such file"
    if DOCS in (ROOT / page.name).parents and DOCS not in target.resolve().parents:
        return "leaves docs/"
    if url.fragment and url.fragment not in anchors(Page.of(str(target.resolve().relative_to(ROOT)))):
        return "no such heading"
    return None


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_somewhere(name: str) -> None:
    page = PAGES[name]
    assert [(link, found) for link in page.links() if (found := fault(page, link))] == []


@pytest.mark.parametrize(
    ("link", "wrong"),
    [
        ("nothing.md", "no such file"),
        ("concepts.md#nothing", "no such heading"),
        ("#nothing", "no such heading"),
        ("images/nothing.png", "no such file"),
        ("../README.md", "leaves docs/"),
        ("http://example.com", "not https"),
        ("concepts.md#live-and-sandbox", None),
        ("https://example.com", None),
    ],
)
def test_a_bad_link_is_found(link: str, wrong: str | None) -> None:
    assert fault(PAGES["docs/README.md"], link) == wrong


def test_every_page_can_be_reached_from_the_first() -> None:
    seen, ahead = set[str](), ["docs/README.md"]
    while ahead:
        name = ahead.pop()
        if name in seen:
            continue
        seen.add(name)
        for link in PAGES[name].links():
            path = ((ROOT / name).parent / urlsplit(link).path).resolve()
            if not urlsplit(link).scheme and path.suffix == ".md":
                ahead.append(str(path.relative_to(ROOT)))
    assert {str(path.relative_to(ROOT)) for path in DOCS.rglob("*.md")} <= seen


def test_every_picture_says_what_it_shows() -> None:
    for page in PAGES.values():
        pictures = [child for token in page.tokens for child in token.children or [] if child.type == "image"]
        assert all(picture.content.strip() for picture in pictures), page.name
