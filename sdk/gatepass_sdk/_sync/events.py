# Generated from _async/events.py by `make sdk-sync`. Change that file.
"""Events of the organization."""

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from gatepass_sdk._arguments import UNCHANGED, Unchanged, changes, format_time, new_key, segment, without_none
from gatepass_sdk._call import Call, nothing, versioned_as
from gatepass_sdk._decode import read
from gatepass_sdk._sync.pages import Pages
from gatepass_sdk.models import Event

if TYPE_CHECKING:
    from gatepass_sdk._sync.exchange import Exchange


class Events:
    """The key needs the scope `events:read` to read, and `events:write` to change."""

    def __init__(self, exchange: "Exchange") -> None:
        self._exchange = exchange

    def list(self, *, status: str | None = None, limit: int | None = None, cursor: str | None = None) -> Pages[Event]:
        """Published events, in the order of their start. `limit` is the size of a page, at most 100.

        With `events:write`, `status` lists those that are `draft`, `cancelled` or `ended` instead.
        """
        query = {"status": status, "limit": limit, "cursor": cursor}
        return Pages(self._exchange, "/events", partial(read, Event), query)

    def retrieve(self, event_id: str) -> Event:
        """One event, whatever its status."""
        return self._exchange.ask(Call("GET", _path(event_id), versioned_as(Event)))

    def create(
        self,
        *,
        title: str,
        starts_at: datetime,
        ends_at: datetime,
        time_zone: str | None = None,
        description: str | None = None,
        venue: str | None = None,
        city: str | None = None,
        country: str | None = None,
        cover_url: str | None = None,
        codes: str | None = None,
        doors_open_at: datetime | None = None,
        offline: str | None = None,
        idempotency_key: str | None = None,
    ) -> Event:
        """Create an event. It begins as a draft: add ticket categories, then publish it."""
        body = without_none(
            title=title,
            starts_at=format_time(starts_at),
            ends_at=format_time(ends_at),
            time_zone=time_zone,
            description=description,
            venue=venue,
            city=city,
            country=country,
            cover_url=cover_url,
            codes=codes,
            doors_open_at=format_time(doors_open_at),
            offline=offline,
        )
        return self._post("/events", body, idempotency_key)

    def update(
        self,
        event_id: str,
        *,
        title: str | Unchanged = UNCHANGED,
        starts_at: datetime | Unchanged = UNCHANGED,
        ends_at: datetime | Unchanged = UNCHANGED,
        time_zone: str | Unchanged = UNCHANGED,
        description: str | Unchanged | None = UNCHANGED,
        venue: str | Unchanged | None = UNCHANGED,
        city: str | Unchanged | None = UNCHANGED,
        country: str | Unchanged | None = UNCHANGED,
        cover_url: str | Unchanged | None = UNCHANGED,
        codes: str | Unchanged = UNCHANGED,
        doors_open_at: datetime | Unchanged | None = UNCHANGED,
        offline: str | Unchanged = UNCHANGED,
        if_match: str | None = None,
    ) -> Event:
        """Change the given fields; None clears one. With `if_match`, the `etag` of an event, only if it is still that.

        Raises `ChangedMeanwhile` if somebody else was first.
        """
        body = changes(
            title=title,
            starts_at=starts_at,
            ends_at=ends_at,
            time_zone=time_zone,
            description=description,
            venue=venue,
            city=city,
            country=country,
            cover_url=cover_url,
            codes=codes,
            doors_open_at=doors_open_at,
            offline=offline,
        )
        return self._exchange.ask(
            Call(
                "PATCH",
                _path(event_id),
                versioned_as(Event),
                body=body,
                if_match=if_match,
                repeatable=if_match is None,
            )
        )

    def publish(self, event_id: str, *, idempotency_key: str | None = None) -> Event:
        """Show a draft and open it for scans. Raises `Conflict` if something that it needs is missing."""
        return self._post(_path(event_id, "publish"), None, idempotency_key)

    def cancel(self, event_id: str, *, reason: str, idempotency_key: str | None = None) -> Event:
        """Cancel an event, for good. Its tickets are cancelled soon after; holders are told the reason."""
        return self._post(_path(event_id, "cancel"), {"reason": reason}, idempotency_key)

    def end(self, event_id: str, *, idempotency_key: str | None = None) -> Event:
        """End a published event, for good: its gates are closed."""
        return self._post(_path(event_id, "end"), None, idempotency_key)

    def reopen(self, event_id: str, *, reason: str, idempotency_key: str | None = None) -> Event:
        """Open an event again that ended by itself, for six hours at least. The reason is kept in its history."""
        return self._post(_path(event_id, "reopen"), {"reason": reason}, idempotency_key)

    def delete(self, event_id: str, *, if_match: str | None = None) -> None:
        """Delete a draft for which nothing was issued."""
        self._exchange.ask(Call("DELETE", _path(event_id), nothing, if_match=if_match, repeatable=False))

    def _post(self, path: str, body: dict[str, object] | None, key: str | None) -> Event:
        call = Call("POST", path, versioned_as(Event), body=body, idempotency_key=new_key(key))
        return self._exchange.ask(call)


def _path(event_id: str, *more: str) -> str:
    return "/".join(["/events", segment(event_id), *more])
