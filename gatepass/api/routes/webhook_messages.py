"""GET /webhook-events: the feed of all messages, for clients that poll."""

from typing import Annotated, Any
from uuid import UUID

import msgspec
from fastapi import APIRouter, Depends, Query
from pydantic import Field, WithJsonSchema
from starlette.responses import Response

from gatepass.api.auth import State
from gatepass.api.responses import Reply
from gatepass.api.routes.webhook_schemas import TAG, Reader
from gatepass.api.schemas import MOST, Moment, Wire, packed, page_size, read_cursor
from gatepass.domain import webhooks
from gatepass.domain.webhooks import FeedCursor
from gatepass.domain.webhooks.message import PREFIX

router = APIRouter(tags=[TAG])


class MessageOut(Wire):
    """A message as it is sent. Bodies are answered as they are stored, so this only describes them."""

    id: str = Field(pattern=f"^{PREFIX}")
    type: str
    organization_id: UUID
    created_at: Moment
    data: Annotated[dict[str, Any], WithJsonSchema({"type": "object"})]


class FeedOut(Wire):
    data: list[MessageOut] = Field(max_length=MOST)
    has_more: bool
    next_cursor: str


async def feed_mark(
    after: Annotated[str | None, Query(description="`next_cursor` of the page before.")] = None,
) -> FeedCursor | None:
    return None if after is None else FeedCursor(*read_cursor(after, "after"))


@router.get("/webhook-events", response_model=FeedOut)
async def list_messages(
    caller: Reader,
    state: State,
    limit: Annotated[int, Depends(page_size)],
    after: Annotated[FeedCursor | None, Depends(feed_mark)],
) -> Response:
    """The messages, oldest first, in the bytes that are sent to endpoints."""
    async with state.db.autocommit() as tx:
        await webhooks.open_feed(tx, caller.organization_id, caller.mode, at=state.clock())
        found = await webhooks.read_feed(tx, caller.organization_id, caller.mode, after=after, limit=limit)
    return Reply.of(
        200,
        {
            "data": [msgspec.Raw(body) for body in found.bodies],
            "has_more": found.has_more,
            "next_cursor": packed(found.cursor.txid, found.cursor.id),
        },
    ).response()
