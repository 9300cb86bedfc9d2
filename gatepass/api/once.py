"""A POST that is done once: with an Idempotency-Key, a retry gets the first answer again.

A route hands over what it does and how the answer is made of what is kept:

    @router.post("/events", status_code=201, response_model=Data[EventOut])
    async def create_event(write: EventsWrite) -> Response:
        raw = await write.request.body()
        body = decoded(raw, NEW)

        async def create(tx: Tx) -> Kept:
            return Kept(201, id=await events.create(tx, write.caller.tenant_id, …))

        async def find(tx: Tx, id: UUID) -> EventOut:
            return EventOut.of(await events.find(tx, write.caller.tenant_id, id))

        return await once(write, raw, create, the_kept(find))

Both run in one transaction, which also keeps the answer and writes the row of the request log. A retry runs `find`
alone: ids and statuses are kept, so an object is shown as it is now, and a token is signed again. A refusal with a
status of KEPT_REFUSALS rolls back what `create` did, and is kept; any other rolls back everything, and the key stays
free. `finish` makes the body after the commit: what takes long, such as signing a thousand tokens, holds no connection.

Two calls at once with one key: one does it, the other waits up to 2 seconds and gets its answer. The key counts within
its organization and mode; with another method, path or body it is refused with 422 `idempotency_key_reused`. Without a
key the call is simply done. For each item of a batch see `Kept.items`, `item_problem`, and `Tx.savepoint`.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar
from uuid import UUID

from pydantic import BaseModel
from starlette.responses import Response

from gatepass.api.etag import etag_headers
from gatepass.api.responses import ENCODER, REPLAYED, Reply, body_of, problem_reply, status_of
from gatepass.api.write import Write
from gatepass.base.database import Tx
from gatepass.base.errors import Refusal
from gatepass.domain import idempotency
from gatepass.domain.idempotency import Kept, Taken

__all__ = ["Kept", "item_problem", "once", "the_kept"]

T = TypeVar("T")

# As for a scan: these are answers of ours. The others say something about the request or the moment.
KEPT_REFUSALS: Final = frozenset({404, 409, 410, 422})


async def once(
    write: Write,
    raw: bytes,
    act: Callable[[Tx], Awaitable[Kept]],
    show: Callable[[Tx, Kept], Awaitable[T]],
    finish: Callable[[T], Awaitable[Any]] | None = None,
) -> Response:
    """Do it, or find that it was done; the answer `{data: …}` with the status that is kept."""
    taken, shown = _taken(write, raw), None
    async with write.state.writing():
        async with write.state.db.transaction(write.call.address) as tx:
            await write.open(tx)
            before = await idempotency.take(tx, taken) if taken else None
            kept = before or (await act(tx) if taken is None else await _done(tx, taken, act))
            if kept.problem is None:
                shown = await show(tx, kept)
            else:
                write.call.code = kept.problem["code"]
            await write.log(tx, kept.status)
        write.call.logged = True
    headers = dict(REPLAYED) if before else {}
    if shown is None:
        return problem_reply(kept.status, kept.problem or {}, headers).response()
    return reply(kept.status, await finish(shown) if finish else shown, headers).response()


def the_kept(find: Callable[[Tx, UUID], Awaitable[T]]) -> Callable[[Tx, Kept], Awaitable[T]]:
    """To show the object whose id is kept, as it is now."""

    async def show(tx: Tx, kept: Kept) -> T:
        assert kept.id is not None  # noqa: S101  what is done keeps one
        return await find(tx, kept.id)

    return show


def item_problem(refusal: Refusal) -> Kept:
    """The refusal of one item of a batch, to be kept among `Kept.items`. One that refuses the whole call is raised."""
    status = status_of(refusal)
    if status not in KEPT_REFUSALS and status != 400:
        raise refusal
    return Kept(status, problem=body_of(refusal))


def _taken(write: Write, raw: bytes) -> Taken | None:
    key = write.request.idempotency_key()
    if key is None:
        return None
    caller = write.caller
    return Taken(
        caller.organization_id,
        idempotency.key_digest(caller.mode, key),
        idempotency.fingerprint(write.call.method, write.request.path(), raw),
    )


async def _done(tx: Tx, taken: Taken, act: Callable[[Tx], Awaitable[Kept]]) -> Kept:
    try:
        async with tx.savepoint():
            kept = await act(tx)
    except Refusal as refusal:
        status = status_of(refusal)
        if status not in KEPT_REFUSALS:
            raise
        kept = Kept(status, problem=body_of(refusal))
    await idempotency.keep(tx, taken, kept)
    return kept


def reply(status: int, content: Any, headers: dict[str, str]) -> Reply:
    """`{data: …}`, and the ETag of an object that has `updated_at`."""
    headers = {**etag_headers(content), **headers}
    if isinstance(content, BaseModel):
        return Reply(status, b'{"data":' + content.model_dump_json().encode() + b"}", headers)
    return Reply(status, ENCODER.encode({"data": content}), headers)
