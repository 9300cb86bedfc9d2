"""The reference pages agree with the code and with the answers of the service."""

import json
import os
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.docs.page_runner import Reader
from tests.markdown_page import Page
from tools.reference.api import ANSWERS
from tools.reference.calls import CALLS
from tools.reference.pages import BEGIN, DOCS, GENERATORS, replaced

# It must not look like a real secret.
SECRET, EXAMPLE = re.compile(r"whsec_[\w+/=]+"), "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazNlbXBsZSE="
PAGE = Page.of("docs/reference/api.md")


@pytest.mark.parametrize("name", GENERATORS)
def test_what_is_made_is_up_to_date(name: str) -> None:
    page = (DOCS / name).read_text(encoding="utf-8")
    assert page == replaced(page, GENERATORS[name]()), "run: make reference"


@pytest.mark.skipif("GATEPASS_RECORD" not in os.environ, reason="test_pages.py compares them")
def test_record_the_answers(reading: Callable[[list[Page]], Reader]) -> None:
    """For `make reference`: the answers to the calls, in the form of the page."""
    reader = reading([PAGE])
    for block in Page(PAGE.text.partition(BEGIN)[0]).blocks("bash"):
        reader.terminal.paste(block.text)
    answers: dict[str, Any] = {}
    for name, command in CALLS.items():
        printed = reader.unmapped(reader.terminal.paste(reader.mapped(command))).strip()
        answers[name] = json.loads(SECRET.sub(EXAMPLE, printed)) if printed.startswith("{") else printed
        # A later call uses what this one has made: after a refusal it would be sent to `null`.
        assert "error" not in answers[name], f"{name}: {printed}"
        assert printed.startswith(("{", "2", "event: changes")), f"{name}: {printed}"
    ANSWERS.write_text(json.dumps(answers, indent=2) + "\n", encoding="utf-8")
