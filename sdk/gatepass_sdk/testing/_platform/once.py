"""A POST that is done once, by its Idempotency-Key; ETags, If-Match and If-None-Match."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from gatepass_sdk.testing._http import Refused, Reply, Request, invalid
from gatepass_sdk.testing._state import Side

KEPT_REFUSALS: Final = frozenset({404, 409, 410, 422})
REPLAYED: Final = {"idempotent-replayed": "true"}
TAGS: Final = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,64}"(?:[ \t]*,[ \t]*(?:W/)?"[\x21\x23-\x7e]{0,64}"){0,15}')
STRONG: Final = re.compile(r'(?<!W/)"([\x21\x23-\x7e]*)"')
ANY: Final = re.compile(r'"[\x21\x23-\x7e]*"')
# Sales change these, and make no new version.
OF_SALES: Final = ("quantity_sold", "ticket_categories")

# The status of the reply, and its data as it is now: a retry shows it again.
Done = tuple[int, Callable[[], Any]]


def once(side: Side, request: Request, act: Callable[[], Done]) -> Reply:
    """Do it, or find that it was done under this key."""
    key = request.idempotency_key
    if key is None:
        return _reply(*act())
    require_key(key)
    fingerprint = (request.method, request.url, _canonical(request.body))
    before, kept = side.answers.get(key, (None, None))
    if kept is not None and before != fingerprint:
        raise Refused("idempotency_key_reused")
    headers = REPLAYED if kept is not None else {}
    if kept is None:
        try:
            kept = act()
        except Refused as refused:
            if refused.status in KEPT_REFUSALS:
                side.answers[key] = (fingerprint, refused)
            raise
        side.answers[key] = (fingerprint, kept)
    if isinstance(kept, Refused):
        raise Refused(kept.code, kept.body["error"], param=kept.body.get("param"),
                      details=kept.body.get("details"), status=kept.status, headers=headers)  # fmt: skip
    status, show = kept
    return _reply(status, show, headers)


def require_key(key: str) -> None:
    if not 1 <= len(key) <= 255:
        raise invalid("Idempotency-Key has 1 to 255 characters.", "Idempotency-Key")


def shown(status: int, content: Mapping[str, Any]) -> Reply:
    """`{data: …}` with the ETag of the object."""
    return _reply(status, lambda: content)


def seen_versions(request: Request) -> frozenset[str] | None:
    """The versions in If-Match; None if any will do."""
    text = "*" if request.if_match is None else request.if_match.strip()
    if text == "*":
        return None
    if not TAGS.fullmatch(text):
        raise invalid("If-Match has the ETag of an answer.", "If-Match")
    return frozenset(tag.partition(":")[0] for tag in STRONG.findall(text))


def require_version(content: Mapping[str, Any], seen: frozenset[str] | None) -> None:
    if seen is not None and _version(content) not in seen:
        raise Refused("changed_meanwhile")


def _reply(status: int, show: Callable[[], Any], headers: Mapping[str, str] | None = None) -> Reply:
    content = show()
    return Reply(status, {"data": content}, {**_tag(content), **(headers or {})})


def unless_seen(reply: Reply, request: Request) -> Reply:
    """The reply, with an ETag of its content if it has none yet; 304 if the caller has it already."""
    tag = reply.headers.get("etag") or f'"{_digest(reply.content)}"'
    seen = (request.if_none_match or "").strip()
    if seen == "*" or (TAGS.fullmatch(seen) and tag in ANY.findall(seen)):
        return Reply(304, None, {"etag": tag})
    return Reply(reply.status, reply.content, {**reply.headers, "etag": tag})


def _tag(content: Any) -> dict[str, str]:
    if not isinstance(content, Mapping) or "updated_at" not in content:
        return {}
    # An event shows what was sold, which is not of its version.
    version = f"{_version(content)}:{_digest(content)}" if "ticket_categories" in content else _version(content)
    return {"etag": f'"{version}"'}


def _version(content: Any) -> str:
    """A digest rather than the time of the last change: the clock of a test may stand still."""
    return _digest({name: value for name, value in content.items() if name not in OF_SALES})


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]


def _canonical(body: bytes) -> bytes:
    try:
        return json.dumps(json.loads(body), sort_keys=True).encode()
    except (ValueError, RecursionError):
        return body
