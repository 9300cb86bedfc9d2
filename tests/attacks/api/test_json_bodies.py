"""JSON that is odd, broken or made to cost: each gets the code that it deserves, and none a fault of ours."""

import json

import pytest

from tests.attacks.target import SANDBOX_EVENT, Target

EVENT = f'"event_id":"{SANDBOX_EVENT}"'
GOOD = f'{{{EVENT},"card_number":"TEST_VALID"}}'
BAD = (400, "invalid_request")
LARGE = (413, "request_too_large")
TAKEN = (200, None)


def scan(*fields: str) -> str:
    """A body with the event and these fields."""
    return "{" + ",".join([EVENT, *fields]) + "}"


CARD = '"card_number":"TEST_VALID"'
BODIES: dict[str, tuple[str | bytes, tuple[int, str | None]]] = {
    "as it should be": (GOOD, TAKEN),
    "nothing": ("", BAD),
    "blanks": (" \n\t", BAD),
    "null": ("null", BAD),
    "a number": ("1", BAD),
    "a text": ('"x"', BAD),
    "a list": ("[]", BAD),
    "an empty object": ("{}", BAD),
    "a list of the object": (f"[{GOOD}]", BAD),
    "two objects": (GOOD + GOOD, BAD),
    "something behind": (GOOD + "x", BAD),
    "blanks around": (f" \r\n{GOOD}\t ", TAKEN),
    "cut off": (GOOD[:-1], BAD),
    "a comma too many": (GOOD[:-1] + ",}", BAD),
    "a comma too few": (GOOD.replace(",", ""), BAD),
    "single quotes": (GOOD.replace('"', "'"), BAD),
    "bare names": ("{event_id:1}", BAD),
    "a comment": (f"/* x */{GOOD}", BAD),
    "a comment of a line": (f"{GOOD}// x", BAD),
    "deep lists": ("[" * 8_000, BAD),
    "deep lists that close": ("[" * 8_000 + "]" * 8_000, BAD),
    "deep objects": ('{"a":' * 3_000, BAD),
    "deep in an unknown field": (scan(CARD, f'"x":{"[" * 4_000}{"]" * 4_000}'), BAD),
    "not so deep in an unknown field": (scan(CARD, f'"x":{"[" * 100}{"]" * 100}'), TAKEN),
    "deep in a known field": (scan(f'"card_number":{"[" * 4_000}{"]" * 4_000}'), BAD),
    "a name twice, the last counts": (scan('"card_number":"nobody"', CARD), TAKEN),
    "a name twice, the last is no text": (scan(CARD, '"card_number":1'), BAD),
    "the event twice": (scan('"event_id":"x"', CARD), BAD),
    "a name in upper case": (scan('"CARD_NUMBER":"TEST_VALID"'), BAD),
    "a name with a NUL": (scan('"card_number\\u0000":"TEST_VALID"'), BAD),
    "a name that is escaped": (scan('"\\u0063ard_number":"TEST_VALID"'), TAKEN),
    "an empty name": (scan('"":1', CARD), TAKEN),
    "__proto__": (scan('"__proto__":{"a":1}', CARD), TAKEN),
    "a thousand unknown fields": (scan(CARD, *(f'"f{n}":{n}' for n in range(1_000))), TAKEN),
    "card and token": (scan(CARD, '"token":"SVC1.TEST_VALID.0.0"'), BAD),
    "card null, token null": (scan('"card_number":null', '"token":null'), BAD),
    "card null and a token": (scan('"card_number":null', '"token":"SVC1.TEST_VALID.0.0"'), TAKEN),
    "a number for the card": (scan('"card_number":123'), BAD),
    "true for the card": (scan('"card_number":true'), BAD),
    "a list for the card": (scan('"card_number":["TEST_VALID"]'), BAD),
    "an object for the card": (scan('"card_number":{"$ne":null}'), BAD),
    "an empty card": (scan('"card_number":""'), BAD),
    "a card of 65 characters": (scan(f'"card_number":"{"x" * 65}"'), BAD),
    "a card with a NUL": (scan('"card_number":"a\\u0000"'), BAD),
    "a lone surrogate": (scan('"card_number":"\\ud800"'), BAD),
    "surrogates in the wrong order": (scan('"card_number":"\\udc00\\ud800"'), BAD),
    "half an escape": (scan('"card_number":"\\u00"'), BAD),
    "an unknown escape": (scan('"card_number":"\\x41"'), BAD),
    "a raw NUL": (GOOD.replace("VALID", "VALID\0"), BAD),
    "a raw line feed": (GOOD.replace("VALID", "VALID\n"), BAD),
    "a pair of surrogates": (scan('"card_number":"\\ud83d\\ude00"'), (404, "card_not_found")),
    "NaN": (scan(CARD, '"x":NaN'), BAD),
    "Infinity": (scan(CARD, '"x":Infinity'), BAD),
    "minus Infinity": (scan(CARD, '"x":-Infinity'), BAD),
    "a huge number": (scan(CARD, f'"x":{"9" * 4_000}'), TAKEN),
    "a huge exponent": (scan(CARD, '"x":1e999999'), TAKEN),
    "a number with a zero in front": (scan(CARD, '"x":01'), BAD),
    "a number with a plus": (scan(CARD, '"x":+1'), BAD),
    "hexadecimal": (scan(CARD, '"x":0x1'), BAD),
    "a dot and no digit": (scan(CARD, '"x":1.'), BAD),
    "minus zero": (scan(CARD, '"x":-0'), TAKEN),
    "a byte order mark": ("\ufeff" + GOOD, BAD),
    "UTF-16": (GOOD.encode("utf-16"), BAD),
    "UTF-16 without a mark": (GOOD.encode("utf-16-le"), BAD),
    "UTF-32": (GOOD.encode("utf-32"), BAD),
    "Latin-1": (GOOD.replace("VALID", "VALÏD").encode("latin-1"), BAD),
    "an encoded surrogate": (GOOD.encode().replace(b"VALID", b"\xed\xa0\x80"), BAD),
    "a long form of A": (GOOD.encode().replace(b"VALID", b"V\xc1\x81LID"), BAD),
    "bytes that are no text": (b"\xff" * 100, BAD),
    "a form": ("event_id=1&card_number=2", BAD),
    "XML": ('<?xml version="1.0"?><scan/>', BAD),
    "YAML": ("event_id: 1", BAD),
    "MessagePack": (b"\x82\xa8event_id\x01", BAD),
    "gzip": (b"\x1f\x8b\x08\x00" + b"\x00" * 20, BAD),
    "an event that is a number": (f'{{"event_id":1,{CARD}}}', BAD),
    "an event in braces": (f'{{"event_id":"{{{SANDBOX_EVENT}}}",{CARD}}}', BAD),
    "an event without dashes": (f'{{"event_id":"{SANDBOX_EVENT.replace("-", "")}",{CARD}}}', BAD),
    "an event as a URN": (f'{{"event_id":"urn:uuid:{SANDBOX_EVENT}",{CARD}}}', BAD),
    "an event with a blank": (f'{{"event_id":" {SANDBOX_EVENT}",{CARD}}}', BAD),
    "an event with digits of another script": (GOOD.replace("e7e7", "e\u0667e\u0667"), BAD),
    "a time without an offset": (scan(CARD, '"occurred_at":"2026-11-15T12:00:00"'), BAD),
    "a time with a leap second": (scan(CARD, '"occurred_at":"2026-11-15T23:59:60Z"'), BAD),
    "a time of the year 0": (scan(CARD, '"occurred_at":"0000-01-01T00:00:00Z"'), BAD),
    "a time of the year 9999": (scan(CARD, '"occurred_at":"9999-12-31T23:59:59-23:59"'), BAD),
    "a time of the year 1 with an offset": (scan(CARD, '"occurred_at":"0001-01-01T00:00:00+23:59"'), BAD),
    "a time with an offset of a day": (scan(CARD, '"occurred_at":"2026-11-15T12:00:00+24:00"'), BAD),
    "a time with digits of another script": (scan(CARD, '"occurred_at":"٢٠٢٦-11-15T12:00:00Z"'), BAD),
    "a time as a number": (scan(CARD, '"occurred_at":1763208000'), BAD),
    "a gate of 65 characters": (scan(CARD, f'"gate":"{"x" * 65}"'), BAD),
    "a gate with a NUL": (scan(CARD, '"gate":"\\u0000"'), BAD),
    "a scanner with a lone surrogate": (scan(CARD, '"scanner_id":"\\udfff"'), BAD),
    "an empty gate": (scan(CARD, '"gate":""'), TAKEN),
    "16 KiB": (GOOD + " " * (16 * 1024 - len(GOOD)), TAKEN),
    "16 KiB and a byte": (GOOD + " " * (16 * 1024 + 1 - len(GOOD)), LARGE),
    "a megabyte": (scan(CARD, f'"x":"{"x" * 2**20}"'), LARGE),
    "a megabyte of brackets": ("[" * 2**20, LARGE),
    "a megabyte of escapes": (scan(CARD, f'"x":"{chr(92)}u0041{(chr(92) + "u0041") * 2**17}"'), LARGE),
}


