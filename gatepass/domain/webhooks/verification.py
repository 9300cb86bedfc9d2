"""Verification of a message as a receiver should do it, step by step, to show where it fails.

Pure. No input is stored, and the secret is not shown.
"""

import binascii
import hmac
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from gatepass.base.wire_constants import NEXT_SIGNATURE_HEADER, SIGNATURE_HEADER
from gatepass.domain.webhooks.signature import SECRET_BYTES, SECRET_PREFIX

# The documentation tells receivers to refuse a message that is older, or further in the future.
FRESH: Final = timedelta(minutes=5)
# Characters of the signed content that are shown.
SHOWN: Final = 400

OURS: Final = re.compile(r"t=([0-9]{1,15}),v1=([0-9a-f]{64})", re.ASCII)
SECONDS: Final = re.compile(r"[0-9]{1,12}", re.ASCII)
STANDARD: Final = ("webhook-id", "webhook-timestamp", "webhook-signature")


class StepResult(StrEnum):
    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class VerificationStep:
    """`value` is the intermediate result, to compare with one's own code."""

    name: str
    result: StepResult
    sentence: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class SignatureCheck:
    """The verification of one signature, by the name of its header."""

    header: str
    steps: list[VerificationStep]
    hint: str | None = None

    @property
    def genuine(self) -> bool:
        return all(step.result is StepResult.OK for step in self.steps)


