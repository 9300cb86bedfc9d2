"""The pages that are followed, in groups that share a terminal."""

from tests.markdown_page import Page, pages

# The first page is followed in a clean copy, by test_first_webhook.py; the README's blocks are the first of it. The
# SDKs' own pages are followed by tests/sdk, with nothing installed but the SDK.
ELSEWHERE = {"docs/README.md", "README.md", "sdk/README.md", "sdk-js/README.md", "docs/reference/sdk-js.md"}
PAGES = {page.name: page for page in pages() if page.blocks() and page.name not in ELSEWHERE}


def walks() -> list[list[Page]]:
    """The pages, each followed by those that go on from it: they are read one after the other, in one terminal."""
    next_of = {page.goes_on_from: page for page in PAGES.values() if page.goes_on_from}
    assert len(next_of) == sum(bool(page.goes_on_from) for page in PAGES.values()), "two pages go on from one"
    found: list[list[Page]] = []
    for page in PAGES.values():
        if not page.goes_on_from:
            found.append([page])
            while found[-1][-1].name in next_of:
                found[-1].append(next_of[found[-1][-1].name])
    return found


def readers() -> list[tuple[list[Page], str]]:
    """Every walk, for each of its tabs: who reads the one does not read the other."""
    return [(walk, tab) for walk in walks() for tab in tabs(walk) or [""]]


def tabs(walk: list[Page]) -> list[str]:
    """The tabs of these pages. Every group has the same, so that the choice holds to the end."""
    groups = [group for page in walk for group in page.groups()]
    assert all(group == groups[0] for group in groups), f"{walk[0].name}: {groups}"
    return groups[0] if groups else []


def need_the_service(walk: list[Page]) -> bool:
    """Whether they are read with `gatepass dev` in another terminal."""
    text = "".join(block.text for page in walk for block in page.blocks())
    return any(word in text for word in (".gatepass/", "gatepass_sdk", "gatepass-cli"))
