"""POST /scans/batch: a device uploads what it decided while it had no network, signed entry by entry."""

import asyncio
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import Response

from gatepass.api.auth import State, call_of, needs_device
from gatepass.api.request import LONGEST_IDEMPOTENCY_KEY, ApiCall, RawRequest, decoded, moment
from gatepass.api.responses import Reply
from gatepass.api.schemas import Data, Wire
from gatepass.api.state import MOST_ENTRIES_WAITING, ApiState
from gatepass.base.clock import EPOCH
from gatepass.base.errors import InvalidRequest, Overloaded
from gatepass.base.ids import strict_uuid
from gatepass.base.text import is_storable
from gatepass.domain import journal
from gatepass.domain.journal import (
    INVALID_ENTRY,
    LAST_SEQUENCE,
    EntryResult,
    JournalEntry,
    Outcome,
    ReadEntry,
    Rejection,
    Uploader,
)
from gatepass.domain.keys import Caller, InvalidKey

router = APIRouter(tags=["Scans"])

MOST_ENTRIES: Final = 500
LARGEST_BODY: Final = 512 * 1024
# What no clock of a device shows, and no column should hold.
LATEST: Final = datetime(9999, 1, 1, tzinfo=UTC)
SIGNATURE: Final = re.compile(r"[A-Za-z0-9_-]{86}", re.ASCII)
# Parts of what is signed are joined by line feeds: none may hold one, or any other control character.
CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class BatchIn(msgspec.Struct, frozen=True):
    """Each entry is read by itself: a bad one is rejected, and the others are taken."""

    entries: Annotated[list[msgspec.Raw], msgspec.Meta(min_length=1, max_length=MOST_ENTRIES)]


class NumberedIn(msgspec.Struct, frozen=True):
    sequence: Annotated[int, msgspec.Meta(ge=1, le=LAST_SEQUENCE)]


class EntryIn(NumberedIn, frozen=True):
    idempotency_key: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_IDEMPOTENCY_KEY)]
    event_id: str
    occurred_at: Annotated[str, msgspec.Meta(max_length=64)]
    admitted: bool
    signature: Annotated[str, msgspec.Meta(max_length=86)]
    card_number: Annotated[str, msgspec.Meta(min_length=1, max_length=64)] | None = None
    token: Annotated[str, msgspec.Meta(min_length=1, max_length=1024)] | None = None
    gate: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    scanner_id: Annotated[str, msgspec.Meta(max_length=64)] | None = None


class OpenedIncidentOut(Wire):
    id: UUID
    kind: str


class EntryOut(Wire):
    sequence: int
    outcome: Outcome
    code: str | None
    ticket_id: UUID | None
    incidents: list[OpenedIncidentOut]


class BatchOut(Wire):
    results: list[EntryOut]
    missing: list[Annotated[list[int], Field(min_length=2, max_length=2)]]


@router.post("/scans/batch", response_model=Data[BatchOut])
async def scan_batch(caller: Annotated[Caller, needs_device()], state: State, request: Request) -> Response:
    """Take the journal of a device. A retired device may upload too."""
    call = call_of(request)
    raw = await RawRequest(request.scope, request.receive).body(LARGEST_BODY)
    entries = [_read(one) for one in decoded(raw, BATCH).entries]
    async with state.uploading():
        async with state.db.autocommit() as tx:
            uploader = await journal.find_uploader(tx, caller)
        read = await _verified(state, uploader, entries, call.at)
        results = await _taken(state, call, read)
        missing = await _finish(state, call, uploader, results)
    return Reply.of(200, {"data": {"results": results, "missing": missing}}).response()


def _read(raw: msgspec.Raw) -> JournalEntry | Rejection:
    """The entry, if it has the right fields. Without a sequence nobody could tell which one a result is for."""
    try:
        body = ENTRY.decode(raw)
        return _entry(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, InvalidRequest):
        pass
    try:
        return Rejection(NUMBERED.decode(raw).sequence, INVALID_ENTRY)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise InvalidRequest("An entry has no sequence from 1 to 2^53 - 1.", param="entries") from None


def _entry(body: EntryIn) -> JournalEntry:
    event_id, occurred_at = strict_uuid(body.event_id), moment(body.occurred_at, "occurred_at")
    texts = (body.idempotency_key, body.card_number, body.token, body.gate, body.scanner_id)
    if (
        event_id is None
        or (body.card_number is None) == (body.token is None)
        or any(text is not None and (CONTROL.search(text) or not is_storable(text)) for text in texts)
        or not EPOCH <= occurred_at <= LATEST
    ):
        raise InvalidRequest
    return JournalEntry(
        sequence=body.sequence,
        idempotency_key=body.idempotency_key,
        event_id=event_id,
        shown=body.card_number or body.token or "",
        typed=body.token is None,
        gate=body.gate,
        scanner_id=body.scanner_id,
        occurred_text=body.occurred_at,
        occurred_at=occurred_at,
        admitted=body.admitted,
        signature=_signature(body.signature),
    )


def _signature(text: str) -> bytes:
    """One spelling alone, as with tokens. A text that is none verifies nothing."""
    raw = urlsafe_b64decode(text + "==") if SIGNATURE.fullmatch(text) else b""
    return raw if urlsafe_b64encode(raw).rstrip(b"=").decode() == text else b""


async def _verified(
    state: ApiState, uploader: Uploader, entries: list[JournalEntry | Rejection], at: datetime
) -> list[ReadEntry | Rejection]:
    """Signatures are verified in a thread: 500 entries take 0.1 s, in which the event loop answers scans."""
    whole = [entry for entry in entries if isinstance(entry, JournalEntry)]
    loop = asyncio.get_running_loop()
    read = iter(await loop.run_in_executor(state.verifiers, lambda: journal.read_all(uploader, whole, received_at=at)))
    return [entry if isinstance(entry, Rejection) else next(read) for entry in entries]


async def _taken(state: ApiState, call: ApiCall, read: list[ReadEntry | Rejection]) -> list[dict[str, Any]]:
    """Through the batcher of journals, so that uploads of many devices are few transactions, and scans go on."""
    wanted = [entry for entry in read if isinstance(entry, ReadEntry)]
    if len(state.journals) + len(wanted) > MOST_ENTRIES_WAITING:
        raise Overloaded(cause="queue")
    answers = await asyncio.gather(*(state.journals.add(entry) for entry in wanted), return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
        if answer is None:
            call.unconfirmed = True
            raise InvalidKey
    results = iter(answers)
    return [_rejected(one) if isinstance(one, Rejection) else _shown(one.sequence, next(results)) for one in read]


def _rejected(rejection: Rejection) -> dict[str, Any]:
    return _shown(rejection.sequence, EntryResult(Outcome.REJECTED, rejection.code, None, []))


def _shown(sequence: int, result: Any) -> dict[str, Any]:
    return {"sequence": sequence, **msgspec.to_builtins(result)}


async def _finish(
    state: ApiState, call: ApiCall, uploader: Uploader, results: list[dict[str, Any]]
) -> list[tuple[int, int]]:
    """Note what was not believed, and find the gaps in the sequence."""
    refused = [result["code"] for result in results if result["outcome"] == Outcome.REJECTED]
    async with state.db.transaction(call.address) as tx:
        await journal.note_rejections(tx, uploader, refused, at=call.at)
        return await journal.missing(tx, uploader.tenant_id, uploader.device_id)


BATCH: Final = msgspec.json.Decoder(BatchIn)
ENTRY: Final = msgspec.json.Decoder(EntryIn)
NUMBERED: Final = msgspec.json.Decoder(NumberedIn)
