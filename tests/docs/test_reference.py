"""The reference pages say what the code says, and what the service answers."""

import json
import os
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.docs.follow import Reader
from tests.page import Page
from tools.reference.api import ANSWERS
from tools.reference.calls import CALLS
from tools.reference.pages import DOCS, made, replaced

# Nobody should wonder whether it is one.
SECRET, EXAMPLE = re.compile(r"whsec_[\w+/=]+"), "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazNlbXBsZSE="
MADE = made()
PAGE = Page.of("docs/reference/api.md")


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_is_up_to_date(name: str) -> None:
    page = (DOCS / name).read_text(encoding="utf-8")
    assert page == replaced(page, MADE[name]), "run: make reference"


@pytest.mark.skipif("GATEPASS_RECORD" not in os.environ, reason="test_pages.py compares them")
def test_record_the_answers(reading: Callable[[list[Page]], Reader]) -> None:
    """For `make reference`: what the calls are answered, as it is printed on the page."""
    reader = reading([PAGE])
    reader.terminal.paste(PAGE.blocks("bash")[0].text)
    answers: dict[str, Any] = {}
    for name, command in CALLS.items():
        printed = reader.unmapped(reader.terminal.paste(reader.mapped(command))).strip()
        answers[name] = json.loads(SECRET.sub(EXAMPLE, printed)) if printed.startswith("{") else printed
    ANSWERS.write_text(json.dumps(answers, indent=2) + "\n", encoding="utf-8")
