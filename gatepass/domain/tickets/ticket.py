"""A ticket: the right of one card to enter one event, once."""

from enum import StrEnum

from gatepass.base.errors import Refusal


class TicketState(StrEnum):
    ISSUED = "issued"
    ACTIVATED = "activated"
    CANCELLED = "cancelled"


class TicketNotFound(Refusal):
    """This card has no ticket for the event."""

    code = "ticket_not_found"


class TicketCancelled(Refusal):
    """This ticket was cancelled."""

    code = "ticket_cancelled"


class StaticCodeRefused(Refusal):
    """This event takes only codes that a phone made itself a moment ago."""

    code = "static_code_refused"


class AlreadyActivated(Refusal):
    """This ticket has already been activated."""

    code = "already_activated"


class OutsideWindow(Refusal):
    """Tickets of this category do not open the gate at this time."""

    code = "outside_window"


class WrongGate(Refusal):
    """Tickets of this category do not open this gate."""

    code = "wrong_gate"


class SoldOut(Refusal):
    """This category is sold out."""

    code = "sold_out"


class CardHasTicket(Refusal):
    """This card already holds a ticket for the event."""

    code = "card_has_ticket"


class GuestHasTicket(Refusal):
    """This guest already has a ticket for the event."""

    code = "guest_has_ticket"
