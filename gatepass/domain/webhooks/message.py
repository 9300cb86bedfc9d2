"""A message: a change, as it is sent to subscribers."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

import msgspec

from gatepass.base.clock import rfc3339

PREFIX: Final = "evt_"
# How long bodies are kept (`history` in the schema). An older message cannot be sent any more.
KEPT: Final = timedelta(days=30)


class MessageType(StrEnum):
    TICKET_ACTIVATED = "ticket.activated"
    TICKET_CANCELLED = "ticket.cancelled"
    TICKET_ISSUED = "ticket.issued"
    TICKET_TRANSFERRED = "ticket.transferred"
    TICKET_ACTIVATION_UNDONE = "ticket.activation_undone"
    EVENT_CANCELLED = "event.cancelled"
    EVENT_PUBLISHED = "event.published"
    EVENT_UPDATED = "event.updated"
    EVENT_ENDED = "event.ended"
    EVENT_DELETED = "event.deleted"
    CARD_STATUS_CHANGED = "card.status_changed"
    CARD_ISSUED = "card.issued"
    CARD_REPLACED = "card.replaced"
    CARD_UPDATED = "card.updated"
    SCAN_CONFLICT = "scan.conflict"
    SCAN_DENIED = "scan.denied"
    PING = "webhook.ping"


# The types that an endpoint may subscribe to; a ping is sent only as a test.
SUBSCRIBABLE: Final = frozenset(MessageType) - {MessageType.PING}


class Message(msgspec.Struct, frozen=True):
    """Two messages with the same `ordering_key` are sent in the order in which they were written."""

    id: UUID
    type: MessageType
    data: Mapping[str, Any]
    ordering_key: UUID | None = None

    def body(self, organization_id: UUID, at: datetime) -> bytes:
        """The bytes that are stored, signed and sent. `activation.sql` writes its own, in the same field order."""
        return msgspec.json.encode(
            {
                "id": written_id(self.id),
                "type": self.type,
                "organization_id": str(organization_id),
                "created_at": rfc3339(at),
                "data": self.data,
            }
        )


def written_id(id: UUID) -> str:
    return PREFIX + id.hex
