"""Webhook endpoints, their deliveries, and replays."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from gatepass_sdk._arguments import format_time, segment, without_none
from gatepass_sdk._async.pages import AsyncPages
from gatepass_sdk._call import Call, data_as, nothing
from gatepass_sdk._decode import read
from gatepass_sdk.models import Delivery, DeliveryDetail, Replay, ReplayCount, WebhookEndpoint

if TYPE_CHECKING:
    from gatepass_sdk._async.exchange import AsyncExchange


class AsyncWebhookEndpoints:
    """The key needs the scope `webhooks:read` to read, and `admin` to change."""

    def __init__(self, exchange: "AsyncExchange") -> None:
        self._exchange = exchange

    async def create(self, *, url: str, types: Sequence[str], description: str | None = None) -> WebhookEndpoint:
        """Create an endpoint in the mode of the key. Only this answer has its `secret`: store it."""
        body = without_none(url=url, types=list(types), description=description)
        return await self._exchange.ask(
            Call("POST", "/webhooks", data_as(WebhookEndpoint), body=body, repeatable=False)
        )

    def list(self, *, limit: int | None = None, cursor: str | None = None) -> AsyncPages[WebhookEndpoint]:
        """Every endpoint in the mode of the key."""
        query = {"limit": limit, "cursor": cursor}
        return AsyncPages(self._exchange, "/webhooks", partial(read, WebhookEndpoint), query)

    async def retrieve(self, endpoint_id: str) -> WebhookEndpoint:
        return await self._exchange.ask(Call("GET", _path(endpoint_id), data_as(WebhookEndpoint)))

    async def update(
        self,
        endpoint_id: str,
        *,
        url: str | None = None,
        types: Sequence[str] | None = None,
        description: str | None = None,
        status: str | None = None,
    ) -> WebhookEndpoint:
        """Change the given fields. `status="paused"` holds messages back, `status="active"` releases them."""
        body = without_none(
            url=url, types=None if types is None else list(types), description=description, status=status
        )
        return await self._exchange.ask(Call("PATCH", _path(endpoint_id), data_as(WebhookEndpoint), body=body))

    async def delete(self, endpoint_id: str) -> None:
        await self._exchange.ask(Call("DELETE", _path(endpoint_id), nothing, repeatable=False))

    async def test(self, endpoint_id: str) -> Delivery:
        """Send a `webhook.ping` to this endpoint."""
        return await self._exchange.ask(Call("POST", _path(endpoint_id, "test"), data_as(Delivery), repeatable=False))

    async def rotate_secret(self, endpoint_id: str, *, switch: bool = False) -> WebhookEndpoint:
        """Issue a new secret beside the old one. With `switch=True` the new one signs `x-svc-signature` from now on."""
        call = Call(
            "POST",
            _path(endpoint_id, "rotate-secret"),
            data_as(WebhookEndpoint),
            body={"switch": switch},
            repeatable=False,
        )
        return await self._exchange.ask(call)

    def deliveries(
        self,
        endpoint_id: str,
        *,
        status: str | None = None,
        type: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> AsyncPages[Delivery]:
        """Deliveries to this endpoint, newest first."""
        query = {"status": status, "type": type, "limit": limit, "cursor": cursor}
        return AsyncPages(self._exchange, _path(endpoint_id, "deliveries"), partial(read, Delivery), query)

    async def delivery(self, endpoint_id: str, delivery_id: str) -> DeliveryDetail:
        """One delivery with all its attempts."""
        path = _path(endpoint_id, "deliveries", delivery_id)
        return await self._exchange.ask(Call("GET", path, data_as(DeliveryDetail)))

    async def replay(
        self,
        endpoint_id: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        types: Sequence[str] | None = None,
        statuses: Sequence[str] | None = None,
        delivery_id: str | None = None,
    ) -> Replay:
        """Send the deliveries of this time span again, or this one delivery."""
        body = _selection(since, until, types, statuses, delivery_id)
        return await self._exchange.ask(
            Call("POST", _path(endpoint_id, "replay"), data_as(Replay), body=body, repeatable=False)
        )

    async def count_replay(
        self,
        endpoint_id: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        types: Sequence[str] | None = None,
        statuses: Sequence[str] | None = None,
    ) -> int:
        """The number of deliveries that a replay would send."""
        body = {**_selection(since, until, types, statuses, None), "dry_run": True}
        count = await self._exchange.ask(Call("POST", _path(endpoint_id, "replay"), data_as(ReplayCount), body=body))
        return count.total

    def replays(self, endpoint_id: str, *, limit: int | None = None, cursor: str | None = None) -> AsyncPages[Replay]:
        """Replays of this endpoint, newest first."""
        query = {"limit": limit, "cursor": cursor}
        return AsyncPages(self._exchange, _path(endpoint_id, "replay"), partial(read, Replay), query)


def _path(endpoint_id: str, *more: str) -> str:
    return "/".join(["/webhooks", segment(endpoint_id), *(segment(part) for part in more)])


def _selection(
    since: datetime | None,
    until: datetime | None,
    types: Sequence[str] | None,
    statuses: Sequence[str] | None,
    delivery_id: str | None,
) -> dict[str, object]:
    return without_none(
        since=format_time(since),
        until=format_time(until),
        types=None if types is None else list(types),
        statuses=None if statuses is None else list(statuses),
        delivery_id=delivery_id,
    )
