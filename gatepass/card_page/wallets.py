"""Cards in wallets: what a page offers, and the service with which Apple's phones keep their passes up to date.

The paths below `/v1` are Apple's. A phone shows the token of its pass in the Authorization header; it is no browser, so
that no other site can use it, and the check for cross-site requests leaves it out.
"""

import re
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import sha256
from json import loads
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from gatepass.base.database import Tx
from gatepass.base.log import logger
from gatepass.card_page.limits import refusal
from gatepass.card_page.process import CardPages
from gatepass.card_page.visit import LinkNotFound, Visitor, pages_of
from gatepass.domain import wallets
from gatepass.domain.card_view import CardView
from gatepass.domain.cards import FoundLink
from gatepass.domain.wallets import Opened

SERVICE_PATH: Final = re.compile(r"/c/[a-z]\.wallet/v1/", re.ASCII)
SCHEME: Final = "ApplePass "
LARGEST_BODY: Final = 16_384
# A phone's own report says what failed behind these words; before them it names the pass and the phone.
FAULT: Final = re.compile(r"encountered error: ([ -~]{1,200})")
SECRETS: Final = re.compile(r"[A-Za-z0-9_.-]{16,}|https?:\S+")

log = logger(__name__)
offers = APIRouter(prefix="/{token}/wallet")
updates = APIRouter(prefix="/{service}/v1")


def is_wallet_service(path: str) -> bool:
    return SERVICE_PATH.match(path) is not None


def wallet_paths(pages: CardPages, link: FoundLink, token: str, view: CardView) -> dict[str, str | None]:
    """Where the page finds the passes that are offered for this card."""
    coming = any(event.is_coming(view.at) for event in view.events)
    offered = pages.wallets.offered(link.organization_id, has_coming_event=coming, at=view.at)
    return {
        "apple": f"/c/{token}/wallet/apple" if offered.apple else None,
        "google": f"/c/{token}/wallet/google" if offered.google else None,
    }


@offers.get("/apple")
async def apple(visit: Visitor) -> Response:
    pages, link = visit.pages, visit.link
    async with visit.db.autocommit() as tx:
        made = await pages.wallets.apple_pass(
            tx, link.organization_id, link.card_id, visit.token, pages.vault, at=pages.clock()
        )
    if made is None:
        raise LinkNotFound
    return Response(
        made, media_type=wallets.MEDIA_TYPE, headers={"Content-Disposition": 'inline; filename="card.pkpass"'}
    )


@offers.get("/google")
async def google(visit: Visitor) -> Response:
    pages, link = visit.pages, visit.link
    async with visit.db.autocommit() as tx:
        to = await pages.wallets.google_link(
            tx, link.organization_id, link.card_id, visit.token, pages.vault, visit.language(None), at=pages.clock()
        )
    if to is None:
        raise LinkNotFound
    return RedirectResponse(to, 303)


async def service(service: str, request: Request) -> CardPages:
    """The service of this cell, within its rate."""
    pages = pages_of(request)
    found = wallets.SERVICE.fullmatch(service)
    if found is None or found[1] not in pages.settings.cells or pages.wallets.apple is None:
        raise LinkNotFound
    limit = pages.limits.visit(request.scope["gatepass.address"], _limited(request))
    if limit is not None:
        pages.metrics.limited.labels(limit).inc()
        raise refusal(limit)
    return pages


Service = Annotated[CardPages, Depends(service)]


@updates.post("/devices/{device}/registrations/{pass_type}/{serial}")
async def register(pages: Service, device: str, pass_type: str, serial: str, request: Request) -> Response:
    push_token = await _push_token(request)
    if push_token is None or not wallets.DEVICE.fullmatch(device):
        return Response(status_code=400)
    async with pages.db.transaction() as tx:
        opened = await _opened(tx, pages, pass_type, serial, request)
        if opened is None:
            return Response(status_code=401)
        is_new = await wallets.register(
            tx, opened, _token(request), device=device, push_token=push_token, at=pages.clock()
        )
    return Response(status_code=201 if is_new else 200)


