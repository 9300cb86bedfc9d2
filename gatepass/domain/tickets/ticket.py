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


class AlreadyActivated(Refusal):
    """This ticket has already been activated."""

    code = "already_activated"


class SoldOut(Refusal):
    """This category is sold out."""

    code = "sold_out"


class CardHasTicket(Refusal):
    """This card already holds a ticket for the event."""

    code = "card_has_ticket"


class GuestHasTicket(Refusal):
    """This guest already has a ticket for the event."""

    code = "guest_has_ticket"
