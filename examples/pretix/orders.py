"""Orders become tickets. pretix says what should be, Gatepass what is, and the bridge remembers nothing of either.

So each step can be cut off and repeated. The `external_id` of a ticket is that of its position: asking for it again
finds the ticket. A ticket keeps its category, so a position that changes it gets another ticket, numbered.
"""

import logging
import time
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from gatepass_sdk import (
    APIStatusError,
    AsyncGatepass,
    BadRequest,
    Card,
    Conflict,
    ExternalIdTaken,
    NotFound,
    Ticket,
    TicketResult,
    ValidationError,
)

from .client import Order, Pretix
from .cursors import Cursors
from .positions import Position, positions_of

# Longer than a transaction of pretix. One that commits late shows orders with an earlier time than those already read.
OVERLAP: Final = timedelta(seconds=60)
# Longer than a call of the bridge before this one, killed, can go on in Gatepass and change what was just read.
SETTLED: Final = 10.0
# A refusal stays until somebody does something about it: adds places, resumes a card.
RETRY: Final = 30.0
REFUSALS: Final = (BadRequest, NotFound, Conflict, ValidationError)
CANCELLED: Final = "cancelled in pretix"
CHANGED: Final = "changed in pretix"

log = logging.getLogger("bridge")


class Orders:
    def __init__(
        self, pretix: Pretix, gatepass: AsyncGatepass, cursors: Cursors, event_id: str, categories: Mapping[str, str]
    ) -> None:
        self._pretix = pretix
        self._gatepass = gatepass
        self._cursors = cursors
        self._event_id = event_id
        self._categories = categories
        self._started = time.monotonic()
        self._retry_at = self._started
        # By order. Pages overlap, and an order changes in pretix for many reasons that are none here.
        self._applied: dict[str, tuple[Position, ...]] = {}

    async def step(self) -> None:
        """Follow all orders that changed since the last step."""
        if time.monotonic() >= self._retry_at:
            await self._apply([await self._pretix.order(code) for code in self._cursors.refused()])
            self._retry_at = time.monotonic() + RETRY
        began = None
        async for orders, generated in self._pretix.orders(self._cursors.read("orders")):
            began = began or datetime.fromisoformat(generated)
            await self._apply(orders)
        if began is not None:
            self._cursors.write("orders", (began - OVERLAP).isoformat())

    async def _apply(self, orders: Iterable[Order]) -> None:
        plans = {order["code"]: positions_of(order, self._categories) for order in orders if not order["testmode"]}
        plans = {code: plan for code, plan in plans.items() if self._applied.get(code) != plan}
        for code in plans:
            # Cut off or refused, it may be applied in part.
            self._applied.pop(code, None)
        refused = await self._make_so([position for plan in plans.values() for position in plan])
        for code, plan in plans.items():
            reasons = {str(refused[position]) for position in plan if position in refused}
            if not reasons:
                self._cursors.accept(code)
                if time.monotonic() > self._started + SETTLED:
                    self._applied[code] = plan
            elif self._cursors.refuse(code):
                log.warning("Gatepass refuses order %s, which is tried again: %s", code, "; ".join(reasons))

    async def _make_so(self, positions: list[Position]) -> dict[Position, APIStatusError]:
        """Give each position its ticket, or take it away; the refusals."""
        refused: dict[Position, APIStatusError] = {}
        for position in positions:
            if position.category_id is None:
                try:
                    await self._withdraw(position)
                except REFUSALS as refusal:
                    refused[position] = refusal
        wanted = {position.external_id(): position for position in positions if position.category_id}
        requests = [position.ticket(self._event_id) for position in wanted.values()]
        async for request, result in self._gatepass.tickets.create_all(requests):
            position = wanted[request.get("external_id") or ""]
            try:
                await self._follow(position, result)
            except REFUSALS as refusal:
                refused[position] = refusal
        return refused

    async def _withdraw(self, position: Position) -> None:
        ticket, _ = await self._latest(position)
        if ticket is not None and ticket.state != "cancelled":
            await self._gatepass.tickets.cancel(ticket.id, reason=CANCELLED)

    async def _follow(self, position: Position, result: TicketResult) -> None:
        """`result` is the answer to asking for the first ticket: a new one, the one from before, or a refusal."""
        ticket, number = result.data, 1
        if isinstance(result.refusal, ExternalIdTaken) or (ticket is not None and ticket.state == "cancelled"):
            ticket, number = await self._latest(position)
        elif result.refusal is not None:
            raise result.refusal
        if ticket is None:
            return
        if ticket.state == "issued" and ticket.category_id != position.category_id:
            ticket = await self._gatepass.tickets.cancel(ticket.id, reason=CHANGED)
        if ticket.activated_at is not None:
            return  # its owner is inside: another ticket would let in somebody else
        if ticket.state == "issued":
            await self._follow_holder(position, ticket)
        # Any other reason is that of the staff in the studio: they have the last word.
        elif ticket.cancel_reason in {CANCELLED, CHANGED}:
            await self._gatepass.tickets.create(**position.ticket(self._event_id, number + 1))

    async def _follow_holder(self, position: Position, ticket: Ticket) -> None:
        card = await self._card(position, ticket)
        if card is None:
            await self._gatepass.tickets.transfer(ticket.id, holder=position.holder)
        elif position.name and card.holder and card.holder.name != position.name:
            await self._gatepass.cards.update(card.id, holder={"name": position.name})

    async def _card(self, position: Position, ticket: Ticket) -> Card | None:
        """The card of the ticket; None if it is not that of this person."""
        if position.email is not None:
            held = self._gatepass.cards.list(email=position.email)
            return await anext((card async for card in held if card.id == ticket.card_id), None)
        card = await self._gatepass.cards.retrieve(ticket.card_id)
        return None if card.holder and card.holder.email else card

    async def _latest(self, position: Position) -> tuple[Ticket | None, int]:
        """The last ticket of a position, and its number; None and 0 if it never had one."""
        latest, number = None, 0
        while True:
            external_id = position.external_id(number + 1)
            found = await self._gatepass.tickets.list(event_id=self._event_id, external_id=external_id).first()
            if not found.data:
                return latest, number
            latest, number = found.data[0], number + 1
