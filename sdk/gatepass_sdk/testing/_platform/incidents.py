"""Incidents. The fake has no devices, so that nobody uploads a journal to it and no incident is opened."""

from typing import NoReturn

from gatepass_sdk.testing._body_reader import read_uuid
from gatepass_sdk.testing._http import Refused, Reply, Request, invalid
from gatepass_sdk.testing._paging import page_size, page_start
from gatepass_sdk.testing._state import World

KINDS = (
    "duplicate", "revoked_meanwhile", "suspended", "cancelled", "unknown_card", "no_ticket", "expired",
    "outside_window", "wrong_gate", "override",
)  # fmt: skip


def list_incidents(_world: World, request: Request) -> Reply:
    event_id, kind, is_open = (request.query.get(name) for name in ("event_id", "kind", "open"))
    if event_id is not None and read_uuid(event_id) is None:
        raise invalid("event_id is not a UUID.", "event_id")
    if kind is not None and kind not in KINDS:
        raise invalid(f"kind is one of {', '.join(KINDS)}.", "kind")
    if is_open not in (None, "true", "false"):
        raise invalid("open is true or false.", "open")
    page_size(request)
    page_start(request)
    return Reply(200, {"data": [], "has_more": False, "next_cursor": None})


def retrieve_incident(_world: World, _request: Request) -> NoReturn:
    raise Refused("incident_not_found")
