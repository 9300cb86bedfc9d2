"""The list of scans: newest first, or on from one that the caller has seen.

The service holds back the newest seconds after a cursor; a fake does not, because nobody else writes to it.
"""

from typing import Any

from gatepass_sdk.testing._body_reader import read_uuid
from gatepass_sdk.testing._http import Reply, Request, invalid
from gatepass_sdk.testing._paging import EPOCH, MICROSECOND, cursor_of, page_of, page_size, page_start
from gatepass_sdk.testing._platform.records import ScanRecord
from gatepass_sdk.testing._state import Position, World
from gatepass_sdk.testing._times import maybe_rfc3339, rfc3339


def list_scans(world: World, request: Request) -> Reply:
    filters = _filters(request)
    size, before, after = page_size(request), page_start(request), page_start(request, "after")
    if before is not None and after is not None:
        raise invalid("Send either cursor or after.", "after")
    found = [scan for scan in world.sides[request.mode].scans if _fits(scan, filters)]
    if after is None:
        place = (size, before)
        return page_of(request, found, _position, _shown, place, newest_first=True, filters=filters)
    reply = page_of(request, found, _position, _shown, (size, after))
    content = dict(reply.content or {})
    last = content["data"][-1]["cursor"] if content["data"] else request.query["after"]
    return Reply(200, {**content, "next_cursor": last})


def _filters(request: Request) -> dict[str, str | None]:
    given = {name: request.query[name] for name in ("event_id", "ticket_id", "card_id") if name in request.query}
    for name, text in given.items():
        if read_uuid(text) is None:
            raise invalid(f"{name} is not a UUID.", name)
    if len(given) > 1:
        raise invalid("Send at most one of event_id, ticket_id and card_id.", list(given)[1])
    return {name: text.lower() for name, text in given.items()}


def _fits(scan: ScanRecord, filters: dict[str, str | None]) -> bool:
    return all(str(getattr(scan, name)) == wanted for name, wanted in filters.items())


def _position(scan: ScanRecord) -> Position:
    return scan.position


def _shown(scan: ScanRecord) -> dict[str, Any]:
    at, id = scan.position
    return {
        "id": str(scan.id),
        "scanned_at": rfc3339(at),
        "event_id": scan.event_id,
        "card_number": scan.card_number,
        "card_id": None if scan.card_id is None else str(scan.card_id),
        "ticket_id": None if scan.ticket_id is None else str(scan.ticket_id),
        "verdict": scan.verdict,
        "gate": scan.gate,
        "scanner_id": scan.scanner_id,
        "occurred_at": maybe_rfc3339(scan.occurred_at),
        "cursor": cursor_of((at - EPOCH) // MICROSECOND, id),
    }
