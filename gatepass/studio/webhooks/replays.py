"""Replays: choosing what to send again, counting it first, watching how far it has come, stopping it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from gatepass.base.database import PATIENCE
from gatepass.base.paging import Place
from gatepass.base.refusals import InvalidRequest, Overloaded
from gatepass.domain import webhooks
from gatepass.domain.staff import Permission
from gatepass.domain.webhooks import MessageType, Selection
from gatepass.studio import webhook_words as words
from gatepass.studio.entrance import may
from gatepass.studio.form import Form, Line, OptionalLine
from gatepass.studio.places import place_of, place_text
from gatepass.studio.visit import Visit
from gatepass.studio.webhook_pages import query, time_in, time_text

router = APIRouter(prefix="/webhooks/{endpoint_id}/replays")

Reading = Annotated[Visit, may(Permission.WEBHOOKS_READ)]
Writing = Annotated[Visit, may(Permission.WEBHOOKS_WRITE)]

PAGE: Final = 20
SPAN: Final = timedelta(hours=24)


class What(StrEnum):
    FAILED = "failed"
    ALL = "all"


class Wanted(BaseModel):
    what: What = What.FAILED
    type: OptionalLine = ""
    since: Line
    until: OptionalLine = ""


@router.get("")
async def listing(endpoint_id: UUID, visit: Reading, cursor: str = "") -> Response:
    form = Form.of(what=What.FAILED, since=time_text(visit.at - SPAN))
    return await _page(visit, endpoint_id, form, after=place_of(cursor))


@router.post("/count")
async def count(endpoint_id: UUID, visit: Writing) -> Response:
    """How many these would be. Nothing is sent."""
    form = await visit.form()
    selection = _selected(visit, form)
    total = None
    if selection is not None:
        try:
            async with _counting(visit), visit.db.reading() as tx:
                await webhooks.find_endpoint(tx, visit.organization_id, visit.mode, endpoint_id)
                total = await webhooks.count_selected(tx, visit.organization_id, endpoint_id, selection)
        except InvalidRequest as refusal:
            form.refuse(refusal)
    return await _page(visit, endpoint_id, form, total=total, status=422 if form.errors else 200)


@router.post("")
async def begin(endpoint_id: UUID, visit: Writing) -> Response:
    form = await visit.form()
    selection = _selected(visit, form)
    if selection is not None:
        try:
            async with _counting(visit), visit.transaction() as tx:
                replay = await webhooks.begin_replay(
                    tx, visit.organization_id, visit.mode, endpoint_id, selection, by=visit.by, at=visit.at
                )
        except InvalidRequest as refusal:
            form.refuse(refusal)
        else:
            return visit.go(f"webhooks/{endpoint_id}/replays/{replay.id}", "The replay has begun.")
    return await _page(visit, endpoint_id, form, status=422)


@router.get("/{replay_id}")
async def one(endpoint_id: UUID, replay_id: UUID, visit: Reading) -> Response:
    async with visit.db.reading() as tx:
        endpoint = await webhooks.find_endpoint(tx, visit.organization_id, visit.mode, endpoint_id)
        replay = await webhooks.find_replay(tx, visit.organization_id, endpoint_id, replay_id)
    return visit.page("webhooks/replay.html", endpoint=endpoint, replay=replay)


@router.post("/{replay_id}/stop")
async def stop(endpoint_id: UUID, replay_id: UUID, visit: Writing) -> Response:
    async with visit.transaction() as tx:
        await webhooks.find_endpoint(tx, visit.organization_id, visit.mode, endpoint_id)
        await webhooks.stop_replay(tx, visit.organization_id, endpoint_id, replay_id, by=visit.by, at=visit.at)
    return visit.go(f"webhooks/{endpoint_id}/replays/{replay_id}", "Stopped. What was queued before is still sent.")


def _selected(visit: Visit, form: Form) -> Selection | None:
    """What the form asks for; without it the form says what is wrong."""
    wanted = form.read(Wanted)
    if wanted is None:
        return None
    since, until = time_in(wanted.since), time_in(wanted.until)
    if since is None:
        form.errors["since"] = "This is not a time."
    if wanted.until and until is None:
        form.errors["until"] = "This is not a time."
    if form.errors:
        return None
    try:
        return webhooks.select(
            since=since,
            until=until,
            types=[wanted.type] if wanted.type else None,
            states=["failed"] if wanted.what is What.FAILED else None,
            at=visit.at,
        )
    except InvalidRequest as refusal:
        form.refuse(InvalidRequest(str(refusal), param="type" if refusal.param == "types" else refusal.param))
        return None


@asynccontextmanager
async def _counting(visit: Visit) -> AsyncGenerator[None]:
    try:
        await asyncio.wait_for(visit.studio.counting.acquire(), PATIENCE)
    except TimeoutError:
        raise Overloaded from None
    try:
        yield
    finally:
        visit.studio.counting.release()


async def _page(
    visit: Visit,
    endpoint_id: UUID,
    form: Form,
    *,
    total: int | None = None,
    after: Place | None = None,
    status: int = 200,
) -> Response:
    async with visit.db.reading() as tx:
        endpoint = await webhooks.find_endpoint(tx, visit.organization_id, visit.mode, endpoint_id)
        found = await webhooks.replays_of(tx, visit.organization_id, endpoint_id, after=after, limit=PAGE + 1)
    last = found[PAGE - 1] if len(found) > PAGE else None
    here = visit.path(f"webhooks/{endpoint_id}/replays")
    return visit.page(
        "webhooks/replays.html",
        endpoint=endpoint,
        replays=found[:PAGE],
        next=here + query(cursor=place_text(Place(last.created_at, last.id))) if last else None,
        form=form,
        total=total,
        types=[type for type in MessageType if type in words.TYPES],
        status=status,
    )
