"""GET /events/{id}/manifest, GET /events/{id}/manifest/stream: what a device needs to admit without a network."""

from typing import Annotated, Final

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from gatepass.api.auth import State, needs_device
from gatepass.api.etag import STRONG
from gatepass.api.manifests import Answer, EventRef, Follower, ManifestStream
from gatepass.api.routes.events import read_event_id, require_own_event
from gatepass.api.state import ApiState
from gatepass.domain.keys import Caller, Scope
from gatepass.domain.limits import Policy, RateLimited
from gatepass.domain.manifest import Cursor

router = APIRouter(tags=["Gates"])

MEDIA_TYPE: Final = "application/vnd.gatepass.manifest"
CURSOR_HEADER: Final = "Gatepass-Cursor"
# Whole manifests a device. A large one is 16 MB, and a device needs one when it starts.
WHOLE: Final = Policy("manifest", per_second=0.2, burst=10)

Device = Annotated[Caller, needs_device(Scope.EVENTS_READ)]
Id = Annotated[str, Path(description="The event's UUID.")]
After = Annotated[str | None, Query(description="The cursor of the last answer: only what changed since is sent.")]


@router.get("/events/{id}/manifest", response_class=Response)
async def manifest(caller: Device, state: State, request: Request, id: Id, after: After = None) -> Response:
    """The manifest of the device's event, or what has changed since a cursor."""
    cursor = None if after is None else Cursor.parse(after)
    follower = await _follower(state, caller, id)
    if after is not None and cursor is not None:
        answer = await follower.after(after, cursor)
        if answer is not None:
            return _response(answer)
        unchanged = await follower.unchanged(cursor, _known_states(request))
        if unchanged is not None:
            return _response(unchanged)
    _require_rate(state, caller)
    return _response(await follower.whole())


@router.get("/events/{id}/manifest/stream", response_class=Response)
async def manifest_stream(caller: Device, state: State, id: Id, after: After = None) -> Response:
    """What changes from this cursor on, as server-sent events."""
    cursor = None if after is None else Cursor.parse(after)
    follower = await _follower(state, caller, id)
    first = None if after is None or cursor is None else await follower.after(after, cursor)
    state.manifests.require_room(caller.key_id)
    return ManifestStream(state.manifests, follower, caller.key_id, first)


async def _follower(state: ApiState, caller: Caller, id: str) -> Follower:
    event_id = read_event_id(id)
    require_own_event(caller, event_id)
    return await state.manifests.follower(EventRef(caller.tenant_id, event_id))


def _known_states(request: Request) -> frozenset[str]:
    return frozenset(STRONG.findall(request.headers.get("if-none-match", "")))


def _require_rate(state: ApiState, caller: Caller) -> None:
    standing = state.buckets.take((caller.key_id, WHOLE.name), WHOLE, state.monotonic())
    if not standing.allowed:
        refusal = RateLimited("A device gets a whole manifest once in five seconds. Ask for what changed.")
        refusal.retry_after = standing.retry_after()
        raise refusal


def _response(answer: Answer) -> Response:
    headers = {"ETag": f'"{answer.state}"', CURSOR_HEADER: answer.cursor}
    if not answer.body:
        return Response(status_code=304, headers=headers)
    return Response(answer.body, headers=headers, media_type=MEDIA_TYPE)
