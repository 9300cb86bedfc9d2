"""The documents of the studio. They are public: whoever cannot sign in needs them too."""

import gzip
from functools import cache

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from gatepass.base.web.assets import BRIEFLY, Asset
from gatepass.studio.services import documents
from gatepass.studio.web.auth import CurrentStudio
from gatepass.studio.web.tab import PageNotFound

router = APIRouter(prefix="/docs")


# Not async: FastAPI runs them in a thread, so that reading a file does not block the event loop.
@router.get("")
def first(studio: CurrentStudio) -> Response:
    return _page(studio, documents.FIRST)


@router.get("/{document}")
def one(document: str, studio: CurrentStudio, request: Request) -> Response:
    """A document, or one of its pictures. The name in a URL is never used as a path unless it is one of ours."""
    if document in documents.pictures():
        return _picture(document).answer(request)
    if document not in documents.NAMES or document == documents.FIRST:
        raise PageNotFound
    return _page(studio, document)


def _page(studio: CurrentStudio, name: str) -> Response:
    facts = {"document": documents.read(name), "contents": documents.contents()}
    return HTMLResponse(studio.templates.render("documents/document.html", facts))


@cache
def _picture(name: str) -> Asset:
    return Asset("image/png", gzip.compress((documents.FOLDER / name).read_bytes(), mtime=0), BRIEFLY)
