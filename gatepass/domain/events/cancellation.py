"""Cancelling an event, and its consequences, which are shown before it is done."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import InvalidRequest
from gatepass.domain.events.details import text_problem
from gatepass.domain.events.editing import change_status
from gatepass.domain.events.event import EventStatus
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import MessageType

LONGEST_REASON: Final = 500


@dataclass(frozen=True, slots=True)
class Consequences:
    """How many tickets are cancelled, and how many messages go to how many endpoints."""

    tickets: int
    endpoints: int
    messages: int


async def consequences(tx: Tx, organization_id: UUID, event_id: UUID) -> Consequences:
    """Exact at any size without counting tickets: each sale and each cancellation updates `quantity_sold`."""
    types = (MessageType.EVENT_CANCELLED, MessageType.TICKET_CANCELLED)
    (row,) = await tx.rows(CONSEQUENCES, organization_id, event_id, Mode.LIVE, *types)
    messages = row["about_the_event"] + row["tickets"] * row["about_tickets"]
    return Consequences(row["tickets"], row["endpoints"], messages)


async def cancel(tx: Tx, organization_id: UUID, event_id: UUID, *, reason: str, by: str, at: datetime) -> None:
    """Cancel the event, and through the worker its tickets. The reason is sent in the messages."""
    text = reason.strip()
    problem = text_problem(text, LONGEST_REASON) if text else "Say why: everybody who holds a ticket will ask."
    if problem:
        raise InvalidRequest(problem, param="reason")
    await change_status(tx, organization_id, event_id, EventStatus.CANCELLED, by=by, at=at, reason=text)


CONSEQUENCES: Final = """
    SELECT (SELECT coalesce(sum(c.quantity_sold), 0)::bigint
              FROM ticket_category c
             WHERE c.organization_id = $1
               AND c.event_id = $2) AS tickets,
           e.*
      FROM (SELECT count(*) FILTER (WHERE $4 = ANY (types) OR $5 = ANY (types)) AS endpoints,
                   count(*) FILTER (WHERE $4 = ANY (types)) AS about_the_event,
                   count(*) FILTER (WHERE $5 = ANY (types)) AS about_tickets
              FROM webhook_endpoint
             WHERE organization_id = $1
               AND mode = $3
               AND deleted_at IS NULL) e
"""
