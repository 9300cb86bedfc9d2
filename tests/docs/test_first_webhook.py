"""The first page, followed in a clean copy: from nothing to a verified webhook, and how long that takes."""

import time
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.docs.clean_copy import clone
from tests.docs.conftest import surroundings
from tests.docs.page_runner import PORTS, Reader
from tests.markdown_page import Page
from tests.postgres import free_port
from tests.size import NIGHT

FIRST = Page.of("docs/README.md")
# With a warm package cache.
PROMISED_SECONDS = 120


@pytest.fixture
def laptop() -> Generator[Path]:
    """A folder of its own, because the user that PostgreSQL runs as may not read the folders of pytest."""
    with TemporaryDirectory(prefix="gatepass-laptop-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        clone(folder)
        yield folder


def test_from_the_first_page_to_a_verified_webhook(laptop: Path) -> None:
    ports = {port: str(free_port()) for port in PORTS}
    env = surroundings(ports) | {"UV_LINK_MODE": "copy"}
    began = time.monotonic()
    with ExitStack() as opened:
        Reader(laptop, env, opened, ports).follow(FIRST)
        took = time.monotonic() - began
    print(f"\nfrom the first page to a verified webhook: {took:.1f} s")
    if NIGHT:
        assert took < PROMISED_SECONDS


def test_the_last_thing_that_is_shown_is_a_verified_webhook() -> None:
    assert FIRST.blocks()[-1].text.startswith("verified ticket.activated evt_")


def test_the_readme_begins_as_the_first_page_does() -> None:
    """The blocks of the README are the first of this page, so they need not be followed too."""
    shown = [(block.language, block.note, block.text) for block in Page.of("README.md").blocks()]
    assert shown == [(block.language, block.note, block.text) for block in FIRST.blocks()][: len(shown)]
    assert shown[-1][0] == "json", "it ends with the answer to the first scan"
