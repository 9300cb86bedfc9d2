"""One card on paper, at once: the card with one of its tickets."""

from datetime import datetime
from uuid import UUID

from gatepass.base.clock import rfc3339
from gatepass.base.database import Tx
from gatepass.base.encryption import Vault
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import audit_log, cards, events, tickets, twin
from gatepass.domain.card_exports.batch import printed_event, takes_phones_only
from gatepass.domain.card_sheets import PrintedCard, PrintedEvent
from gatepass.domain.cards import CardStatus
from gatepass.domain.tickets import TicketState


async def print_one(
    tx: Tx, organization_id: UUID, card_id: UUID, ticket_id: UUID, vault: Vault,
    *, until: datetime, with_name: bool, by: str, at: datetime,
) -> tuple[PrintedEvent, PrintedCard]:  # fmt: skip
    """What to draw. The token admits anybody who has it, so the audit log records it."""
    card = await cards.find(tx, organization_id, card_id)
    if card.status is not CardStatus.ACTIVE:
        raise NotAllowedFromHere(f"A card that is {card.status} is not printed: gates would refuse it.")
    ticket = await tickets.find(tx, organization_id, ticket_id)
    if ticket.card_id != card_id or ticket.state is not TicketState.ISSUED:
        raise NotAllowedFromHere("This card has no unused ticket of that kind.")
    event = (await events.find(tx, organization_id, ticket.event_id)).event
    sign = await cards.signer(tx, organization_id, vault, at=at)
    await audit_log.record(
        tx, organization_id, "card", card_id, "printed", by=by, at=at, becomes=f"token until {rfc3339(until)}"
    )
    name = (card.name or "") if with_name else ""
    without_code = await takes_phones_only(tx, organization_id, ticket.event_id)
    token = None if without_code else sign(card.number, until)
    printed = PrintedCard(card.number, ticket.category_name, name, token)
    return printed_event(event, is_sandbox=twin.is_twin(organization_id)), printed
