"""docs/guides/errors.md has a row for each error code of the API, with its status."""

import re

from gatepass.api.responses import STATUS
from tests.contract.test_openapi import NOT_PUBLIC
from tests.markdown_page import Page

CODE_AND_STATUS = re.compile(r"^\| `(\w+)` \| (\d{3}) \|", re.MULTILINE)


def test_it_lists_exactly_the_codes_that_there_are() -> None:
    told = CODE_AND_STATUS.findall(Page.of("docs/guides/errors.md").text)
    known = {(kind.code, str(status)) for kind, status in STATUS.items() if kind not in NOT_PUBLIC}
    assert sorted(told) == sorted(known)


def test_no_cell_is_empty() -> None:
    rows = [line for line in Page.of("docs/guides/errors.md").text.splitlines() if CODE_AND_STATUS.match(line)]
    assert all(cell.strip() for row in rows for cell in row.strip("|").split("|"))
