"""Registering a card for a person, as a membership system does, and correcting its holder."""

from collections.abc import Collection
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import ChangedMeanwhile, InvalidRequest, NotAllowedFromHere
from gatepass.base.ids import digest_of
from gatepass.domain import audit_log
from gatepass.domain.cards import messages
from gatepass.domain.cards.card import (
    CardStatus,
    CardSuspended,
    ExternalIdTaken,
    HolderHasCard,
    is_number,
    normalize_number,
)
from gatepass.domain.cards.holders import HolderDetails
from gatepass.domain.cards.issuance import ERASE, TOUCH, NewCard, issue_all
from gatepass.domain.cards.locking import lock_held, lock_person
from gatepass.domain.cards.messages import CardChange
from gatepass.domain.cards.people import PersonCard, cards_of_people, list_current, make_current, take_turns, unlist
from gatepass.domain.cards.search import HeldCard, find


async def register(
    tx: Tx,
    organization_id: UUID,
    *,
    holder: HolderDetails | None = None,
    number: str | None = None,
    external_id: str | None = None,
    by: str,
    at: datetime,
) -> tuple[UUID, bool]:
    """The id of a card, and whether it is new. A person who has a card keeps it, and it gets the external id."""
    if number is not None:
        number = normalize_number(number)
        if not is_number(number):
            raise InvalidRequest("number is not a card number; a digit may be mistyped.", param="number")
    address = holder.address if holder else None
    await take_turns(tx, organization_id, [word for word in (address, external_id) if word])
    fingerprint = digest_of(number, holder and holder.name, address, holder and holder.locale)
    if external_id is not None:
        known = await _known(tx, organization_id, external_id, fingerprint)
        if known is not None:
            return known, False
    person = await lock_person(tx, organization_id, address) if address else None
    if person is not None:
        await _keep(tx, organization_id, person, number, external_id)
        card_id, is_new = person.card_id, False
    else:
        new = NewCard(holder=holder, number=number, external_id=external_id)
        await issue_all(tx, organization_id, [new], by=by, at=at)
        card_id, is_new = new.id, True
    if external_id is not None:
        await tx.run(NAME, organization_id, external_id, card_id, fingerprint)
        await tx.run(TOUCH, organization_id, card_id, at)
    if external_id is not None and not is_new:
        await messages.tell_updated(tx, organization_id, card_id, [CardChange.EXTERNAL_ID], at=at)
    return card_id, is_new


async def _known(tx: Tx, organization_id: UUID, external_id: str, fingerprint: UUID) -> UUID | None:
    rows = await tx.rows(KNOWN, organization_id, external_id)
    if rows and rows[0]["fingerprint"] != fingerprint:
        raise ExternalIdTaken(param="external_id")
    return rows[0]["card_id"] if rows else None


async def _keep(tx: Tx, organization_id: UUID, person: PersonCard, number: str | None, external_id: str | None) -> None:
    """The person's card stays theirs, if it can be what is asked for."""
    if person.status is CardStatus.SUSPENDED:
        raise CardSuspended(param="holder")
    card = await find(tx, organization_id, person.card_id)
    if number not in (None, card.number) or (external_id is not None and card.external_id is not None):
        raise HolderHasCard(param="holder", card_id=str(card.id))
    if not person.listed:
        await list_current(tx, organization_id, {person.email: person.card_id})


async def correct_holder(
    tx: Tx,
    organization_id: UUID,
    card_id: UUID,
    holder: HolderDetails | None,
    *,
    versions: Collection[str] | None = None,
    by: str,
    at: datetime,
) -> HeldCard:
    """Write down who holds the card; None erases the holder. With `versions` the card must still be one of them."""
    address = holder.address if holder else None
    card = await lock_held(tx, organization_id, card_id, address=address)
    require_version(card, versions)
    if card.status is CardStatus.REVOKED:
        raise NotAllowedFromHere("A card that is revoked is not changed any more.")
    if holder is None:
        await tx.run(ERASE, organization_id, card_id)
    else:
        await tx.run(HOLD, organization_id, card_id, holder.shown_name, holder.email, holder.locale)
        await _readdress(tx, organization_id, card, address)
    await tx.run(TOUCH, organization_id, card_id, at)
    action = "holder erased" if holder is None else "holder corrected"
    await audit_log.record(tx, organization_id, "card", card_id, action, by=by, at=at)
    await messages.tell_updated(tx, organization_id, card_id, [CardChange.HOLDER], at=at)
    return await find(tx, organization_id, card_id)


def require_version(card: HeldCard, versions: Collection[str] | None) -> None:
    """Refuse unless the card is still one of the versions that somebody has seen."""
    if versions is not None and card.version not in versions:
        raise ChangedMeanwhile


async def _readdress(tx: Tx, organization_id: UUID, card: HeldCard, address: str | None) -> None:
    """List the new address. A companion's card stays one while the address is that of its person."""
    was = HolderDetails(email=card.email).address
    if address == was:
        return
    if address is None:
        await unlist(tx, organization_id, card.id)
        return
    person = (await cards_of_people(tx, organization_id, [address])).get(address)
    if person is not None and person.card_id != card.id and person.status is not CardStatus.REVOKED:
        raise HolderHasCard(param="holder", card_id=str(person.card_id))
    await make_current(tx, organization_id, address, card.id)


KNOWN: Final = """
    SELECT card_id, fingerprint
      FROM card_external_id
     WHERE organization_id = $1
       AND external_id = $2
"""

NAME: Final = """
    INSERT INTO card_external_id (organization_id, external_id, card_id, fingerprint)
    VALUES ($1, $2, $3, $4)
"""

HOLD: Final = """
    INSERT INTO card_holder (organization_id, card_id, name, email, locale)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (organization_id, card_id)
    DO UPDATE SET name = excluded.name, email = excluded.email, locale = excluded.locale
"""
