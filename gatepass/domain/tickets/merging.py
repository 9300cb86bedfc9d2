"""Merging two cards of one person: the unused tickets of the duplicate move to the other card; it is revoked."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.domain import audit_log, cards, webhooks
from gatepass.domain.cards import CardNotFound, CardStatus, HeldCard, HolderDetails, LinkState
from gatepass.domain.cards.issuance import TOUCH
from gatepass.domain.cards.messages import CardChange, tell_updated
from gatepass.domain.tickets.locking import lock_tickets_of_card
from gatepass.domain.tickets.replacement import MOVE_EXTERNAL_ID, MOVE_HOLDER, move_tickets

MERGED: Final = "merged into another card"
MERGES: Final = "took over another card"


async def merge(
    tx: Tx, organization_id: UUID, duplicate_id: UUID, kept_id: UUID, *, by: str, at: datetime, reason: str
) -> HeldCard:
    """The card that is kept. It takes the unused tickets, and the holder and external id that it lacks.

    Used tickets stay with the duplicate, because they are its history. A gate that scans the duplicate at the same
    moment is either first, and the ticket that it used stays, or finds the card revoked.
    """
    if duplicate_id == kept_id:
        raise InvalidRequest("This is the same card.", param="number")
    held = await cards.lock_all_held(tx, organization_id, [duplicate_id, kept_id])
    if len(held) < 2:
        raise CardNotFound
    duplicate, kept = held[duplicate_id], held[kept_id]
    if kept.status is not CardStatus.ACTIVE:
        raise InvalidRequest(f"That card is {kept.status}. Tickets move to an active card only.", param="number")
    if duplicate.status is CardStatus.REVOKED:
        raise NotAllowedFromHere("A card that is revoked cannot be merged any more.")
    tickets = await lock_tickets_of_card(tx, organization_id, duplicate_id)
    await _refuse_companions(tx, organization_id, duplicate_id, kept_id)
    # First, so that it says what happened; the revocation finds no link any more.
    await cards.end_link(tx, organization_id, duplicate_id, LinkState.CARD_REPLACED, at=at)
    await cards.change_status(tx, organization_id, duplicate_id, CardStatus.REVOKED, by=by, at=at, reason=reason)
    old, new = (duplicate_id, duplicate.number), (kept_id, kept.number)
    told = await move_tickets(tx, organization_id, tickets, old, new, by=by, at=at, reason=reason)
    await webhooks.emit(tx, organization_id, told, at=at)
    await _hand_over(tx, organization_id, duplicate, kept, at)
    await audit_log.record(
        tx, organization_id, "card", duplicate_id, MERGED, by=by, at=at, becomes=kept.number, reason=reason
    )
    await audit_log.record(
        tx, organization_id, "card", kept_id, MERGES, by=by, at=at, was=duplicate.number, reason=reason
    )
    return await cards.find(tx, organization_id, kept_id)


def _address(card: HeldCard) -> str | None:
    return HolderDetails(email=card.email).address


async def _refuse_companions(tx: Tx, organization_id: UUID, duplicate_id: UUID, kept_id: UUID) -> None:
    """Two tickets for one event let two people in: one card could use only one of them."""
    both = await tx.rows(FOR_BOTH, organization_id, duplicate_id, kept_id)
    if both:
        raise InvalidRequest(
            f"Both cards have a ticket for {both[0]['title']}, and one card enters once. "
            "Cancel one of the two, or leave the second card to a companion.",
            param="number",
        )


async def _hand_over(tx: Tx, organization_id: UUID, duplicate: HeldCard, kept: HeldCard, at: datetime) -> None:
    """The holder, if the kept card has none; the address, if it is the same person's; the external id likewise."""
    changed: list[CardChange] = []
    if kept.name is None and duplicate.name is not None:
        await tx.run(MOVE_HOLDER, organization_id, duplicate.id, kept.id)
        changed.append(CardChange.HOLDER)
        await tell_updated(tx, organization_id, duplicate.id, [CardChange.HOLDER], at=at)
    elif (address := _address(kept)) is not None and address == _address(duplicate):
        await cards.make_current(tx, organization_id, address, kept.id)
        changed += [CardChange.HOLDER] if kept.companion else []
    if kept.external_id is None and duplicate.external_id is not None:
        await tx.run(MOVE_EXTERNAL_ID, organization_id, duplicate.id, kept.id)
        changed.append(CardChange.EXTERNAL_ID)
        await tell_updated(tx, organization_id, duplicate.id, [CardChange.EXTERNAL_ID], at=at)
    if changed:
        await tx.run(TOUCH, organization_id, kept.id, at)
        await tell_updated(tx, organization_id, kept.id, changed, at=at)


FOR_BOTH: Final = """
    SELECT e.title
      FROM ticket t
      JOIN ticket k ON k.organization_id = $1 AND k.event_id = t.event_id AND k.card_id = $3 AND k.cancelled_at IS NULL
      JOIN event e ON e.organization_id = $1 AND e.id = t.event_id
     WHERE t.organization_id = $1
       AND t.card_id = $2
       AND t.activated_at IS NULL
       AND t.cancelled_at IS NULL
     LIMIT 1
"""
