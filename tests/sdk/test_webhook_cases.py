"""The SDK answers every case of sdk/cases/webhooks.json as written."""

import json
from typing import Any, Final

import pytest

from gatepass_sdk import WebhookVerificationError
from gatepass_sdk.webhooks import unwrap
from tools import webhook_cases

FILE: Final[dict[str, Any]] = json.loads(webhook_cases.FILE.read_text())
MESSAGES: Final = {
    "no_signature": "no x-svc-signature",
    "no_match": "does not match",
    "too_old": "too old",
    "unreadable": "cannot be read",
}


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: case["name"])
def test_the_sdk_answers_as_written(case: dict[str, Any]) -> None:
    body = case["body"].encode() if "body" in case else bytes.fromhex(case["body_hex"])
    if case["said"] is None:
        found = unwrap(body, case["headers"], case["secret"], now=lambda: case["at"])
        assert found.raw == json.loads(body)
    else:
        with pytest.raises(WebhookVerificationError, match=MESSAGES[case["said"]]):
            unwrap(body, case["headers"], case["secret"], now=lambda: case["at"])


def test_the_file_is_what_its_tool_writes() -> None:
    assert webhook_cases.FILE.read_text() == webhook_cases.written()
