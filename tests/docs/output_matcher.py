"""Compare the output that a page shows with the real one: word for word, except ids, times, keys and secrets."""

import json
import re
from typing import Any

# Values that differ at each run, in the order of the search. A sandbox id, all zeros, is always the same.
CHANGING = [
    (re.compile(pattern), f"<{name}>")
    for name, pattern in {
        "message": r"\bevt_[0-9a-f]{32}",
        "request": r"\breq_\w+",
        "secret": r"\bwhsec_[\w+/=]+",
        "key": r"\bsvc_(?:test|live)_\w+",
        "link": r"(?<=/c/[a-z]\.)[\w-]{43}\b",
        "token": r"\bSVC1\.[\w-]{20,}\.\d+\.[\w-]+",
        "card": r"\bSVC(?: \d{4}){3}",
        "time": r"\b\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)",
        "pairing": r"\b[A-Z][0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{5}\b",
        "date": r"\b\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT",
        "clock": r"\[\d\d/\w{3}/\d{4} [\d:]{8}\]",
        "hour": r"\b\d\d:\d\d:\d\d\b",
        "id": r"\b(?!0{8}-)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        "hash": r"\b[0-9a-f]{64}\b",
        "seconds": r"\b\d+\.\d+ s\b",
        "version": r"(?<=atepass )\d+\.\d+\.\d+|(?<=PostgreSQL )\d+\.\d+",
        "schema": r"\b\d{4}\+[0-9a-f]{12}\b",
    }.items()
]
# Opaque by contract, random, or measured.
OPAQUE = ("cursor", "next_cursor", "x", "kid", "public_key", "salt", "clock_offset_ms")
GAP = "…"


def settled(text: str) -> str:
    """The text with a name in place of each value that changes."""
    for pattern, name in CHANGING:
        text = pattern.sub(name, text)
    return text


def alike(shown: str, printed: str) -> bool:
    """Each line that is shown was printed, in this order. Other lines may come between only at a …."""
    rest = [line.rstrip() for line in settled(printed).strip().splitlines()]
    may_skip = False
    for line in (line.rstrip() for line in settled(shown).strip().splitlines()):
        if line.strip() == GAP:
            may_skip = True
            continue
        while may_skip and rest and not _same(line, rest[0]):
            rest.pop(0)
        if not rest or not _same(line, rest.pop(0)):
            return False
        may_skip = False
    return may_skip or not rest


def _same(shown: str, printed: str) -> bool:
    """A line may end with …, which matches any rest."""
    head, gap, rest = shown.partition(GAP)
    return printed.startswith(head) and not rest if gap else shown == printed


def json_alike(shown: str, printed: str) -> bool:
    try:
        answer = json.loads(printed)
    except ValueError:
        return False
    return json.dumps(_settled(json.loads(shown))) == json.dumps(_settled(answer))


def _settled(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: "<opaque>" if k in OPAQUE and v is not None else _settled(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_settled(item) for item in value]
    return settled(value) if isinstance(value, str) else value
