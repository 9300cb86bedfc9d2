"""Tickets: issued, activated once, or cancelled."""

from gatepass.domain.tickets.activation import ACTIVATED, Scan, ScanOutcome, activate
from gatepass.domain.tickets.bulk_load import load
from gatepass.domain.tickets.cancellation import cancel, cancel_some_of_cancelled_events, undo_activation
from gatepass.domain.tickets.card_history import CardHistoryEntry, HistoryKind, history
from gatepass.domain.tickets.issuance import IssuedTicket, issue, issue_with_card
from gatepass.domain.tickets.listing import ListedTicket, export_some, find, find_by_reference, of_card, of_event
from gatepass.domain.tickets.replacement import REPLACED, REPLACES, replace
from gatepass.domain.tickets.ticket import (
    AlreadyActivated,
    CardHasTicket,
    IdempotencyKeyReused,
    SoldOut,
    TicketCancelled,
    TicketNotFound,
    TicketState,
)

__all__ = [
    "ACTIVATED",
    "REPLACED",
    "REPLACES",
    "AlreadyActivated",
    "CardHasTicket",
    "CardHistoryEntry",
    "HistoryKind",
    "IdempotencyKeyReused",
    "IssuedTicket",
    "ListedTicket",
    "Scan",
    "ScanOutcome",
    "SoldOut",
    "TicketCancelled",
    "TicketNotFound",
    "TicketState",
    "activate",
    "cancel",
    "cancel_some_of_cancelled_events",
    "export_some",
    "find",
    "find_by_reference",
    "history",
    "issue",
    "issue_with_card",
    "load",
    "of_card",
    "of_event",
    "replace",
    "undo_activation",
]
