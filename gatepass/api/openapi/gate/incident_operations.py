"""The operations on journals and incidents."""

from typing import Any, Final

from gatepass.api.openapi import responses
from gatepass.api.openapi.notes import BAD_CURSOR, BAD_LIMIT, CURSOR, LIMIT, Notes, body, path, query
from gatepass.api.responses import NotFound, RequestTooLarge
from gatepass.api.routes.gate.scan_batch import LARGEST_BODY
from gatepass.base.errors import InvalidRequest
from gatepass.domain import sandbox
from gatepass.domain.incidents import IncidentKind, IncidentNotFound
from gatepass.domain.keys import Scope
from gatepass.domain.message_catalogue import AN_ID, INCIDENT

Json = dict[str, Any]

AN_INCIDENT: Final[Json] = {name: value for name, (_, value) in INCIDENT.items()}
AN_ENTRY: Final[Json] = {
    "sequence": 17,
    "idempotency_key": "0197a3c2-8d41-7c06-9b1e-5a2f7d3c4e17",
    "event_id": str(sandbox.EVENT_ID),
    "card_number": AN_INCIDENT["card_number"],
    "gate": "South 1",
    "occurred_at": "2026-11-14T19:31:04Z",
    "admitted": True,
    "signature": "A" * 86,
}
TAKEN: Final[Json] = {
    "results": [
        {"sequence": 16, "outcome": "activated", "code": None, "ticket_id": AN_INCIDENT["ticket_id"], "incidents": []},
        {
            "sequence": 17,
            "outcome": "recorded",
            "code": "already_activated",
            "ticket_id": AN_INCIDENT["ticket_id"],
            "incidents": [{"id": AN_ID, "kind": "duplicate"}],
        },
        {"sequence": 18, "outcome": "rejected", "code": "invalid_signature", "ticket_id": None, "incidents": []},
    ],
    "missing": [[5, 7]],
}
UUID: Final[Json] = {"type": "string", "format": "uuid"}

NOTES: Final[dict[str, Notes]] = {
    "scan_batch": Notes(
        id="create_scan_batch",
        summary="Upload a journal",
        description=(
            "A device uploads what it decided while it had no network: up to 500 entries, each signed by the device. "
            "Each has its own result, and is taken once: send a part again whenever no answer came.\n\n"
            "An entry is judged as `POST /scan` would judge it now, at its time by our clock. It uses the ticket only "
            "if a scan would. What was admitted and disagrees with the record is never refused: it opens an incident. "
            "An entry with `admitted: false` uses nothing.\n\n"
            "Entries may be of any event for which the device has worked, until 72 hours after its end. Card numbers "
            "that were typed within 2 seconds of each other, and what a device wrote before it was revoked and paired "
            "again, open incidents only. A rejected entry (`invalid_signature`, `invalid_entry`, `not_assigned`, "
            "`too_late`, `sequence_reused`, `idempotency_key_reused`) is counted on the device and is in the audit log."
        ),
        scope=None,
        success="A result for each entry.",
        shown={"taken": {"summary": "Taken, an incident, rejected", "value": {"data": TAKEN}}},
        refusals=(
            InvalidRequest("entries: Expected `array` of length <= 500.", param="entries"),
            RequestTooLarge("The request body is larger than 512 KiB."),
        ),
        body=body(
            "ScanBatchRequest",
            {"entry": {"summary": "One entry", "value": {"entries": [AN_ENTRY]}}},
            largest=LARGEST_BODY,
        ),
    ),
    "list_incidents": Notes(
        id="list_incidents",
        summary="List incidents",
        description=(
            "Where somebody was let in and the record says otherwise, newest first. With a filter a page looks through "
            "at most 10,000 incidents: it may be short, or empty, while `has_more` is true. The same objects come as "
            "`scan.conflict`, as soon as they are known."
        ),
        scope=Scope.TICKETS_READ,
        success="A page of incidents.",
        shown={
            "incidents": {
                "summary": "A second admission",
                "value": {"data": [AN_INCIDENT], "has_more": False, "next_cursor": None},
            }
        },
        refusals=(
            BAD_LIMIT,
            BAD_CURSOR,
            InvalidRequest("event_id is not a UUID.", param="event_id"),
            InvalidRequest("open is true or false.", param="open"),
        ),
        parameters=(
            query("event_id", "Only incidents of this event.", UUID),
            query("kind", "Only incidents of this kind.", {"type": "string", "enum": list(IncidentKind)}),
            query("open", "`true`: only open ones. `false`: only closed ones.", {"type": "boolean"}),
            LIMIT,
            CURSOR,
        ),
        headers=(responses.LINK,),
    ),
    "incident": Notes(
        id="retrieve_incident",
        summary="Retrieve an incident",
        description="One incident, open or closed. People close them in the studio, with a note.",
        scope=Scope.TICKETS_READ,
        success="The incident.",
        shown={"incident": {"summary": "A second admission", "value": {"data": AN_INCIDENT}}},
        # An id with a slash in it is another path, which does not exist.
        refusals=(IncidentNotFound(), NotFound()),
        parameters=(path("id", "The incident's UUID.", AN_ID),),
    ),
}
