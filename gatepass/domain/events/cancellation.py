"""Calling an event off: what that means, said before it is done."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.refusals import InvalidRequest
from gatepass.domain.events.details import text_problem
from gatepass.domain.events.editing import move
from gatepass.domain.events.event import EventStatus
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import MessageType

LONGEST_REASON: Final = 500


@dataclass(frozen=True, slots=True)
class Consequences:
    """How many tickets become void, and how many messages go to how many endpoints."""

    tickets: int
    endpoints: int
    messages: int


async def consequences(tx: Tx, organization_id: UUID, event_id: UUID) -> Consequences:
    """Exact at any size: each sale and each cancellation keeps `quantity_sold`, so that no ticket must be counted."""
    types = (MessageType.EVENT_CANCELLED, MessageType.TICKET_CANCELLED)
    (row,) = await tx.rows(CONSEQUENCES, organization_id, event_id, Mode.LIVE, *types)
    messages = row["about_the_event"] + row["tickets"] * row["about_tickets"]
    return Consequences(row["tickets"], row["endpoints"], messages)


async def cancel(tx: Tx, organization_id: UUID, event_id: UUID, *, reason: str, by: str, at: datetime) -> None:
    """Cancel the event, and through the worker its tickets, with a reason that everybody is told."""
    said = reason.strip()
    problem = text_problem(said, LONGEST_REASON) if said else "Say why: everybody who holds a ticket will ask."
    if problem:
        raise InvalidRequest(problem, param="reason")
    await move(tx, organization_id, event_id, EventStatus.CANCELLED, by=by, at=at, reason=said)


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
