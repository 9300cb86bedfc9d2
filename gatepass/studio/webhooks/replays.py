"""Replays: selecting the messages to send again, counting them, starting a replay, its progress, stopping it."""

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

from gatepass.base.errors import InvalidRequest, Overloaded
from gatepass.base.paging import Place
from gatepass.domain import webhooks
from gatepass.domain.staff import Permission
from gatepass.domain.webhooks import MessageType, Selection
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form, Line, OptionalLine
from gatepass.studio.web.paging import place_of, place_text
from gatepass.studio.webhooks import text as words
from gatepass.studio.webhooks.forms import query, time_in, time_text

router = APIRouter(prefix="/webhooks/{endpoint_id}/replays")

Reader = Annotated[Context, may(Permission.WEBHOOKS_READ)]
Writer = Annotated[Context, may(Permission.WEBHOOKS_WRITE)]

PAGE: Final = 20
SPAN: Final = timedelta(hours=24)


class ReplayChoice(StrEnum):
    FAILED = "failed"
    ALL = "all"


class ReplayForm(BaseModel):
    what: ReplayChoice = ReplayChoice.FAILED
    type: OptionalLine = ""
    since: Line
    until: OptionalLine = ""


@router.get("")
async def listing(endpoint_id: UUID, context: Reader, cursor: str = "") -> Response:
    form = Form.of(what=ReplayChoice.FAILED, since=time_text(context.at - SPAN, context.zone))
    return await _page(context, endpoint_id, form, after=place_of(cursor))


@router.post("/count")
async def count(endpoint_id: UUID, context: Writer) -> Response:
    """Count the selected messages. Nothing is sent."""
    form = await context.form()
    selection = _selected(context, form)
    total = None
    if selection is not None:
        try:
            async with _counting(context), context.db.autocommit() as tx:
                await webhooks.find_endpoint(tx, context.organization_id, context.mode, endpoint_id)
                total = await webhooks.count_selected(tx, context.organization_id, endpoint_id, selection)
        except InvalidRequest as refusal:
            form.refuse(refusal)
    return await _page(context, endpoint_id, form, total=total, status=422 if form.errors else 200)


@router.post("")
async def begin(endpoint_id: UUID, context: Writer) -> Response:
    form = await context.form()
    selection = _selected(context, form)
    if selection is not None:
        try:
            async with _counting(context), context.transaction() as tx:
                replay = await webhooks.begin_replay(
                    tx, context.organization_id, context.mode, endpoint_id, selection, by=context.by, at=context.at
                )
        except InvalidRequest as refusal:
            form.refuse(refusal)
        else:
            return context.go(f"webhooks/{endpoint_id}/replays/{replay.id}", "The replay has begun.")
    return await _page(context, endpoint_id, form, status=422)


@router.get("/{replay_id}")
async def one(endpoint_id: UUID, replay_id: UUID, context: Reader) -> Response:
    async with context.db.autocommit() as tx:
        endpoint = await webhooks.find_endpoint(tx, context.organization_id, context.mode, endpoint_id)
        replay = await webhooks.find_replay(tx, context.organization_id, endpoint_id, replay_id)
    return context.page("webhooks/replay.html", endpoint=endpoint, replay=replay)


@router.post("/{replay_id}/stop")
async def stop(endpoint_id: UUID, replay_id: UUID, context: Writer) -> Response:
    async with context.transaction() as tx:
        await webhooks.find_endpoint(tx, context.organization_id, context.mode, endpoint_id)
        await webhooks.stop_replay(tx, context.organization_id, endpoint_id, replay_id, by=context.by, at=context.at)
    return context.go(f"webhooks/{endpoint_id}/replays/{replay_id}", "Stopped. What was queued before is still sent.")


def _selected(context: Context, form: Form) -> Selection | None:
    """The selection in the form; None if the form has errors."""
    wanted = form.read(ReplayForm)
    if wanted is None:
        return None
    since, until = time_in(wanted.since, context.zone), time_in(wanted.until, context.zone)
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
            states=["failed"] if wanted.what is ReplayChoice.FAILED else None,
            at=context.at,
        )
    except InvalidRequest as refusal:
        form.refuse(InvalidRequest(str(refusal), param="type" if refusal.param == "types" else refusal.param))
        return None


@asynccontextmanager
async def _counting(context: Context) -> AsyncGenerator[None]:
    try:
        await asyncio.wait_for(context.studio.counting.acquire(), context.db.acquire_within)
    except TimeoutError:
        raise Overloaded from None
    try:
        yield
    finally:
        context.studio.counting.release()


async def _page(
    context: Context,
    endpoint_id: UUID,
    form: Form,
    *,
    total: int | None = None,
    after: Place | None = None,
    status: int = 200,
) -> Response:
    async with context.db.autocommit() as tx:
        endpoint = await webhooks.find_endpoint(tx, context.organization_id, context.mode, endpoint_id)
        found = await webhooks.replays_of(tx, context.organization_id, endpoint_id, after=after, limit=PAGE + 1)
    last = found[PAGE - 1] if len(found) > PAGE else None
    here = context.path(f"webhooks/{endpoint_id}/replays")
    return context.page(
        "webhooks/replays.html",
        endpoint=endpoint,
        replays=found[:PAGE],
        next=here + query(cursor=place_text(Place(last.created_at, last.id))) if last else None,
        form=form,
        total=total,
        types=[type for type in MessageType if type in words.TYPES],
        status=status,
    )
