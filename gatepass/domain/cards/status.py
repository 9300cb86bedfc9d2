"""The status of a card: active, suspended, active again; revoked is final."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import audit_log, webhooks
from gatepass.domain.cards import messages
from gatepass.domain.cards.card import CardNotFound, CardStatus
from gatepass.domain.cards.links import LinkState, end_link

STATUS_TRANSITIONS: Final[dict[CardStatus, frozenset[CardStatus]]] = {
    CardStatus.ACTIVE: frozenset({CardStatus.SUSPENDED, CardStatus.REVOKED}),
    CardStatus.SUSPENDED: frozenset({CardStatus.ACTIVE, CardStatus.REVOKED}),
    CardStatus.REVOKED: frozenset(),
}


async def change_status(
    tx: Tx, organization_id: UUID, card_id: UUID, to: CardStatus, *, by: str, at: datetime, reason: str
) -> None:
    """Suspend, resume or revoke a card, with actor, time and reason, and emit a message."""
    found = await tx.rows(LOCK, organization_id, card_id)
    if not found:
        raise CardNotFound
    status, number = CardStatus(found[0]["status"]), found[0]["number"]
    if to not in STATUS_TRANSITIONS[status]:
        raise NotAllowedFromHere(f"A card that is {status} cannot become {to}.")
    await tx.run(CHANGE_STATUS, organization_id, card_id, to, at)
    if to is CardStatus.REVOKED:
        await end_link(tx, organization_id, card_id, LinkState.ENDED, at=at)
    await audit_log.record(
        tx, organization_id, "card", card_id, to, by=by, at=at, was=status, becomes=to, reason=reason
    )
    message = messages.status_changed(card_id, number, status, to, at=at, reason=reason)
    await webhooks.emit(tx, organization_id, [message], at=at)


LOCK: Final = """
    SELECT status, number
      FROM card
     WHERE organization_id = $1
       AND id = $2
       FOR NO KEY UPDATE
"""

CHANGE_STATUS: Final = """
    UPDATE card
       SET status = $3, changed_at = $4
     WHERE organization_id = $1
       AND id = $2
"""
