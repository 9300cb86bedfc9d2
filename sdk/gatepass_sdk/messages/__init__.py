"""Webhook messages: a class for each type, with its data. A type that this version does not know is an `OtherEvent`."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from gatepass_sdk.messages.cards import (
    CardIssued,
    CardReplaced,
    CardStatusChanged,
    CardUpdated,
    ChangedCardStatus,
    IssuedCard,
    ReplacedCard,
    UpdatedCard,
)
from gatepass_sdk.messages.events import (
    CancelledEvent,
    DeletedEvent,
    EndedEvent,
    EventCancelled,
    EventDeleted,
    EventEnded,
    EventPublished,
    EventUpdated,
    PublishedEvent,
    UpdatedCategory,
    UpdatedEvent,
)
from gatepass_sdk.messages.message import (
    Message,
    OtherEvent,
)
from gatepass_sdk.messages.tickets import (
    ActivatedTicket,
    CancelledTicket,
    DeniedScan,
    IssuedTicket,
    ScanConflict,
    ScanDenied,
    TicketActivated,
    TicketActivationUndone,
    TicketCancelled,
    TicketIssued,
    TicketTransferred,
    TransferredTicket,
    UndoneActivation,
)

WebhookEvent: TypeAlias = (
    TicketActivated
    | TicketCancelled
    | TicketIssued
    | TicketTransferred
    | TicketActivationUndone
    | EventCancelled
    | EventPublished
    | EventUpdated
    | EventEnded
    | EventDeleted
    | CardStatusChanged
    | CardIssued
    | CardReplaced
    | CardUpdated
    | ScanConflict
    | ScanDenied
    | OtherEvent
)

KINDS: Final[Mapping[str, type[WebhookEvent]]] = {
    "ticket.activated": TicketActivated,
    "ticket.cancelled": TicketCancelled,
    "ticket.issued": TicketIssued,
    "ticket.transferred": TicketTransferred,
    "ticket.activation_undone": TicketActivationUndone,
    "event.cancelled": EventCancelled,
    "event.published": EventPublished,
    "event.updated": EventUpdated,
    "event.ended": EventEnded,
    "event.deleted": EventDeleted,
    "card.status_changed": CardStatusChanged,
    "card.issued": CardIssued,
    "card.replaced": CardReplaced,
    "card.updated": CardUpdated,
    "scan.conflict": ScanConflict,
    "scan.denied": ScanDenied,
}

__all__ = [
    "KINDS",
    "ActivatedTicket",
    "CancelledEvent",
    "CancelledTicket",
    "CardIssued",
    "CardReplaced",
    "CardStatusChanged",
    "CardUpdated",
    "ChangedCardStatus",
    "DeletedEvent",
    "DeniedScan",
    "EndedEvent",
    "EventCancelled",
    "EventDeleted",
    "EventEnded",
    "EventPublished",
    "EventUpdated",
    "IssuedCard",
    "IssuedTicket",
    "Message",
    "OtherEvent",
    "PublishedEvent",
    "ReplacedCard",
    "ScanConflict",
    "ScanDenied",
    "TicketActivated",
    "TicketActivationUndone",
    "TicketCancelled",
    "TicketIssued",
    "TicketTransferred",
    "TransferredTicket",
    "UndoneActivation",
    "UpdatedCard",
    "UpdatedCategory",
    "UpdatedEvent",
    "WebhookEvent",
]