@pytest.mark.parametrize("name", BODIES)
async def test_a_body_of_a_scan(target: Target, name: str) -> None:
    body, (status, code) = BODIES[name]
    raw = body if isinstance(body, bytes) else body.encode()
    async with target.api(sandbox=True) as gate:
        answer = await gate.post("/scan", content=raw, headers={"Content-Type": "application/json"})
    assert answer.status_code == status, answer.text
    assert answer.json().get("code") == code


HOOKS = {
    "a list of a million types": ('{"url":"https://example.com/","types":[' + '"x",' * 3_000 + '"x"]}', 400),
    "types as a text": ('{"url":"https://example.com/","types":"ticket.activated"}', 400),
    "types within types": ('{"url":"https://example.com/","types":[["ticket.activated"]]}', 400),
    "a URL that is an object": ('{"url":{"a":1},"types":["ticket.activated"]}', 400),
    "a URL with a NUL": ('{"url":"https://example.com/\\u0000","types":["ticket.activated"]}', 400),
    "a URL with a lone surrogate": ('{"url":"https://example.com/\\ud800","types":["ticket.activated"]}', 400),
    "a URL of many dots": (json.dumps({"url": "https://" + "a." * 4_000, "types": ["ticket.activated"]}), 400),
    "a URL of many ats": (json.dumps({"url": "https://" + "@" * 8_000, "types": ["ticket.activated"]}), 400),
    "a description of NULs": (
        '{"url":"https://example.com/","types":["ticket.activated"],"description":"\\u0000"}',
        400,
    ),
    "a body that is no object": ("[]", 400),
}


@pytest.mark.parametrize("name", HOOKS)
async def test_a_body_of_a_webhook(target: Target, name: str) -> None:
    body, status = HOOKS[name]
    async with target.api() as client:
        answer = await client.post("/webhooks", content=body.encode(), headers={"Content-Type": "application/json"})
    assert answer.status_code == status, answer.text
    assert answer.json()["code"] == "invalid_request"
