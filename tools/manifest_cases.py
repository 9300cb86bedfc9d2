"""Write sdk/cases/manifest.json: manifests and changes, good and bad, that every reader must answer alike.

The keys are fixed and public, so that the file comes out the same each time. A case has a manifest, the changes to be
applied to it in their order, the moment at which it is used, and what must be said: why it is refused, or what is found
for each card number.
"""

import json
import struct
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import msgspec

from gatepass.domain.cards import PublicKey
from gatepass.domain.manifest import records
from tools.manifest_builder import (
    ENDS,
    OLDER,
    ORGANIZATION,
    OTHER_EVENT_ID,
    STRANGER,
    USUAL,
    case,
    changes,
    content,
    hashed,
    manifest,
    number,
    parts,
    record,
    sent,
    signed,
    with_header,
)

FILE: Final = Path(__file__).parent.parent / "sdk" / "cases" / "manifest.json"


def cases() -> list[dict[str, Any]]:
    return [*good(), *expiry(), *malformed(), *forged(), *wrong_headers(), *wrong_records(), *followed()]


KNOWN: Final[dict[str, dict[str, Any]]] = {number(serial): {} for serial in range(1, 9)}
BODY: Final = manifest(sent(KNOWN))


def good() -> Iterator[dict[str, Any]]:
    yield case("an event without tickets", manifest(b""), None, found={number(1): None})
    yield case("a single card", manifest(sent({number(1): {}})), None, found={number(1): USUAL, number(2): None})
    many = {number(serial): {"used": serial % 3 == 0} for serial in range(300)}
    order = sorted(many, key=hashed)
    yield case(
        "the first, the last and one between of many", manifest(sent(many)), None,
        found={card: USUAL | many[card] for card in (order[0], order[-1], order[150], order[7])} | {number(300): None},
    )  # fmt: skip
    for flag in ("used", "suspended", "revoked"):
        facts = {flag: True}
        yield case(f"a card that is {flag}", manifest(sent(KNOWN | {number(1): facts})), None,
                   found={number(1): USUAL | facts, number(2): USUAL})  # fmt: skip
    facts = {"category": None, "cancelled": True}
    yield case("a ticket that is cancelled", manifest(sent({number(1): facts})), None, found={number(1): USUAL | facts})
    facts = {"category": None}
    yield case(
        "a ticket that was moved away", manifest(sent({number(1): facts})), None, found={number(1): USUAL | facts}
    )
    facts = {"category": None, "revoked": True, "phone": 5}
    yield case("a card that was replaced", manifest(sent({number(1): facts})), None, found={number(1): USUAL | facts})
    facts = {"used": True, "suspended": True, "phone": 15}
    yield case(
        "several flags and the last phone", manifest(sent({number(1): facts})), None, found={number(1): USUAL | facts}
    )
    for phone in (1, 8):
        yield case(f"phone {phone}", manifest(sent({number(1): {"phone": phone}})), None,
                   found={number(1): USUAL | {"phone": phone}})  # fmt: skip
    for category in (1, 49, 254):
        yield case(f"category {category}", manifest(sent({number(1): {"category": category}})), None,
                   found={number(1): USUAL | {"category": category}})  # fmt: skip
    yield case("signed by the older key", manifest(sent(KNOWN), key=OLDER), None, found={number(1): USUAL})
    yield case("a field of a later version", with_header(BODY, zones=["North"]), None, found={number(1): USUAL})
    yield case("a number in another spelling is another card", BODY, None, found={"SVC000000000001": None, "": None})


def expiry() -> Iterator[dict[str, Any]]:
    expires = ENDS + timedelta(hours=6)
    yield case("a second before it expires", BODY, None, at=expires - timedelta(seconds=1), found={number(1): USUAL})
    yield case("as it expires", BODY, "expired", at=expires)
    yield case("a day later", BODY, "expired", at=expires + timedelta(days=1))


