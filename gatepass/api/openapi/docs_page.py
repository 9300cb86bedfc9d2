"""`/docs`, the reference in a browser, and `/openapi.json`, what it is made from. Public; no key is needed.

The pages ask nobody but this service. Scalar, which draws them, is vendored in `static/scalar/`.
"""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from gatepass.api import openapi
from gatepass.api.admission import House
from gatepass.api.description.operations import SECURITY
from gatepass.api.errors import NotFound
from gatepass.base.assets import FOR_GOOD, SAFE, Asset, packed
from gatepass.base.settings import BASE_PATH, Settings
from gatepass.domain.keys import Mode, is_well_formed, mode_of

STATIC: Final = Path(__file__).parent / "static"
SCALAR_VERSION: Final = "1.72.1"
SCALAR: Final = f"scalar-{SCALAR_VERSION}.js"
OPENAPI: Final = f"{BASE_PATH}/openapi.json"

# Scalar sets style attributes and adds style elements as it draws; without 'unsafe-inline' it has no layout.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data:; font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

router = APIRouter(include_in_schema=False)


# Plain functions, not coroutines: unpacking four megabytes must not hold up a gate.
@router.api_route("/", methods=["GET", "HEAD"])
@router.api_route("/docs/", methods=["GET", "HEAD"])
def front() -> Response:
    return RedirectResponse("/docs")


@router.api_route("/docs", methods=["GET", "HEAD"])
def page(request: Request) -> Response:
    return _page().answer(request)


@router.api_route("/docs/config.json", methods=["GET", "HEAD"])
def config(house: House) -> Response:
    """What the page must know about this service. Not kept: it may hold a key."""
    told: dict[str, Any] = {
        "openapi": OPENAPI,
        "securityScheme": SECURITY,
        "key": sandbox_key(house.settings),
    }
    return Response(json.dumps(told), headers={**SAFE, "Cache-Control": "no-store"}, media_type="application/json")


def sandbox_key(settings: Settings) -> str | None:
    """The key to fill in. A live key is never shown, whatever the settings say."""
    key = settings.docs_key.get_secret_value() if settings.docs_key else ""
    return key if is_well_formed(key) and mode_of(key) is Mode.SANDBOX else None


@router.api_route("/docs/{name}", methods=["GET", "HEAD"])
def asset(name: str, request: Request) -> Response:
    if name not in ASSETS:
        raise NotFound
    return ASSETS[name]().answer(request)


@router.api_route(OPENAPI, methods=["GET", "HEAD"])
def description(request: Request) -> Response:
    return _description().answer(request)


@cache
def _description() -> Asset:
    return Asset("application/json", packed(openapi.written()))


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
