"""`/docs`, the reference in a browser, and `/openapi.json`, its source. Public; no key is needed.

The pages load nothing from other servers. Scalar, which renders them, is vendored in `static/scalar/`.
"""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from gatepass.api.auth import State
from gatepass.api.openapi import document
from gatepass.api.openapi.operations import SECURITY
from gatepass.api.responses import NotFound
from gatepass.base.settings import BASE_PATH, Settings
from gatepass.base.web.assets import FOR_GOOD, NO_REFERRER, Asset, packed
from gatepass.domain.keys import Mode, is_well_formed, mode_of

STATIC: Final = Path(__file__).parent.parent / "static"
SCALAR_VERSION: Final = "1.72.1"
SCALAR: Final = f"scalar-{SCALAR_VERSION}.js"
OPENAPI: Final = f"{BASE_PATH}/openapi.json"

# Scalar sets style attributes and adds style elements as it renders; without 'unsafe-inline' it has no layout.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data:; font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

# The pages, which a setting turns off; and their source, which is part of the API.
router = APIRouter(include_in_schema=False)
source_router = APIRouter(include_in_schema=False)


# Plain functions, which FastAPI calls in a thread: reading a file or packing it must not block the event loop.
@router.api_route("/", methods=["GET", "HEAD"])
@router.api_route("/docs/", methods=["GET", "HEAD"])
def front() -> Response:
    return RedirectResponse("/docs")


@router.api_route("/docs", methods=["GET", "HEAD"])
def page(request: Request) -> Response:
    return _page().answer(request)


@router.api_route("/docs/config.json", methods=["GET", "HEAD"])
def config(state: State) -> Response:
    """The configuration of the page. It may contain a key, so it is not cached."""
    values: dict[str, Any] = {
        "openapi": OPENAPI,
        "securityScheme": SECURITY,
        "key": sandbox_key(state.settings),
    }
    return Response(
        json.dumps(values), headers={**NO_REFERRER, "Cache-Control": "no-store"}, media_type="application/json"
    )


def sandbox_key(settings: Settings) -> str | None:
    """The key to fill in. A live key is never shown, whatever the settings say."""
    key = settings.docs_key.get_secret_value() if settings.docs_key else ""
    return key if is_well_formed(key) and mode_of(key) is Mode.SANDBOX else None


@router.api_route("/docs/{name}", methods=["GET", "HEAD"])
def asset(name: str, request: Request) -> Response:
    if name not in ASSETS:
        raise NotFound
    return ASSETS[name]().answer(request)


@source_router.api_route(OPENAPI, methods=["GET", "HEAD"])
def description(request: Request) -> Response:
    return _description().answer(request)


@cache
def _description() -> Asset:
    return Asset("application/json", packed(document.written()))


@cache
def _page() -> Asset:
    text = _text("docs.html").replace("{{scalar}}", SCALAR).replace("{{openapi}}", OPENAPI)
    return Asset("text/html", packed(text), policy=POLICY)


@cache
def _scalar() -> Asset:
    return Asset("text/javascript", (STATIC / "scalar" / "standalone.js.gz").read_bytes(), FOR_GOOD)


@cache
def _small(name: str, media_type: str) -> Asset:
    return Asset(media_type, packed(_text(name)))


ASSETS: Final[dict[str, Callable[[], Asset]]] = {
    SCALAR: _scalar,
    "docs.js": lambda: _small("docs.js", "text/javascript"),
    "docs.css": lambda: _small("docs.css", "text/css"),
    "icon.svg": lambda: _small("icon.svg", "image/svg+xml"),
}


def _text(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")
