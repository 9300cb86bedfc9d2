"""Files that pages need, served compressed, with a tag and a policy."""

import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

BRIEFLY: Final = "public, max-age=300"
# For what carries its version in its address and therefore never changes.
FOR_GOOD: Final = "public, max-age=31536000, immutable"
SAFE: Final = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


@dataclass(frozen=True)
class Asset:
    """Something to serve, kept compressed; unpacked for the rare client that asks for it plain."""

    media_type: str
    packed: bytes
    caching: str = BRIEFLY
    policy: str = "default-src 'none'"

    @cached_property
    def tag(self) -> str:
        return f'W/"{hashlib.sha256(self.packed).hexdigest()[:32]}"'

    def answer(self, request: Request) -> Response:
        headers = {
            **SAFE,
            "Cache-Control": self.caching,
            "Content-Security-Policy": self.policy,
            "ETag": self.tag,
            "Vary": "Accept-Encoding",
        }
        if self.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if takes_gzip(request.headers.get("accept-encoding", "")):
            return Response(self.packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=self.media_type)
        return Response(gzip.decompress(self.packed), headers=headers, media_type=self.media_type)


GZIP: Final = re.compile(r"(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q\s*=\s*([0-9.]+)\s*)?(?:,|$)", re.IGNORECASE)


def takes_gzip(accepted: str) -> bool:
    found = GZIP.search(accepted)
    return found is not None and (found[1] is None or found[1].strip("0.") != "")


def packed(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)
