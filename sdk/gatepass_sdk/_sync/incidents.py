# Generated from _async/incidents.py by `make sdk-sync`. Change that file.
"""Incidents: where somebody was let in against the record."""

from functools import partial
from typing import TYPE_CHECKING

from gatepass_sdk._arguments import segment
from gatepass_sdk._call import Call, data_as
from gatepass_sdk._decode import read
from gatepass_sdk._models.incident import Incident
from gatepass_sdk._sync.pages import Pages

if TYPE_CHECKING:
    from gatepass_sdk._sync.exchange import Exchange


class Incidents:
    """The key needs the scope `tickets:read`."""

    def __init__(self, exchange: "Exchange") -> None:
        self._exchange = exchange

    def list(
        self,
        *,
        event_id: str | None = None,
        kind: str | None = None,
        open: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Pages[Incident]:
        """Incidents, newest first: of one event, of one kind, or only those that are open (or closed)."""
        query = {"event_id": event_id, "kind": kind, "open": None if open is None else str(open).lower()}
        query |= {"limit": None if limit is None else str(limit), "cursor": cursor}
        return Pages(self._exchange, "/incidents", partial(read, Incident), query)

    def retrieve(self, incident_id: str) -> Incident:
        """One incident, open or closed."""
        path = f"/incidents/{segment(incident_id)}"
        return self._exchange.ask(Call("GET", path, data_as(Incident)))
