"""Tickets: issued, activated once, or cancelled."""

from gatepass.domain.tickets.activation import ACTIVATED, Scan, Verdict, activate
from gatepass.domain.tickets.cancellation import cancel, cancel_some_of_cancelled_events, undo_activation
from gatepass.domain.tickets.card_history import Moment, MomentKind, history
from gatepass.domain.tickets.handing_out import HandedOut, hand_out
from gatepass.domain.tickets.issuing import issue
from gatepass.domain.tickets.listing import ListedTicket, export_some, find, of_card, of_event, referred
from gatepass.domain.tickets.loading import load
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
    "HandedOut",
    "IdempotencyKeyReused",
    "ListedTicket",
    "Moment",
    "MomentKind",
    "Scan",
    "SoldOut",
    "TicketCancelled",
    "TicketNotFound",
    "TicketState",
    "Verdict",
    "activate",
    "cancel",
    "cancel_some_of_cancelled_events",
    "export_some",
    "find",
    "hand_out",
    "history",
    "issue",
    "load",
    "of_card",
    "of_event",
    "referred",
    "replace",
    "undo_activation",
]
