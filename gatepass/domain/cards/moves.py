"""A card's moves: active and suspended and back; revoked is final."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.refusals import NotAllowedFromHere
from gatepass.domain import changes
from gatepass.domain.cards.card import CardNotFound, CardStatus

MOVES: Final[dict[CardStatus, frozenset[CardStatus]]] = {
    CardStatus.ACTIVE: frozenset({CardStatus.SUSPENDED, CardStatus.REVOKED}),
    CardStatus.SUSPENDED: frozenset({CardStatus.ACTIVE, CardStatus.REVOKED}),
    CardStatus.REVOKED: frozenset(),
}


async def move(
    tx: Tx, organization_id: UUID, card_id: UUID, to: CardStatus, *, by: str, at: datetime, reason: str
) -> None:
    """Suspend, resume or revoke a card; with actor, time and reason."""
    status = await tx.value(LOCK, organization_id, card_id)
    if status is None:
        raise CardNotFound
    if to not in MOVES[CardStatus(status)]:
        raise NotAllowedFromHere(f"A card that is {status} cannot become {to}.")
    await tx.run(MOVE, organization_id, card_id, to)
    await changes.note(tx, organization_id, "card", card_id, to, by=by, at=at, was=status, becomes=to, reason=reason)


LOCK: Final = """
    SELECT status
      FROM card
     WHERE organization_id = $1
       AND id = $2
       FOR NO KEY UPDATE
"""

MOVE: Final = """
    UPDATE card
       SET status = $3
     WHERE organization_id = $1
       AND id = $2
"""
