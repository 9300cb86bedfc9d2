"""Tests that a page names are there."""

import re

from tests.layout.tree import ROOT

PAGE = ROOT / "gatepass" / "studio" / "README.md"
NAMED = re.findall(r"`(tests/\S+\.py)::(\w+)`", PAGE.read_text())


def test_every_test_that_the_studios_page_names_is_there() -> None:
    assert len(NAMED) > 20
    missing = [(file, name) for file, name in NAMED if f"def {name}(" not in (ROOT / file).read_text()]
    assert missing == []