def malformed() -> Iterator[dict[str, Any]]:
    header, signature, after = parts(BODY)
    raw = msgspec.json.encode(header)
    yield case("nothing", b"", "malformed")
    yield case("the magic alone", b"SVCM", "malformed")
    yield case("another magic", b"SVCN" + BODY[4:], "malformed")
    yield case("JSON", b'{"data": {}}', "malformed")
    yield case("cut in the length", BODY[:6], "malformed")
    yield case("cut in the header", BODY[:100], "malformed")
    yield case("cut in the signature", BODY[: len(BODY) - len(after) - 1], "malformed")
    yield case("a header longer than the body", BODY[:4] + struct.pack(">I", len(BODY)) + BODY[8:], "malformed")
    yield case("the longest length", BODY[:4] + b"\xff\xff\xff\xff" + BODY[8:], "malformed")
    yield case("a length of zero", b"SVCM\0\0\0\0" + signature, "bad_signature")
    for missing in (1, 4, 7):
        yield case(f"{missing} bytes short", BODY[:-missing], "malformed")
    yield case("a byte more", BODY + b"\0", "malformed")
    yield case("signed, but not JSON", signed(raw[:-1], after), "malformed")
    yield case("signed, but a list", signed(b"[]", after), "malformed")
    yield case("signed, but not UTF-8", signed(b'{"v": "\xff"}', after), "malformed")
    yield case("signed, but too deep", signed(b"[" * 100_000, after), "malformed")


def forged() -> Iterator[dict[str, Any]]:
    header, _, after = parts(BODY)
    raw = msgspec.json.encode(header)
    start = len(BODY) - len(after) - 64
    flipped = bytes([BODY[start] ^ 1])
    yield case("a bit of the signature", BODY[:start] + flipped + BODY[start + 1 :], "bad_signature")
    yield case("a signature of zeros", BODY[:start] + bytes(64) + after, "bad_signature")
    yield case("a letter of the header", BODY.replace(b"Summer Opening", b"Winter Opening"), "bad_signature")
    yield case("the event's end", BODY.replace(b"2030-06-15T21", b"2031-06-15T21"), "bad_signature")
    yield case("signed by a stranger", manifest(sent(KNOWN), key=STRANGER), "bad_signature")
    yield case("signed without its context", signed(raw, after, context=b""), "bad_signature")
    yield case("signed in another context", signed(raw, after, context=b"svc-manifest-2\0"), "bad_signature")
    own = replace(content(), keys=(PublicKey(UUID(int=13), bytes(STRANGER.verify_key)),))
    yield case("a stranger who names its own key", manifest(sent(KNOWN), of=own, key=STRANGER), "bad_signature")
    yield case("a record of a forger", BODY[:-1] + bytes([BODY[-1] ^ 1]), "wrong_digest")
    yield case("records of another manifest", BODY[: -len(after)] + sent({number(9): {}}), "wrong_digest")
    yield case("a record is missing", BODY[:-8], "wrong_digest")
    yield case("a record more", BODY + b"\xff" * 8, "wrong_digest")
    yield case("two records swapped", BODY[:-16] + BODY[-8:] + BODY[-16:-8], "wrong_digest")
    yield case("another event of the organization", manifest(sent(KNOWN), of=content(OTHER_EVENT_ID)), "wrong_event")
    yield case("changes instead of a manifest", changes(after, after), "wrong_kind")
    yield case("an unknown kind", with_header(BODY, kind="list"), "wrong_kind")


def wrong_headers() -> Iterator[dict[str, Any]]:
    for version in (2, "1", ...):
        yield case(f"version {'none' if version is ... else version!r}", with_header(BODY, v=version), "wrong_version")
    for name in ("event", "salt", "categories", "card_keys", "issued_at", "expires_at", "count", "digest", "state",
                 "cursor"):  # fmt: skip
        yield case(f"without {name}", with_header(BODY, **{name: ...}), "malformed")
    yield case("a salt of 31 bytes", with_header(BODY, salt="A" * 42), "malformed")
    yield case("a salt in another spelling", with_header(BODY, salt="A" * 42 + "B"), "malformed")
    yield case("a time without an offset", with_header(BODY, expires_at="2030-06-15T21:00:00"), "malformed")
    yield case("a number as text", with_header(BODY, count="8"), "malformed")
    yield case("categories out of order", with_header(BODY, categories=parts(BODY)[0]["categories"][::-1]), "malformed")
    yield case("a count that is not true", with_header(BODY, count=9), "wrong_digest")
    yield case("a digest that is not true", with_header(BODY, digest="0" * 64), "wrong_digest")
    yield case("a state that is not true", with_header(BODY, state="0" * 64), "wrong_state")