@updates.delete("/devices/{device}/registrations/{pass_type}/{serial}")
async def unregister(pages: Service, device: str, pass_type: str, serial: str, request: Request) -> Response:
    async with pages.db.transaction() as tx:
        opened = await _opened(tx, pages, pass_type, serial, request)
        if opened is None:
            return Response(status_code=401)
        if wallets.DEVICE.fullmatch(device):
            await wallets.unregister(tx, opened, device)
    return Response()


@updates.get("/devices/{device}/registrations/{pass_type}")
async def changed(pages: Service, device: str, pass_type: str, request: Request) -> Response:
    """The serial numbers of the passes that changed. The phone's own name, a random one, is all that it shows."""
    if not wallets.DEVICE.fullmatch(device) or not _is_ours(pages, pass_type):
        return Response(status_code=204)
    since = request.query_params.get("passesUpdatedSince")
    async with pages.db.autocommit() as tx:
        found = await wallets.changes_of(tx, device, since, pages.settings.cell, at=pages.clock())
    if found is None:
        return Response(status_code=204)
    return JSONResponse({"lastUpdated": found.tag, "serialNumbers": found.serials})


@updates.get("/passes/{pass_type}/{serial}")
async def fetch(pages: Service, pass_type: str, serial: str, request: Request) -> Response:
    at = pages.clock()
    async with pages.db.autocommit() as tx:
        opened = await _opened(tx, pages, pass_type, serial, request)
        if opened is None:
            return Response(status_code=401)
        changed_at = (opened.changed_at or at).replace(microsecond=0)
        headers = {"Last-Modified": format_datetime(changed_at.astimezone(UTC), usegmt=True)}
        if is_known(request, changed_at):
            return Response(status_code=304, headers=headers)
        made = await pages.wallets.fetched_pass(tx, opened, serial, _token(request), pages.vault, at=at)
    if made is None:
        return Response(status_code=401)
    return Response(made, media_type=wallets.MEDIA_TYPE, headers=headers)


@updates.post("/log", dependencies=[Depends(service)])
async def report(request: Request) -> Response:
    """What phones say of their failures. Anybody may send it, so it is cut short and stripped of names."""
    for fault in faults_in((await _json(request)).get("logs")):
        log.info("wallet reports", error=fault)
    return Response()


def faults_in(texts: object) -> list[str]:
    """What failed, without the names of passes, phones and services."""
    found = [FAULT.search(text) for text in texts[:3] if isinstance(text, str)] if isinstance(texts, list) else []
    return [SECRETS.sub("…", fault[1]) for fault in found if fault is not None]


async def _opened(tx: Tx, pages: CardPages, pass_type: str, serial: str, request: Request) -> Opened | None:
    """The pass that the path names, if the header has its token. A wrong one counts as a guess."""
    if _is_ours(pages, pass_type):
        opened = await wallets.open_pass(tx, serial, _token(request), pages.vault, at=pages.clock())
        if opened is not None:
            pages.limits.found(_limited(request))
            return opened
    pages.limits.unknown(request.scope["gatepass.address"])
    return None


def _is_ours(pages: CardPages, pass_type: str) -> bool:
    return pages.wallets.apple is not None and pages.wallets.apple.pass_type == pass_type


def _token(request: Request) -> str:
    header = request.headers.get("authorization", "")
    return header[len(SCHEME) :] if header.startswith(SCHEME) else ""


def _limited(request: Request) -> bytes:
    """What the rate is counted by: the token that is shown with a pass, or the phone."""
    shown = request.path_params.get("serial", "") + _token(request) or request.path_params.get("device", "")
    return sha256(b"wallet\0" + shown.encode()).digest()


def is_known(request: Request, changed_at: datetime) -> bool:
    try:
        since = parsedate_to_datetime(request.headers.get("if-modified-since", ""))
        known = since.tzinfo is not None and since >= changed_at
    except (ValueError, OverflowError):
        return False
    return known


async def _push_token(request: Request) -> str | None:
    found = (await _json(request)).get("pushToken")
    return found if isinstance(found, str) and wallets.PUSH_TOKEN.fullmatch(found) else None


async def _json(request: Request) -> dict[str, object]:
    """The body, if it is a JSON object and short."""
    raw = b""
    async for part in request.stream():
        raw += part
        if len(raw) > LARGEST_BODY:
            return {}
    try:
        found = loads(raw)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
