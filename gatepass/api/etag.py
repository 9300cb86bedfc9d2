"""ETag, If-Match and If-None-Match: callers change only what they have read, and do not read again what they have.

An ETag is the version of an object; where something beside it is shown that changes more often, such as the number of
tickets sold, a digest of the body follows. `If-Match` compares the versions, `If-None-Match` the whole.
"""

import hashlib
import re
from typing import Any, Final

from gatepass.api.request import RawRequest
from gatepass.api.responses import NOT_MODIFIED, Reply
from gatepass.base.clock import version_of
from gatepass.base.errors import InvalidRequest

# RFC 9110: entity tags with commas between them. A weak one never matches.
TAGS: Final = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,64}"(?:[ \t]*,[ \t]*(?:W/)?"[\x21\x23-\x7e]{0,64}"){0,15}')
STRONG: Final = re.compile(r'(?<!W/)"([\x21\x23-\x7e]*)"')
ANY: Final = re.compile(r'"[\x21\x23-\x7e]*"')
# Between the version and the digest.
BETWEEN: Final = ":"


def etag_headers(content: Any) -> dict[str, str]:
    """The ETag of an object: its version, or the time of its last change; none for anything else."""
    version, updated_at = getattr(content, "version", None), getattr(content, "updated_at", None)
    if version is None and updated_at is not None:
        version = version_of(updated_at)
    return {} if version is None else {"ETag": f'"{version}"'}


def seen_versions(request: RawRequest) -> frozenset[str] | None:
    """The versions in If-Match; None if there is no such header, or if it is `*`."""
    text = request.header(b"if-match")
    if text is None or text.strip() == "*":
        return None
    if not TAGS.fullmatch(text.strip()):
        raise InvalidRequest("If-Match has the ETag of an answer.", param="If-Match")
    return frozenset(tag.partition(BETWEEN)[0] for tag in STRONG.findall(text))


def digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=12).hexdigest()


def unless_seen(reply: Reply, request: RawRequest) -> Reply:
    """The reply, or 304 if the caller has it already. An If-None-Match that is not understood has no effect."""
    text = request.header(b"if-none-match")
    if text is None:
        return reply
    tag = reply.headers["ETag"]
    if text == tag or text.strip() == "*" or (TAGS.fullmatch(text.strip()) and tag in ANY.findall(text)):
        return Reply(NOT_MODIFIED, b"", {"ETag": tag})
    return reply
