"""/webhooks/{id}/replay: sending earlier deliveries again."""

from datetime import datetime
from typing import Annotated, Final, Literal, Self
from uuid import UUID

import msgspec
from fastapi import APIRouter, Depends, Response

from gatepass.api.auth import State
from gatepass.api.request import decoded, moment
from gatepass.api.responses import Reply
from gatepass.api.routes.webhook_schemas import TAG, AdminWrite, Id, Reader, Types, webhook_id
from gatepass.api.schemas import Data, Moment, Page, Wire, next_page, page_size, page_start
from gatepass.api.write import Write
from gatepass.base.errors import InvalidRequest
from gatepass.base.ids import strict_uuid
from gatepass.base.paging import Place
from gatepass.domain import webhooks
from gatepass.domain.webhooks import MessageType, Replay, ReplayStatus, Selection

router = APIRouter(tags=[TAG])

Time = Annotated[str, msgspec.Meta(max_length=64)]
Ended = Literal["delivered", "failed"]


class ReplayRequest(msgspec.Struct, frozen=True):
    since: Time | None = None
    until: Time | None = None
    types: Types | None = None
    statuses: Annotated[list[Ended], msgspec.Meta(min_length=1, max_length=8)] | None = None
    delivery_id: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    dry_run: bool = False


class ReplayOut(Wire):
    id: UUID
    status: ReplayStatus
    total: int
    done: int
    since: Moment
    until: Moment
    types: list[MessageType] | None
    statuses: list[str]
    created_at: Moment
    ended_at: Moment | None

    @classmethod
    def of(cls, replay: Replay) -> Self:
        return cls(
            id=replay.id,
            status=replay.status,
            total=replay.total,
            done=replay.done,
            since=replay.since,
            until=replay.until,
            types=None if replay.types is None else [MessageType(type) for type in replay.types],
            statuses=replay.states,
            created_at=replay.created_at,
            ended_at=replay.ended_at,
        )


class ReplayCountOut(Wire):
    total: int


@router.post("/webhooks/{id}/replay", status_code=202, response_model=Data[ReplayOut])
async def replay_webhook(write: AdminWrite, id: Id) -> Data[ReplayOut] | Response:
    """Send deliveries again, or count them with `dry_run`."""
    endpoint_id, raw = webhook_id(id), await write.request.body()
    asked = decoded(raw, REQUEST) if raw else ReplayRequest()
    wanted = _wanted(asked, write.at)
    async with write.state.counting():
        if asked.dry_run:
            total = await _count(write, endpoint_id, wanted)
            return Reply.of(200, {"data": {"total": total}}).response()
        return Data(data=ReplayOut.of(await _begun(write, endpoint_id, wanted)))


@router.get("/webhooks/{id}/replay")
async def list_replays(
    caller: Reader,
    state: State,
    response: Response,
    id: Id,
    limit: Annotated[int, Depends(page_size)],
    after: Annotated[Place | None, Depends(page_start)],
) -> Page[ReplayOut]:
    """The replays of an endpoint, newest first, with their progress."""
    endpoint_id = webhook_id(id)
    async with state.db.autocommit() as tx:
        await webhooks.find_endpoint(tx, caller.organization_id, caller.mode, endpoint_id)
        found = await webhooks.replays_of(tx, caller.organization_id, endpoint_id, after=after, limit=limit + 1)
    page = found[:limit]
    place = Place(page[-1].created_at, page[-1].id) if len(found) > limit else None
    cursor = next_page(response, f"{state.settings.base_url}/webhooks/{endpoint_id}/replay", limit, place)
    return Page(data=[ReplayOut.of(replay) for replay in page], has_more=place is not None, next_cursor=cursor)


def _wanted(asked: ReplayRequest, at: datetime) -> Selection | UUID:
    """The selected deliveries: those of a filter, or one by its id."""
    filters = (asked.since, asked.until, asked.types, asked.statuses)
    if asked.delivery_id is None:
        return webhooks.select(
            since=None if asked.since is None else moment(asked.since, "since"),
            until=None if asked.until is None else moment(asked.until, "until"),
            types=asked.types,
            states=asked.statuses,
            at=at,
        )
    if any(part is not None for part in filters):
        raise InvalidRequest("Send either delivery_id or a filter.", param="delivery_id")
    delivery_id = strict_uuid(asked.delivery_id)
    if delivery_id is None:
        raise InvalidRequest("delivery_id is not a UUID.", param="delivery_id")
    return delivery_id


async def _count(write: Write, endpoint_id: UUID, wanted: Selection | UUID) -> int:
    caller = write.caller
    async with write.state.db.autocommit() as tx:
        endpoint = await webhooks.find_endpoint(tx, caller.organization_id, caller.mode, endpoint_id)
        if isinstance(wanted, Selection):
            return await webhooks.count_selected(tx, caller.organization_id, endpoint_id, wanted)
        await webhooks.select_one(tx, caller.organization_id, endpoint, wanted, at=write.at)
    return 1


async def _begun(write: Write, endpoint_id: UUID, wanted: Selection | UUID) -> Replay:
    place = (write.caller.organization_id, write.caller.mode, endpoint_id)
    async with write.transaction(202) as tx:
        if isinstance(wanted, Selection):
            return await webhooks.begin_replay(tx, *place, wanted, by=write.by, at=write.at)
        return await webhooks.replay_one(tx, *place, wanted, by=write.by, at=write.at)


REQUEST: Final = msgspec.json.Decoder(ReplayRequest)
