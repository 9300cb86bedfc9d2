"""Static files: styles, scripts, fonts, icons. No page loads anything from another host."""

import gzip
from functools import cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from gatepass.base.web.assets import BRIEFLY, FOR_GOOD, Asset
from gatepass.studio.services.templates import STATIC
from gatepass.studio.web.tab import PageNotFound

TYPES: Final = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}

router = APIRouter()


# Not async: FastAPI runs it in a thread, so that reading a file does not block the event loop.
@router.api_route("/static/{name:path}", methods=["GET", "HEAD"])
def file(name: str, request: Request) -> Response:
    if name not in names():
        raise PageNotFound
    return _asset(name, FOR_GOOD if "v" in request.query_params else BRIEFLY).answer(request)


@cache
def names() -> frozenset[str]:
    """All file names. The name in a URL is never used as a path unless it is one of these."""
    return frozenset(str(path.relative_to(STATIC)) for path in STATIC.rglob("*") if path.suffix in TYPES)


@cache
def _asset(name: str, caching: str) -> Asset:
    content = (STATIC / name).read_bytes()
    return Asset(TYPES[Path(name).suffix], gzip.compress(content, mtime=0), caching)
