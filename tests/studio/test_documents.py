"""The documents of the studio: each page leads to the one that explains it, and each leads back."""

import re
import tomllib
from urllib.parse import urldefrag

import httpx2
import pytest

from gatepass.studio.services import documents
from tests.markdown_page import ROOT, Page
from tests.studio.browser_session import BrowserSession
from tests.studio.routes import all_ids, named, walks

HELP = re.compile(r'href="(/studio/docs[^"]*)" target="_blank">(?:<svg[^>]*>.*?</svg>)?\s*Help', re.DOTALL)
TARGET = re.compile(r'(?:href|src)="([^"]+)"')
STUDIO_PAGE = re.compile(r"`(/studio/[^`]+)`")
NOT_PAGES = named("PARTS") | named("DOWNLOADS") | named("STREAMS") | {"GET /studio/static/{name:path}"}
PAGES = [walk for walk in walks() if walk.method == "GET" and str(walk) not in NOT_PAGES and "/docs" not in walk.path]
EVERYWHERE = ("home", "find")


async def explains(client: httpx2.AsyncClient, page: str) -> str:
    """The document that the page links to. It exists, and has the heading that the link names."""
    (url,) = set(HELP.findall(page))
    document, heading = urldefrag(url)
    answer = await client.get(document)
    assert answer.status_code == 200, url
    assert not heading or f'id="{heading}"' in answer.text, url
    return document


@pytest.mark.parametrize("mode", ["live", "sandbox"])
async def test_every_page_links_to_the_document_that_explains_it(user: BrowserSession, mode: str) -> None:
    ids = await all_ids(user.tenant)
    found: dict[str, str] = {}
    for walk in PAGES:
        answer = await user.client.get(walk.url(ids, mode))
        if answer.status_code == 200:
            found[walk.url(ids)] = await explains(user.client, answer.text)
    assert len(found) > (50 if mode == "live" else 20)
    assert {path for path, url in found.items() if url == documents.DOCS} <= set(map(user.url, EVERYWHERE)), (
        "the first explains these"
    )
    if mode == "live":
        assert set(found.values()) == {documents.url_of(name) for name in documents.NAMES}, "each explains a page"


async def test_who_is_not_signed_in_gets_help(stranger: httpx2.AsyncClient) -> None:
    for path, document in (("/studio/sign-in", "people"), ("/studio/nothing/at/all", documents.FIRST)):
        page = (await stranger.get(path)).text
        assert await explains(stranger, page) == documents.url_of(document)


@pytest.mark.parametrize("name", documents.NAMES)
async def test_every_document_leads_back_to_the_page_that_it_explains(user: BrowserSession, name: str) -> None:
    shown = await user.see(documents.url_of(name))
    head = Page.of(f"docs/studio/{name}.md").text.split("\n\n")[1]
    assert head.startswith("> In the studio: ")
    paths = STUDIO_PAGE.findall(head)
    assert paths
    for path in paths:
        assert f'href="{path}"' in shown
        assert (await user.client.get(path, follow_redirects=True)).status_code == 200
    assert 'href="/studio"' in shown


@pytest.mark.parametrize("name", documents.NAMES)
async def test_every_link_and_picture_of_a_document_is_there(stranger: httpx2.AsyncClient, name: str) -> None:
    shown = (await stranger.get(documents.url_of(name))).text
    targets = [target for target in TARGET.findall(shown) if target.startswith(documents.DOCS)]
    assert len(targets) >= len(documents.NAMES)
    for target in set(targets):
        url, heading = urldefrag(target)
        answer = await stranger.get(url)
        assert answer.status_code == 200, target
        assert not heading or f'id="{heading}"' in answer.text, target
    assert ".md" not in shown


def test_the_contents_are_those_of_the_site() -> None:
    navigation = tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"]
    (ours,) = [entry["Studio"] for entry in navigation if isinstance(entry.get("Studio"), list)]
    assert [path for entry in ours for path in entry.values()] == [f"studio/{name}.md" for name in documents.NAMES]
    assert {path.stem for path in (ROOT / "docs/studio").glob("*.md")} == set(documents.NAMES)


@pytest.mark.parametrize("name", ["nothing", "README", "events.md", "..%2fREADME", "%2e%2e%2fopenapi.json", "home.jpg"])
async def test_nothing_else_is_a_document(stranger: httpx2.AsyncClient, name: str) -> None:
    assert (await stranger.get(f"{documents.DOCS}/{name}")).status_code == 404
