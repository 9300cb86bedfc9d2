"""GET /incidents: where what happened at a door disagrees with the record, newest first."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Response

from gatepass.api.auth import State, needs
from gatepass.api.schemas import Data, Moment, Page, Wire, next_page, page_size, page_start
from gatepass.base.errors import InvalidRequest
from gatepass.base.ids import strict_uuid
from gatepass.base.paging import Place
from gatepass.domain import incidents
from gatepass.domain.incidents import FirstAdmission, Incident, IncidentFilter, IncidentKind, IncidentNotFound
from gatepass.domain.keys import Caller, Scope

router = APIRouter(tags=["Incidents"])


class FirstAdmissionOut(Wire):
    gate: str | None
    device_id: UUID | None
    scanner_id: str | None
    occurred_at: Moment | None
    received_at: Moment

    @classmethod
    def of(cls, first: FirstAdmission) -> "FirstAdmissionOut":
        return cls(
            gate=first.gate,
            device_id=first.device_id,
            scanner_id=first.scanner_id,
            occurred_at=first.occurred_at,
            received_at=first.received_at,
        )


class IncidentOut(Wire):
    id: UUID
    event_id: UUID
    kind: IncidentKind
    ticket_id: UUID | None
    card_number: str | None
    gate: str | None
    device_id: UUID | None
    occurred_at: Moment | None
    corrected_at: Moment | None
    received_at: Moment
    first: FirstAdmissionOut | None
    reason: str | None
    closed_at: Moment | None
    closed_by: str | None
    note: str | None

    @classmethod
    def of(cls, incident: Incident) -> "IncidentOut":
        first = incident.first
        return cls(
            id=incident.id,
            event_id=incident.event_id,
            kind=incident.kind,
            ticket_id=incident.ticket_id,
            card_number=incident.card_number,
            gate=incident.gate,
            device_id=incident.device_id,
            occurred_at=incident.occurred_at,
            corrected_at=incident.corrected_at,
            received_at=incident.received_at,
            first=None if first is None else FirstAdmissionOut.of(first),
            reason=incident.reason,
            closed_at=incident.closed_at,
            closed_by=incident.closed_by,
            note=incident.note,
        )


async def incident_filter(
    event_id: Annotated[str | None, Query(description="Only incidents of this event.")] = None,
    kind: Annotated[str | None, Query(description="Only incidents of this kind.")] = None,
    open: Annotated[str | None, Query(description="`true`: only open ones. `false`: only closed ones.")] = None,
) -> IncidentFilter:
    found = None if event_id is None else strict_uuid(event_id)
    if event_id is not None and found is None:
        raise InvalidRequest("event_id is not a UUID.", param="event_id")
    if kind is not None and kind not in list(IncidentKind):
        raise InvalidRequest(f"kind is one of {', '.join(IncidentKind)}.", param="kind")
    if open not in (None, "true", "false"):
        raise InvalidRequest("open is true or false.", param="open")
    return IncidentFilter(found, None if kind is None else IncidentKind(kind), None if open is None else open == "true")


@router.get("/incidents")
async def list_incidents(
    caller: Annotated[Caller, needs(Scope.TICKETS_READ)],
    state: State,
    response: Response,
    wanted: Annotated[IncidentFilter, Depends(incident_filter)],
    limit: Annotated[int, Depends(page_size)],
    before: Annotated[Place | None, Depends(page_start)],
) -> Page[IncidentOut]:
    """The incidents of the key's organization and mode, newest first."""
    async with state.db.autocommit() as tx:
        found, place = await incidents.list_incidents(tx, caller.tenant_id, wanted, before=before, limit=limit)
    filters = {
        "event_id": None if wanted.event_id is None else str(wanted.event_id),
        "kind": wanted.kind,
        "open": None if wanted.is_open is None else str(wanted.is_open).lower(),
    }
    cursor = next_page(response, f"{state.settings.base_url}/incidents", limit, place, **filters)
    return Page(data=[IncidentOut.of(one) for one in found], has_more=place is not None, next_cursor=cursor)


@router.get("/incidents/{id}")
async def incident(
    caller: Annotated[Caller, needs(Scope.TICKETS_READ)],
    state: State,
    id: Annotated[str, Path(description="The incident's UUID.")],
) -> Data[IncidentOut]:
    """One incident, open or closed."""
    incident_id = strict_uuid(id)
    if incident_id is None:
        raise IncidentNotFound
    async with state.db.autocommit() as tx:
        return Data(data=IncidentOut.of(await incidents.find(tx, caller.tenant_id, incident_id)))
