"""ETag and If-Match: a caller changes an object only if it is still what they have read."""

import re
from typing import Any, Final

from gatepass.api.request import RawRequest
from gatepass.base.clock import version_of
from gatepass.base.errors import InvalidRequest

# RFC 9110: entity tags with commas between them. A weak one never matches.
TAGS: Final = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,64}"(?:[ \t]*,[ \t]*(?:W/)?"[\x21\x23-\x7e]{0,64}"){0,15}')
STRONG: Final = re.compile(r'(?<!W/)"([\x21\x23-\x7e]*)"')


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
    return frozenset(STRONG.findall(text))
