"""The messages about cards. None says anything about a holder but that the holder was changed."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from gatepass.base.clock import rfc3339
from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.domain import webhooks
from gatepass.domain.cards.card import CardStatus
from gatepass.domain.cards.search import find
from gatepass.domain.webhooks import Message, MessageType


class CardChange(StrEnum):
    """What `card.updated` says of a card. A holder is not told, and has to be asked for."""

    HOLDER = "holder"
    EXTERNAL_ID = "external_id"


async def tell_issued(
    tx: Tx, organization_id: UUID, numbers: Mapping[UUID, str], external_ids: Mapping[UUID, str | None], *, at: datetime
) -> None:
    wanted = await webhooks.subscribed_types(tx, organization_id, at=at)
    if MessageType.CARD_ISSUED not in wanted:
        return
    messages = [
        Message(
            new_id(),
            MessageType.CARD_ISSUED,
            {
                "card_id": str(card_id),
                "card_number": number,
                "status": CardStatus.ACTIVE,
                "external_id": external_ids.get(card_id),
                "issued_at": rfc3339(at),
            },
            ordering_key=card_id,
        )
        for card_id, number in numbers.items()
    ]
    await webhooks.emit(tx, organization_id, messages, at=at, wanted=wanted)


async def tell_updated(
    tx: Tx, organization_id: UUID, card_id: UUID, changed: Sequence[CardChange], *, at: datetime
) -> None:
    wanted = await webhooks.subscribed_types(tx, organization_id, at=at)
    if MessageType.CARD_UPDATED not in wanted:
        return
    card = await find(tx, organization_id, card_id)
    data = {
        "card_id": str(card_id),
        "card_number": card.number,
        "external_id": card.external_id,
        "changed": list(changed),
        "updated_at": rfc3339(at),
    }
    message = Message(new_id(), MessageType.CARD_UPDATED, data, ordering_key=card_id)
    await webhooks.emit(tx, organization_id, [message], at=at, wanted=wanted)


def status_changed(
    card_id: UUID, number: str, was: CardStatus, status: CardStatus, *, at: datetime, reason: str
) -> Message:
    data = {
        "card_id": str(card_id),
        "card_number": number,
        "previous_status": was,
        "status": status,
        "changed_at": rfc3339(at),
        "reason": reason,
    }
    return Message(new_id(), MessageType.CARD_STATUS_CHANGED, data, ordering_key=card_id)


def replaced(
    old: tuple[UUID, str], new: tuple[UUID, str], external_id: str | None, *, at: datetime, reason: str
) -> Message:
    """Of an old card and a new one, each by id and number. The external id is the new card's from now on."""
    data = {
        "card_id": str(old[0]),
        "card_number": old[1],
        "new_card_id": str(new[0]),
        "new_card_number": new[1],
        "external_id": external_id,
        "replaced_at": rfc3339(at),
        "reason": reason,
    }
    return Message(new_id(), MessageType.CARD_REPLACED, data, ordering_key=old[0])
