"""The pages that start a service themselves, from packages and an empty database, or need none."""

from collections.abc import Callable

import pytest

from tests.docs.page_list import need_the_service, walks
from tests.docs.page_runner import Reader
from tests.markdown_page import Page


@pytest.mark.parametrize(
    "walk", [walk for walk in walks() if not need_the_service(walk)], ids=lambda walk: walk[0].name
)
def test_the_page_can_be_followed(walk: list[Page], reading: Callable[[list[Page]], Reader]) -> None:
    reader = reading(walk)
    for page in walk:
        reader.follow(page)
