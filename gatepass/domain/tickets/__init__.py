"""Tickets: issued, activated once, or cancelled."""

from gatepass.domain.tickets.activation import ACTIVATED, Scan, Verdict, activate
from gatepass.domain.tickets.cancellation import cancel, cancel_some_of_cancelled_events, undo_activation
from gatepass.domain.tickets.issuing import issue
from gatepass.domain.tickets.loading import load
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
    "AlreadyActivated",
    "CardHasTicket",
    "IdempotencyKeyReused",
    "Scan",
    "SoldOut",
    "TicketCancelled",
    "TicketNotFound",
    "TicketState",
    "Verdict",
    "activate",
    "cancel",
    "cancel_some_of_cancelled_events",
    "issue",
    "load",
    "undo_activation",
]