def read_headers(text: str) -> dict[str, str]:
    """Headers from lines of `name: value`, as in a log, or from the value of our own header alone."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.strip().partition(":")
        if colon:
            found[name.strip().strip("\"'").lower()] = value.strip().strip(",").strip("\"'")
        elif name.startswith("t="):
            found[SIGNATURE_HEADER] = name
    return found


def verify(secret: str, headers: Mapping[str, str], body: bytes, *, at: datetime) -> list[SignatureCheck]:
    """One check for each signature. Without any signature, one failed check."""
    found = [_ours(name, secret, headers, body, at) for name in (SIGNATURE_HEADER, NEXT_SIGNATURE_HEADER)
             if name in headers]  # fmt: skip
    if any(name in headers for name in STANDARD):
        found.append(_standard(secret, headers, body, at))
    if not found:
        sentence = f"There is neither {SIGNATURE_HEADER} nor {STANDARD[2]}. A message without them is not from us."
        found.append(SignatureCheck(SIGNATURE_HEADER, [VerificationStep("Header found", StepResult.FAILED, sentence)]))
    return found


def _ours(name: str, secret: str, headers: Mapping[str, str], body: bytes, at: datetime) -> SignatureCheck:
    value = headers[name]
    steps = [VerificationStep("Header found", StepResult.OK, f"{name} is there.", value[:SHOWN])]
    read = OURS.fullmatch(value)
    if read is None:
        sentence = "It should be t=<milliseconds>,v1=<64 lower-case hex digits>, and nothing else."
        return SignatureCheck(name, [*steps, VerificationStep("Header read", StepResult.FAILED, sentence)])
    milliseconds, signature = int(read[1]), read[2]
    steps.append(
        VerificationStep("Header read", StepResult.OK, "t and v1 are there.", f"t = {read[1]}\nv1 = {signature}")
    )
    steps.append(_fresh(milliseconds / 1000, at))
    signed = read[1].encode() + b"." + body
    steps.append(_what_is_signed("t, a dot and the body", signed))
    expected = hmac.digest(secret.encode(), signed, "sha256").hex()
    steps.append(
        VerificationStep("Signature computed", StepResult.OK, "HMAC-SHA256, keyed with the whole secret.", expected)
    )
    matches = hmac.compare_digest(expected, signature)
    steps.append(_compared(matches=matches))
    if matches:
        return SignatureCheck(name, steps)
    tried = (
        (hint, hmac.digest(key, read[1].encode() + b"." + other, "sha256").hex())
        for hint, key, other in _other_ways(secret, body)
    )
    return SignatureCheck(name, steps, _hint(tried, signature, secret))


def _standard(secret: str, headers: Mapping[str, str], body: bytes, at: datetime) -> SignatureCheck:
    header = STANDARD[2]
    missing = [name for name in STANDARD if name not in headers]
    if missing:
        sentence = f"{' and '.join(missing)} is missing. All three are needed."
        return SignatureCheck(header, [VerificationStep("Headers found", StepResult.FAILED, sentence)])
    id, seconds, value = (headers[name] for name in STANDARD)
    steps = [
        VerificationStep("Headers found", StepResult.OK, "All three are there.", f"{id}\n{seconds}\n{value}"[:SHOWN])
    ]
    signatures = [part.removeprefix("v1,") for part in value.split() if part.startswith("v1,")]
    if not signatures or not SECONDS.fullmatch(seconds):
        sentence = "The timestamp is Unix seconds, the signature v1,<base64>; two of them have a space between."
        return SignatureCheck(header, [*steps, VerificationStep("Headers read", StepResult.FAILED, sentence)])
    steps.append(_fresh(int(seconds), at))
    key = _decoded(secret)
    if key is None:
        sentence = f"What stands after {SECRET_PREFIX} must be base64 of {SECRET_BYTES} bytes."
        return SignatureCheck(header, [*steps, VerificationStep("Secret decoded", StepResult.FAILED, sentence)])
    signed = f"{id}.{seconds}.".encode() + body
    steps.append(_what_is_signed("the id, a dot, the timestamp, a dot and the body", signed))
    expected = b64encode(hmac.digest(key, signed, "sha256")).decode()
    sentence = f"HMAC-SHA256, keyed with what stands after {SECRET_PREFIX}, decoded."
    steps.append(VerificationStep("Signature computed", StepResult.OK, sentence, f"v1,{expected}"))
    matches = any(hmac.compare_digest(expected.encode(), one.encode()) for one in signatures)
    steps.append(_compared(matches=matches))
    return SignatureCheck(header, steps)


def _fresh(seconds: float, at: datetime) -> VerificationStep:
    try:
        signed_at = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return VerificationStep("Time is fresh", StepResult.FAILED, "This is not a time of our age.")
    value = f"{signed_at:%Y-%m-%d %H:%M:%S} UTC"
    apart = at - signed_at
    if abs(apart) <= FRESH:
        return VerificationStep("Time is fresh", StepResult.OK, f"{_span(apart)}, within 5 minutes.", value)
    sentence = (
        f"{_span(apart)}. A receiver refuses what is over 5 minutes away, so that nobody can send it again later."
    )
    return VerificationStep("Time is fresh", StepResult.FAILED, sentence, value)


def _span(apart: timedelta) -> str:
    seconds = int(abs(apart).total_seconds())
    amount = (
        f"{seconds} s" if seconds < 120 else f"{seconds // 60:,} min" if seconds < 7200 else f"{seconds // 3600:,} h"
    )
    return f"Signed {amount} ago" if apart >= timedelta() else f"Signed {amount} from now"


def _what_is_signed(what: str, signed: bytes) -> VerificationStep:
    text = signed.decode(errors="replace")
    shown = text if len(text) <= SHOWN else text[:SHOWN] + "…"
    return VerificationStep(
        "String to sign", StepResult.OK, f"{what[0].upper()}{what[1:]}: {len(signed):,} bytes.", shown
    )


def _compared(*, matches: bool) -> VerificationStep:
    if matches:
        return VerificationStep("Compared in constant time", StepResult.OK, "They are equal: the message is from us.")
    sentence = "They differ: do not believe this message. The body, the secret or the header is not what we sent."
    return VerificationStep("Compared in constant time", StepResult.FAILED, sentence)


def _hint(tried: Iterator[tuple[str, str]], signature: str, secret: str) -> str | None:
    """The common mistake that explains the difference, if any does."""
    for hint, computed in tried:
        if hmac.compare_digest(computed, signature):
            return hint
    if _decoded(secret) is None:
        return f"The secret does not look like one of ours: {SECRET_PREFIX} and 44 characters."
    return None


def _other_ways(secret: str, body: bytes) -> Iterator[tuple[str, bytes, bytes]]:
    key = secret.encode()
    yield "It matches without the white space around the secret.", secret.strip().encode(), body
    yield "It matches without the white space around the body: something added it.", key, body.strip()
    yield "It matches with a line break after the body: something took it away.", key, body + b"\n"
    for separators in ((",", ":"), (", ", ": ")):
        try:
            again = json.dumps(json.loads(body), separators=separators, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            return
        yield "It matches once the body is written again: it was parsed and formatted. Take the raw bytes.", key, again


def _decoded(secret: str) -> bytes | None:
    try:
        key = b64decode(secret.strip().removeprefix(SECRET_PREFIX).encode(), validate=True)
    except (binascii.Error, ValueError):
        return None
    return key if len(key) == SECRET_BYTES else None
