"""Every code block on every page is run against the real service, in the order in which it is read.

The language, title and preceding comment of a block say how it is run; see `page_runner.py` and decision 14. A
new page is found by itself, and a block of an unknown kind fails. The pages that start a service of their own
are in test_operators_pages.py, so that they can be followed at the same time.
"""

from collections.abc import Callable

import pytest

from tests.docs.page_list import PAGES, need_the_service, readers, walks
from tests.docs.page_runner import Reader
from tests.markdown_page import Page

READERS = {f"{walk[0].name} {tab}".strip(): (walk, tab) for walk, tab in readers() if need_the_service(walk)}


@pytest.mark.parametrize(("walk", "tab"), READERS.values(), ids=READERS)
def test_the_page_can_be_followed(walk: list[Page], tab: str, reading: Callable[[list[Page]], Reader]) -> None:
    reader = reading(walk)
    for page in walk:
        reader.follow(page, tab)


def test_no_page_is_left_out() -> None:
    assert sorted(page.name for walk in walks() for page in walk) == sorted(PAGES)
