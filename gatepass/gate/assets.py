"""The page of the scanner, its static files, its service worker, and the manifest with which it is installed.

All of it is the same for everybody, and is kept compressed in memory. Three files are made here: the page, the texts in
every language, and the head of the service worker, which names the version and the files that a phone keeps.
"""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from gatepass.base.web.assets import FOR_GOOD, Asset
from gatepass.gate.middleware import CONTENT_SECURITY_POLICY
from gatepass.gate.templates import STATIC, page_text, static_url, static_version
from gatepass.gate.words import BOOK

TYPES: Final = {
    ".css": "text/css",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
}
READS: Final = ["GET", "HEAD"]
WORDS: Final = "words.js"
# The page under the name of its version, for the service worker: what it keeps is of one version, whole.
PAGE: Final = "page.html"
# The service worker has an address that never changes, so it is not among the versioned files.
SERVICE_WORKER: Final = "sw.js"
# A browser asks for these again at each visit, and must find the newest.
ASKED_AGAIN: Final = "no-cache"
FILE_POLICY: Final = "default-src 'none'; frame-ancestors 'none'"
# A worker has the policy of its own answer: this one fetches the decoder's WebAssembly, and compiles it.
WORKER_POLICY: Final = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; frame-ancestors 'none'"
)

router = APIRouter()


# Not async: FastAPI runs them in a thread, so that reading a file does not block the event loop.
@router.api_route("/gate", methods=READS)
def page(request: Request) -> Response:
    return _page().answer(request)


@router.api_route("/gate/static/{version}/{name:path}", methods=READS)
def file(version: str, name: str, request: Request) -> Response:
    if name not in names() or version != static_version():
        raise HTTPException(404)
    return _file(name).answer(request)


@router.api_route("/gate/sw.js", methods=READS)
def service_worker(request: Request) -> Response:
    answer = _service_worker().answer(request)
    # Its own folder is /gate/, and the page lies above that.
    answer.headers["Service-Worker-Allowed"] = "/gate"
    return answer


@router.api_route("/gate/app.webmanifest", methods=READS)
def manifest(request: Request) -> Response:
    return _manifest().answer(request)


@cache
def names() -> frozenset[str]:
    """All file names. The name in a URL is never used as a path unless it is one of these."""
    found = (str(path.relative_to(STATIC)) for path in STATIC.rglob("*") if path.suffix in TYPES)
    return frozenset(found) - {SERVICE_WORKER} | {WORDS, PAGE}


@cache
def _page() -> Asset:
    return _packed(TYPES[".html"], page_text().encode(), ASKED_AGAIN, CONTENT_SECURITY_POLICY)


@cache
def _file(name: str) -> Asset:
    if name == PAGE:
        return _packed(TYPES[".html"], page_text().encode(), FOR_GOOD, CONTENT_SECURITY_POLICY)
    content = BOOK.module.encode() if name == WORDS else (STATIC / name).read_bytes()
    policy = WORKER_POLICY if name.endswith(".worker.js") else FILE_POLICY
    return _packed(TYPES[Path(name).suffix], content, FOR_GOOD, policy)


@cache
def _service_worker() -> Asset:
    """Another version has another first line, by which browsers see that there is a new one."""
    kept = [static_url(name) for name in sorted(names())]
    head = f"const VERSION={json.dumps(static_version())},FILES={json.dumps(kept)};\n"
    script = head.encode() + (STATIC / SERVICE_WORKER).read_bytes()
    return _packed("text/javascript", script, ASKED_AGAIN, WORKER_POLICY)


@cache
def _manifest() -> Asset:
    """`id` stays what it is for good: a phone knows the installed app by it."""
    content = {
        "id": "/gate",
        "name": "Gatepass scanner",
        "short_name": "Scanner",
        "start_url": "/gate",
        "scope": "/gate",
        "display": "standalone",
        "theme_color": "#10201e",
        "background_color": "#10201e",
        "icons": [
            {"src": static_url("icon.svg"), "sizes": "any", "type": "image/svg+xml"},
            {"src": static_url("icon-192.png"), "sizes": "192x192", "type": "image/png"},
            {"src": static_url("icon-512.png"), "sizes": "512x512", "type": "image/png"},
            {"src": static_url("icon-maskable.png"), "sizes": "512x512", "type": "image/png", "purpose": "maskable"},
        ],
    }
    return _packed("application/manifest+json", json.dumps(content).encode(), ASKED_AGAIN, FILE_POLICY)


def _packed(media_type: str, content: bytes, caching: str, policy: str) -> Asset:
    return Asset(media_type, gzip.compress(content, mtime=0), caching, policy)
