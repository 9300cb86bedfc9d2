"""Devices at the gates: listed, moved, ended; and the heartbeat that each sends."""

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from gatepass_sdk._arguments import format_time, segment, without_none
from gatepass_sdk._async.pages import AsyncPages
from gatepass_sdk._call import Call, data_as
from gatepass_sdk._decode import read
from gatepass_sdk.models import Device, Heartbeat

if TYPE_CHECKING:
    from gatepass_sdk._async.exchange import AsyncExchange


class AsyncDevices:
    """The key needs the scope `admin`. Devices are paired in the studio; `heartbeat` is for the key of a device."""

    def __init__(self, exchange: "AsyncExchange") -> None:
        self._exchange = exchange

    def list(
        self,
        *,
        event_id: str | None = None,
        status: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> AsyncPages[Device]:
        """Devices, the last paired first: of an event, or with this status, if you name one."""
        query = {"event_id": event_id, "status": status, "limit": limit, "cursor": cursor}
        return AsyncPages(self._exchange, "/devices", partial(read, Device), query)

    async def retrieve(self, device_id: str) -> Device:
        return await self._exchange.ask(Call("GET", _path(device_id), data_as(Device)))

    async def update(
        self, device_id: str, *, name: str | None = None, event_id: str | None = None, gate: str | None = None
    ) -> Device:
        """Rename it, or move it to another event or gate: it works for them from its next scan on."""
        body = without_none(name=name, event_id=event_id, gate=gate)
        return await self._exchange.ask(Call("PATCH", _path(device_id), data_as(Device), body=body))

    async def retire(self, device_id: str) -> Device:
        """It scans no more, and may upload what its journal still holds, for 72 hours."""
        return await self._exchange.ask(Call("POST", _path(device_id, "retire"), data_as(Device)))

    async def revoke(self, device_id: str) -> Device:
        """For one that is lost or stolen: its very next request is refused."""
        return await self._exchange.ask(Call("POST", _path(device_id, "revoke"), data_as(Device)))

    async def heartbeat(self, *, at: datetime, queued: int, app: str | None = None) -> Heartbeat:
        """For the key of a device: tell its time and how many scans wait, and learn what it works for."""
        body = without_none(at=format_time(at), queued=queued, app=app)
        return await self._exchange.ask(Call("POST", "/devices/heartbeat", data_as(Heartbeat), body=body))


def _path(device_id: str, *more: str) -> str:
    return "/".join(["/devices", segment(device_id), *more])
