"""The SDK and the service answer every case of sdk/cases/codes.json alike."""

import json
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

import pytest

from gatepass.domain.cards import InvalidToken, PublicKey, phone_code, read_token
from gatepass_sdk.tokens import CardKeys
from tools import code_cases

FILE: Final[dict[str, Any]] = json.loads(code_cases.FILE.read_text())
KEYS: Final = [bytes.fromhex(key) for key in FILE["public_keys"]]


def of_the_service(text: str, at: datetime) -> tuple[str | None, str | None, int | None]:
    keys = [PublicKey(uuid4(), key) for key in KEYS]
    try:
        found = phone_code.verify(text, keys) if phone_code.is_phone_code(text) else read_token(text, keys)
    except InvalidToken:
        return "invalid_token", None, None
    return "expired" if found.is_expired(at) else None, found.card_number, found.phone


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: case["name"])
def test_the_sdk_and_the_service_answer_as_written(case: dict[str, Any]) -> None:
    at, expected = datetime.fromtimestamp(case["at"], UTC), (case["reason"], case["card_number"], case["phone"])
    reading = CardKeys(tuple(KEYS)).verify(case["text"], at=at)
    assert (reading.reason, reading.card_number, reading.phone) == expected
    assert reading.valid is (case["reason"] is None)
    assert of_the_service(case["text"], at) == expected


def test_the_file_is_what_its_tool_writes() -> None:
    assert code_cases.FILE.read_text() == code_cases.written()