def wrong_records() -> Iterator[dict[str, Any]]:
    in_order = sent(KNOWN)
    swapped = in_order[8:16] + in_order[:8] + in_order[16:]
    yield case("signed, but not sorted", manifest(swapped), "wrong_order")
    yield case("signed, but backwards", manifest(b"".join(sorted(split(in_order), reverse=True))), "wrong_order")
    twice = in_order[:8] + in_order[:8] + in_order[8:]
    yield case("signed, but a card is there twice", manifest(twice), "wrong_order")
    used = in_order[:8] + in_order[:7] + b"\x01" + in_order[8:]
    yield case("signed, but a card is there used and unused", manifest(used), "wrong_order")


def followed() -> Iterator[dict[str, Any]]:
    known = sent(KNOWN)
    used = sent(KNOWN | {number(3): {"used": True}})
    one_used = changes(record(number(3), used=True), used)
    yes = USUAL | {"used": True}
    yield case("no change", BODY, None, changes=[changes(b"", known)], found={number(3): USUAL})
    yield case("a card is used", BODY, None, changes=[one_used], found={number(3): yes, number(4): USUAL})
    yield case("the same changes twice", BODY, None, changes=[one_used, one_used], found={number(3): yes})
    both = sent(KNOWN | {number(3): {"used": True}, number(4): {"used": True}})
    two = changes(record(number(4), used=True), both)
    yield case("two changes in order", BODY, None, changes=[one_used, two], found={number(3): yes, number(4): yes})
    yield case("two changes, the first is missing", BODY, "wrong_state", changes=[two])
    yield case("two changes, the later first", BODY, "wrong_state", changes=[two, one_used])
    more = sent(KNOWN | {number(serial): {} for serial in range(20, 40)})
    added = b"".join(sorted(record(number(serial)) for serial in range(20, 40)))
    yield case(
        "twenty new cards", BODY, None, changes=[changes(added, more)], found={number(20): USUAL, number(39): USUAL}
    )
    yield case("the first card", manifest(b""), None, changes=[changes(record(number(1)), sent({number(1): {}}))],
               found={number(1): USUAL})  # fmt: skip
    left = sent({card: {} for card in KNOWN if card != number(2)})
    gone = changes(hashed(number(2)) + records.GONE, left)
    yield case("a card is gone", BODY, None, changes=[gone], found={number(2): None, number(3): USUAL})
    yield case("a card is gone twice", BODY, None, changes=[gone, gone], found={number(2): None})
    nobody = changes(hashed(number(77)) + records.GONE, known)
    yield case("a card is gone that was not there", BODY, None, changes=[nobody], found={number(77): None})
    stopped = sent(KNOWN | {number(1): {"suspended": True}})
    told = changes(record(number(1), suspended=True), stopped)
    yield case("suspended and resumed", BODY, None, changes=[told, changes(record(number(1)), known)],
               found={number(1): USUAL})  # fmt: skip
    yield case(
        "changes of another event", BODY, "wrong_event", changes=[changes(b"", known, of=content(OTHER_EVENT_ID))]
    )
    yield case(
        "changes with another salt", BODY, "wrong_salt", changes=[changes(b"", known, of=content(salt=bytes(32)))]
    )
    yield case("changes of a stranger", BODY, "bad_signature", changes=[changes(b"", known, key=STRANGER)])
    yield case("a manifest instead of changes", BODY, "wrong_kind", changes=[BODY])
    yield case("changes that were cut", BODY, "malformed", changes=[one_used[:-3]])
    yield case("changes without their record", BODY, "wrong_digest", changes=[one_used[:-8]])
    yield case("changes of a forger", BODY, "wrong_digest", changes=[one_used[:-1] + b"\x00"])
    backwards = b"".join(sorted([record(number(3), used=True), record(number(4), used=True)], reverse=True))
    yield case("changes that are not sorted", BODY, "wrong_order", changes=[changes(backwards, both)])
    yield case(
        "changes to a state that is not true", BODY, "wrong_state", changes=[with_header(one_used, state="0" * 64)]
    )
    later = content()
    later = replace(later, event=msgspec.structs.replace(later.event, ends_at=ENDS + timedelta(hours=2)))
    yield case("the event ends later, and so does the manifest", BODY, None, at=ENDS + timedelta(hours=7),
               changes=[changes(b"", known, of=later)], found={number(1): USUAL})  # fmt: skip


def split(all_records: bytes) -> list[bytes]:
    return [all_records[at : at + 8] for at in range(0, len(all_records), 8)]


def written() -> str:
    keys = [bytes(key.verify_key).hex() for key in (ORGANIZATION, OLDER)]
    return json.dumps({"public_keys": keys, "cases": cases()}, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(written())
