"""Static files of the card page, and its service worker. No page loads anything from another host.

Two files are made here: the texts of the script in every language, and the shell, which is the page without a card. The
service worker keeps both, so that a phone without a network still shows its card.
"""

import gzip
from functools import cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from gatepass.base.language import Language
from gatepass.base.web.assets import FOR_GOOD, Asset
from gatepass.card_page.middleware import CONTENT_SECURITY_POLICY
from gatepass.card_page.templates import STATIC, Templates, static_version
from gatepass.card_page.words import BOOK

TYPES: Final = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".html": "text/html; charset=utf-8",
}
MADE: Final = {"words.js", "shell.html"}
# A browser asks for a service worker again at each visit, and must find the newest.
WORKER: Final = "worker.js"
# What the worker itself may fetch.
WORKER_POLICY: Final = "default-src 'none'; connect-src 'self'; script-src 'self'; frame-ancestors 'none'"
FILE_POLICY: Final = "default-src 'none'; frame-ancestors 'none'"

router = APIRouter()


# Not async: FastAPI runs them in a thread, so that reading a file does not block the event loop.
@router.api_route("/static/{version}/{name:path}", methods=["GET", "HEAD"])
def file(version: str, name: str, request: Request) -> Response:
    if name not in names() or version != static_version():
        raise HTTPException(404)
    # A browser shows the shell as a page, under the policy that this answer has.
    policy = CONTENT_SECURITY_POLICY if name == "shell.html" else FILE_POLICY
    return _asset(name, FOR_GOOD, policy).answer(request)


@router.api_route("/worker.js", methods=["GET", "HEAD"])
def worker(request: Request) -> Response:
    return _asset(WORKER, "no-cache", WORKER_POLICY).answer(request)


@cache
def names() -> frozenset[str]:
    """All file names. The name in a URL is never used as a path unless it is one of these."""
    return frozenset(str(path.relative_to(STATIC)) for path in STATIC.rglob("*") if path.suffix in TYPES) | MADE


@cache
def _asset(name: str, caching: str, policy: str) -> Asset:
    return Asset(TYPES[Path(name).suffix], gzip.compress(_content(name), mtime=0), caching, policy)


def _content(name: str) -> bytes:
    if name == "words.js":
        return BOOK.module.encode()
    if name == "shell.html":
        facts = {"card": None, "path": "", "code_svg": None}
        return Templates().render("page.html", Language.ENGLISH, facts).encode()
    return (STATIC / name).read_bytes()
