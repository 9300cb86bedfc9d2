"""Handing out one ticket: on a card that exists, or on a new one that is made for it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.refusals import InvalidRequest
from gatepass.domain import cards
from gatepass.domain.cards import CardNotFound, CardRevoked, CardStatus
from gatepass.domain.tickets.issuing import issue
from gatepass.domain.tickets.ticket import CardHasTicket, SoldOut


@dataclass(frozen=True, slots=True)
class HandedOut:
    ticket_id: UUID
    card_id: UUID
    card_number: str


async def hand_out(
    tx: Tx,
    organization_id: UUID,
    event_id: UUID,
    category_id: UUID,
    *,
    card_number: str | None = None,
    name: str | None = None,
    email: str | None = None,
    reference: str | None = None,
    by: str,
    at: datetime,
) -> HandedOut:
    """Issue a ticket. A card that exists keeps its holder; a new one is made out to `name`."""
    if card_number:
        card = await cards.find_by_number(tx, organization_id, card_number)
        if card is None:
            raise CardNotFound(param="card_number")
        if card.status is CardStatus.REVOKED:
            raise CardRevoked(param="card_number")
    else:
        card = await cards.issue(tx, organization_id, by=by, at=at, holder_name=name or email, holder_email=email)
    try:
        ticket_id = await issue(tx, organization_id, event_id, category_id, card.id, by=by, at=at)
    except SoldOut:
        raise SoldOut(param="category") from None
    except CardHasTicket:
        raise CardHasTicket(param="card_number") from None
    if reference:
        await refer(tx, organization_id, event_id, ticket_id, reference)
    return HandedOut(ticket_id, card.id, card.number)


async def refer(tx: Tx, organization_id: UUID, event_id: UUID, ticket_id: UUID, reference: str) -> None:
    """Remember what the organizer's own system calls this ticket. A cancelled ticket leaves its name to the next."""
    if not await tx.run(REFER, organization_id, event_id, reference, ticket_id):
        raise InvalidRequest("A ticket of this event already has this reference.", param="reference")


REFER: Final = """
    INSERT INTO ticket_reference (organization_id, event_id, reference, ticket_id)
    VALUES ($1, $2, $3, $4)
    ON CONFLICT (organization_id, reference, event_id) DO UPDATE SET ticket_id = excluded.ticket_id
     WHERE EXISTS (SELECT FROM ticket t
                    WHERE t.organization_id = $1
                      AND t.id = ticket_reference.ticket_id
                      AND t.cancelled_at IS NOT NULL)
"""
