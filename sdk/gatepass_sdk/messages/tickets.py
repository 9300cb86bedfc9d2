"""Messages about tickets and scans."""

from dataclasses import dataclass
from datetime import datetime

from gatepass_sdk._decode import Model
from gatepass_sdk._models.incident import Incident
from gatepass_sdk.messages.message import Message


@dataclass(frozen=True, kw_only=True)
class ActivatedTicket(Model):
    """`occurred_at` is when the gate scanned, if it said so."""

    ticket_id: str
    event_id: str
    card_number: str
    activated_at: datetime
    occurred_at: datetime | None = None
    gate: str | None = None
    scanner_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class TicketActivated(Message):
    """A scan activated a ticket."""

    data: ActivatedTicket


@dataclass(frozen=True, kw_only=True)
class CancelledTicket(Model):
    ticket_id: str
    event_id: str
    card_number: str
    cancelled_at: datetime
    reason: str | None
    was_activated: bool


@dataclass(frozen=True, kw_only=True)
class TicketCancelled(Message):
    """A ticket was cancelled, alone or with its event."""

    data: CancelledTicket


@dataclass(frozen=True, kw_only=True)
class IssuedTicket(Model):
    ticket_id: str
    event_id: str
    category_id: str
    card_id: str
    card_number: str
    external_id: str | None
    issued_at: datetime


@dataclass(frozen=True, kw_only=True)
class TicketIssued(Message):
    """A ticket was issued."""

    data: IssuedTicket


@dataclass(frozen=True, kw_only=True)
class TransferredTicket(Model):
    ticket_id: str
    event_id: str
    card_id: str
    card_number: str
    previous_card_id: str
    previous_card_number: str
    transferred_at: datetime


@dataclass(frozen=True, kw_only=True)
class TicketTransferred(Message):
    """An unused ticket moved to another card."""

    data: TransferredTicket


@dataclass(frozen=True, kw_only=True)
class UndoneActivation(Model):
    ticket_id: str
    event_id: str
    card_number: str
    undone_at: datetime
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class TicketActivationUndone(Message):
    """A ticket that was activated can be used again."""

    data: UndoneActivation


@dataclass(frozen=True, kw_only=True)
class DeniedScan(Model):
    """`code` is that of the answer."""

    event_id: str
    card_number: str
    ticket_id: str | None
    code: str
    gate: str | None
    scanner_id: str | None
    occurred_at: datetime | None
    denied_at: datetime


@dataclass(frozen=True, kw_only=True)
class ScanDenied(Message):
    """A scan was refused."""

    data: DeniedScan


@dataclass(frozen=True, kw_only=True)
class ScanConflict(Message):
    """Somebody was let in against the record: an incident was opened."""

    data: Incident
