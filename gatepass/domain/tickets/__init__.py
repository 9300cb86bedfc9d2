"""Tickets: issued, activated once, or cancelled."""

from gatepass.domain.tickets.activation import ACTIVATED, Scan, ScanOutcome, activate
from gatepass.domain.tickets.bulk_load import load
from gatepass.domain.tickets.cancellation import cancel, cancel_some_of_cancelled_events, undo_activation
from gatepass.domain.tickets.card_history import CardHistoryEntry, HistoryKind, history
from gatepass.domain.tickets.issuance import IssuedTicket, check_all, issue, issue_all
from gatepass.domain.tickets.listing import (
    ListedTicket,
    TicketFilter,
    export_some,
    find,
    find_all,
    list_tickets,
    of_card,
)
from gatepass.domain.tickets.merging import MERGED, MERGES, merge
from gatepass.domain.tickets.replacement import REPLACED, REPLACES, replace
from gatepass.domain.tickets.request import TicketRequest
from gatepass.domain.tickets.search import find_by_reference, search_in_event
from gatepass.domain.tickets.situation import KnownTicket
from gatepass.domain.tickets.ticket import (
    AlreadyActivated,
    CardHasTicket,
    GuestHasTicket,
    OutsideWindow,
    SoldOut,
    StaticCodeRefused,
    TicketCancelled,
    TicketNotFound,
    TicketState,
    WrongGate,
)
from gatepass.domain.tickets.transfer import transfer

__all__ = [
    "ACTIVATED",
    "MERGED",
    "MERGES",
    "REPLACED",
    "REPLACES",
    "AlreadyActivated",
    "CardHasTicket",
    "CardHistoryEntry",
    "GuestHasTicket",
    "HistoryKind",
    "IssuedTicket",
    "KnownTicket",
    "ListedTicket",
    "OutsideWindow",
    "Scan",
    "ScanOutcome",
    "SoldOut",
    "StaticCodeRefused",
    "TicketCancelled",
    "TicketFilter",
    "TicketNotFound",
    "TicketRequest",
    "TicketState",
    "WrongGate",
    "activate",
    "cancel",
    "cancel_some_of_cancelled_events",
    "check_all",
    "export_some",
    "find",
    "find_all",
    "find_by_reference",
    "history",
    "issue",
    "issue_all",
    "list_tickets",
    "load",
    "merge",
    "of_card",
    "replace",
    "search_in_event",
    "transfer",
    "undo_activation",
]
