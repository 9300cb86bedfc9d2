"""The messages about tickets. `activation.sql` makes those about scans."""

from datetime import datetime
from uuid import UUID

from gatepass.base.clock import rfc3339
from gatepass.base.ids import new_id
from gatepass.domain.tickets.request import TicketRequest
from gatepass.domain.webhooks import Message, MessageType


def issued(request: TicketRequest, card_id: UUID, card_number: str, *, at: datetime) -> Message:
    data = {
        "ticket_id": str(request.ticket_id),
        "event_id": str(request.event_id),
        "category_id": str(request.category_id),
        "card_id": str(card_id),
        "card_number": card_number,
        "external_id": request.external_id,
        "issued_at": rfc3339(at),
    }
    return Message(new_id(), MessageType.TICKET_ISSUED, data, ordering_key=request.ticket_id)


def transferred(
    ticket_id: UUID, event_id: UUID, old: tuple[UUID, str], new: tuple[UUID, str], *, at: datetime
) -> Message:
    """Of the old card and the new one, each by id and number."""
    data = {
        "ticket_id": str(ticket_id),
        "event_id": str(event_id),
        "card_id": str(new[0]),
        "card_number": new[1],
        "previous_card_id": str(old[0]),
        "previous_card_number": old[1],
        "transferred_at": rfc3339(at),
    }
    return Message(new_id(), MessageType.TICKET_TRANSFERRED, data, ordering_key=ticket_id)


def activation_undone(ticket_id: UUID, event_id: UUID, card_number: str, *, at: datetime, reason: str) -> Message:
    data = {
        "ticket_id": str(ticket_id),
        "event_id": str(event_id),
        "card_number": card_number,
        "undone_at": rfc3339(at),
        "reason": reason,
    }
    return Message(new_id(), MessageType.TICKET_ACTIVATION_UNDONE, data, ordering_key=ticket_id)


def cancelled(
    ticket_id: UUID, event_id: UUID, card_number: str, *, was_activated: bool, at: datetime, reason: str
) -> Message:
    data = {
        "ticket_id": str(ticket_id),
        "event_id": str(event_id),
        "card_number": card_number,
        "cancelled_at": rfc3339(at),
        "reason": reason,
        "was_activated": was_activated,
    }
    return Message(new_id(), MessageType.TICKET_CANCELLED, data, ordering_key=ticket_id)
