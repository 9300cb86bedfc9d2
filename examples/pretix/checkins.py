"""Activated tickets become check-ins in pretix, from the feed of messages, which loses nothing while we are away."""

import asyncio
import logging
from contextlib import suppress
from datetime import datetime

from gatepass_sdk import AsyncGatepass, NotFound, Ticket, TicketActivated, TicketActivationUndone, WebhookEvent

from .client import Pretix
from .cursors import Cursors
from .orders import SETTLED
from .positions import position_id

log = logging.getLogger("bridge")


class Checkins:
    def __init__(self, pretix: Pretix, gatepass: AsyncGatepass, cursors: Cursors, event_id: str) -> None:
        self._pretix = pretix
        self._gatepass = gatepass
        self._cursors = cursors
        self._event_id = event_id

    async def step(self) -> None:
        """Follow all messages since the last step."""
        cursor = self._cursors.read("messages")
        if cursor is None:
            await self._begin()
        async for page in self._gatepass.webhook_events.list(after=cursor).pages():
            for message in page.data:
                with suppress(NotFound):  # a ticket of an organization that was erased meanwhile
                    await self._follow(message)
            if page.next_cursor is not None:
                self._cursors.write("messages", page.next_cursor)

    async def _begin(self) -> None:
        """Check in everybody who is inside already: the feed is written from its first reading on."""
        await self._gatepass.webhook_events.list(limit=1).first()
        # Scans that began before it was read end without a message.
        await asyncio.sleep(SETTLED)
        async for ticket in self._gatepass.tickets.list(event_id=self._event_id):
            if ticket.activated_at is not None:
                await self._check_in(ticket, ticket.activated_at)

    async def _follow(self, message: WebhookEvent) -> None:
        if isinstance(message, TicketActivated) and message.data.event_id == self._event_id:
            ticket = await self._gatepass.tickets.retrieve(message.data.ticket_id)
            await self._check_in(ticket, message.data.activated_at, message.data.occurred_at)
        elif isinstance(message, TicketActivationUndone) and message.data.event_id == self._event_id:
            log.warning("The activation of ticket %s was undone; pretix keeps its check-in.", message.data.ticket_id)

    async def _check_in(self, ticket: Ticket, activated_at: datetime, occurred_at: datetime | None = None) -> None:
        position = position_id(ticket.external_id)
        if position is not None:
            nonce = f"{ticket.id} {activated_at.isoformat()}"
            await self._pretix.check_in(position, nonce=nonce, at=occurred_at or activated_at)
