"""A message: something that happened, as subscribers are told of it."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

import msgspec

from gatepass.base.clock import rfc3339

PREFIX: Final = "evt_"


class MessageType(StrEnum):
    TICKET_ACTIVATED = "ticket.activated"
    TICKET_CANCELLED = "ticket.cancelled"
    EVENT_CANCELLED = "event.cancelled"
    CARD_STATUS_CHANGED = "card.status_changed"
    SCAN_DENIED = "scan.denied"
    PING = "webhook.ping"


# What an endpoint may ask for; a ping comes when somebody tests it.
SUBSCRIBABLE: Final = frozenset(MessageType) - {MessageType.PING}


class Message(msgspec.Struct, frozen=True):
    """`ordering_key` is what it is about: of two messages about the same, the earlier is sent first."""

    id: UUID
    type: MessageType
    data: Mapping[str, Any]
    ordering_key: UUID | None = None

    def body(self, organization_id: UUID, at: datetime) -> bytes:
        """The bytes that are stored, signed and sent. `activation.sql` writes its own, in the same order."""
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
