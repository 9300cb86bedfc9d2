"""The header with which a phone asks for a newer pass: no time in it is a fault."""

from datetime import UTC, datetime

import pytest
from starlette.requests import Request

from gatepass.card_page.wallets import is_known

TIMES = [
    "",
    "now",
    "Mon, 01 Jan 2024 00:00:00 +99999999999999",
    "Mon, 01 Jan 0001 00:00:00 +2300",
    "Mon, 99 Jan 2024 00:00:00 GMT",
]


@pytest.mark.parametrize("text", TIMES)
def test_no_time_of_a_phone_is_a_fault(text: str) -> None:
    request = Request({"type": "http", "headers": [(b"if-modified-since", text.encode())]})
    assert not is_known(request, datetime(2026, 1, 1, tzinfo=UTC))
