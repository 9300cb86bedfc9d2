"""GET /scans: every scan with its verdict, newest first, or on from one that the caller has seen."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response
from pydantic import Field

from gatepass.api.auth import State, needs
from gatepass.api.schemas import Moment, Page, Wire, next_page, page_size, page_start, read_cursor, written_cursor
from gatepass.base.errors import InvalidRequest
from gatepass.base.ids import strict_uuid
from gatepass.base.paging import Place
from gatepass.domain.keys import Caller, Scope
from gatepass.domain.tickets import scan_list
from gatepass.domain.tickets.scan_list import RecordedScan, ScanFilter

router = APIRouter(tags=["Scans"])


class RecordedScanOut(Wire):
    id: UUID
    scanned_at: Moment
    event_id: UUID
    card_number: str
    card_id: UUID | None
    ticket_id: UUID | None
    verdict: str
    gate: str | None
    scanner_id: str | None
    occurred_at: Moment | None
    cursor: str = Field(description="Pass it as `after` to get the scans that followed this one.")

    @classmethod
    def of(cls, scan: RecordedScan) -> "RecordedScanOut":
        return cls(
            id=scan.id,
            scanned_at=scan.at,
            event_id=scan.event_id,
            card_number=scan.card_number,
            card_id=scan.card_id,
            ticket_id=scan.ticket_id,
            verdict=scan.verdict,
            gate=scan.gate,
            scanner_id=scan.scanner_id,
            occurred_at=scan.occurred_at,
            cursor=written_cursor(Place(scan.at, scan.id)),
        )


async def scan_filter(
    event_id: Annotated[str | None, Query(description="Only scans for this event.")] = None,
    ticket_id: Annotated[str | None, Query(description="Only scans of this ticket.")] = None,
    card_id: Annotated[str | None, Query(description="Only scans of this card.")] = None,
) -> ScanFilter:
    given = {"event_id": event_id, "ticket_id": ticket_id, "card_id": card_id}
    ids: dict[str, UUID] = {}
    for name, text in given.items():
        if text is not None:
            found = strict_uuid(text)
            if found is None:
                raise InvalidRequest(f"{name} is not a UUID.", param=name)
            ids[name] = found
    if len(ids) > 1:
        raise InvalidRequest("Send at most one of event_id, ticket_id and card_id.", param=list(ids)[1])
    return ScanFilter(**ids)


async def seen_place(
    after: Annotated[str | None, Query(description="The `cursor` of a scan: those after it, oldest first.")] = None,
) -> Place | None:
    try:
        return None if after is None else Place.of(*read_cursor(after, "after"))
    except OverflowError:
        raise InvalidRequest("after is not one that this list gave out.", param="after") from None


@router.get("/scans")
async def list_scans(
    caller: Annotated[Caller, needs(Scope.TICKETS_READ)],
    state: State,
    response: Response,
    wanted: Annotated[ScanFilter, Depends(scan_filter)],
    limit: Annotated[int, Depends(page_size)],
    before: Annotated[Place | None, Depends(page_start)],
    after: Annotated[Place | None, Depends(seen_place)],
) -> Page[RecordedScanOut]:
    """The scans of the key's organization and mode."""
    if before is not None and after is not None:
        raise InvalidRequest("Send either cursor or after.", param="after")
    whose = (caller.tenant_id, caller.mode, wanted)
    async with state.db.autocommit() as tx:
        if after is None:
            found = await scan_list.newest(tx, *whose, before=before, limit=limit)
        else:
            found = await scan_list.following(tx, *whose, after=after, limit=limit)
    scans, filters = [RecordedScanOut.of(scan) for scan in found.scans], _texts(wanted)
    if after is None:
        cursor = next_page(response, f"{state.settings.base_url}/scans", limit, found.place, **filters)
    else:
        cursor = written_cursor(found.place or after)
    return Page(data=scans, has_more=found.has_more, next_cursor=cursor)


def _texts(wanted: ScanFilter) -> dict[str, str | None]:
    named = {"event_id": wanted.event_id, "ticket_id": wanted.ticket_id, "card_id": wanted.card_id}
    return {name: None if id is None else str(id) for name, id in named.items()}
