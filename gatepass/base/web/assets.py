"""Static files of pages, served compressed, with an ETag and a Content-Security-Policy.

They are sent in pieces, each when the caller has taken the one before: a caller that does not read holds one of them.
"""

import gzip
import hashlib
import re
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

BRIEFLY: Final = "public, max-age=300"
# For a URL that contains a version, so that its content never changes.
FOR_GOOD: Final = "public, max-age=31536000, immutable"
NO_REFERRER: Final = {"Referrer-Policy": "no-referrer"}
PIECE: Final = 64 * 1024


@dataclass(frozen=True)
class Asset:
    """A file, kept compressed; it is decompressed, once, for the rare client that does not take gzip."""

    media_type: str
    packed: bytes
    caching: str = BRIEFLY
    policy: str = "default-src 'none'; frame-ancestors 'none'"

    @cached_property
    def tag(self) -> str:
        return f'W/"{hashlib.sha256(self.packed).hexdigest()[:32]}"'

    @cached_property
    def plain(self) -> bytes:
        return gzip.decompress(self.packed)

    def answer(self, request: Request) -> Response:
        headers = {
            **NO_REFERRER,
            "Cache-Control": self.caching,
            "Content-Security-Policy": self.policy,
            "ETag": self.tag,
            "Vary": "Accept-Encoding",
        }
        if self.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if takes_gzip(request.headers.get("accept-encoding", "")):
            headers["Content-Encoding"] = "gzip"
            content = self.packed
        else:
            content = self.plain
        headers["Content-Length"] = str(len(content))
        return StreamingResponse(_pieces(content), headers=headers, media_type=self.media_type)


async def _pieces(content: bytes) -> AsyncGenerator[bytes]:
    for start in range(0, len(content), PIECE):
        yield content[start : start + PIECE]


GZIP: Final = re.compile(r"(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q\s*=\s*([0-9.]+)\s*)?(?:,|$)", re.IGNORECASE)


def takes_gzip(accepted: str) -> bool:
    found = GZIP.search(accepted)
    return found is not None and (found[1] is None or found[1].strip("0.") != "")


def packed(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)


def version_of_files(root: Path, folders: Iterable[str], *, beside: str) -> str:
    """A hash of all files in these folders of `root`, and of what is served beside them."""
    digest = hashlib.sha256(beside.encode())
    for folder in folders:
        for path in sorted(path for path in (root / folder).rglob("*") if path.is_file()):
            digest.update(f"{path.relative_to(root)}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
