"""Ticket categories: the kinds of ticket of an event. `Event.ticket_categories` lists them."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from gatepass_sdk._arguments import (
    UNCHANGED,
    Unchanged,
    changes,
    format_amount,
    format_time,
    new_key,
    segment,
    without_none,
)
from gatepass_sdk._call import Call, nothing, versioned_as
from gatepass_sdk.models import TicketCategory

if TYPE_CHECKING:
    from gatepass_sdk._async.exchange import AsyncExchange


class AsyncTicketCategories:
    """The key needs the scope `events:write`."""

    def __init__(self, exchange: "AsyncExchange") -> None:
        self._exchange = exchange

    async def create(
        self,
        event_id: str,
        *,
        name: str,
        price: Decimal | float,
        currency: str,
        quantity_total: int,
        tier: str | None = None,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        gates: Sequence[str] | None = None,
        idempotency_key: str | None = None,
    ) -> TicketCategory:
        """Add a category to an event. `price` is in major units, `tier` a short word such as `standard` or `vip`.

        Its tickets open the gate from `valid_from` until before `valid_until`, at `gates`: by the exact names that
        scans send.
        """
        body = without_none(
            name=name,
            price=format_amount(price),
            currency=currency,
            quantity_total=quantity_total,
            tier=tier,
            valid_from=format_time(valid_from),
            valid_until=format_time(valid_until),
            gates=None if gates is None else list(gates),
        )
        path = f"/events/{segment(event_id)}/ticket-categories"
        call = Call("POST", path, versioned_as(TicketCategory), body=body, idempotency_key=new_key(idempotency_key))
        return await self._exchange.ask(call)

    async def update(
        self,
        category_id: str,
        *,
        name: str | Unchanged = UNCHANGED,
        price: Decimal | float | Unchanged = UNCHANGED,
        currency: str | Unchanged = UNCHANGED,
        quantity_total: int | Unchanged = UNCHANGED,
        tier: str | Unchanged = UNCHANGED,
        valid_from: datetime | Unchanged | None = UNCHANGED,
        valid_until: datetime | Unchanged | None = UNCHANGED,
        gates: Sequence[str] | Unchanged | None = UNCHANGED,
        if_match: str | None = None,
    ) -> TicketCategory:
        """Change the given fields; None clears one. Places are never fewer than issued. `if_match` as for an event."""
        body = changes(
            name=name,
            price=price,
            currency=currency,
            quantity_total=quantity_total,
            tier=tier,
            valid_from=valid_from,
            valid_until=valid_until,
            gates=gates,
        )
        path, read = _path(category_id), versioned_as(TicketCategory)
        call = Call("PATCH", path, read, body=body, if_match=if_match, repeatable=if_match is None)
        return await self._exchange.ask(call)

    async def delete(self, category_id: str, *, if_match: str | None = None) -> None:
        """Remove a category that has no tickets in use."""
        await self._exchange.ask(Call("DELETE", _path(category_id), nothing, if_match=if_match, repeatable=False))


def _path(category_id: str) -> str:
    return f"/ticket-categories/{segment(category_id)}"
