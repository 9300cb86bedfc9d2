"""Issuing cards. Serials are random, so that a card number does not disclose how many cards there are."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from struct import iter_unpack
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.domain import audit_log, twin
from gatepass.domain.cards import messages
from gatepass.domain.cards.card import SERIALS, Card, CardNumberTaken, CardStatus, format_number
from gatepass.domain.cards.holders import HolderDetails
from gatepass.domain.cards.links import LinkState, end_link
from gatepass.domain.cards.locking import lock_held
from gatepass.domain.cards.messages import CardChange
from gatepass.domain.cards.people import cards_of_people, list_addresses, list_current, take_turns
from gatepass.domain.mail.cleanup import erase_of_card


@dataclass(frozen=True, slots=True)
class NewCard:
    """A card to be made: for nobody, for the person of an address, or for a companion of theirs.

    The caller stores the external id; here it is only told.
    """

    id: UUID = field(default_factory=new_id)
    holder: HolderDetails | None = None
    companion: bool = False
    number: str | None = None
    external_id: str | None = None


async def issue(
    tx: Tx,
    organization_id: UUID,
    *,
    by: str,
    at: datetime,
    holder_name: str | None = None,
    holder_email: str | None = None,
) -> Card:
    """Make a card. For an address that has a card already it is a companion's."""
    holder = HolderDetails(holder_name, holder_email) if holder_name or holder_email else None
    companion = False
    if holder is not None and holder.address:
        await take_turns(tx, organization_id, [holder.address])
        person = (await cards_of_people(tx, organization_id, [holder.address])).get(holder.address)
        companion = person is not None and person.status is not CardStatus.REVOKED
    new = NewCard(holder=holder, companion=companion)
    numbers = await issue_all(tx, organization_id, [new], by=by, at=at)
    return Card(new.id, numbers[new.id], CardStatus.ACTIVE, at)


async def issue_all(
    tx: Tx,
    organization_id: UUID,
    wanted: Sequence[NewCard],
    *,
    by: str | None,
    at: datetime,
    superseded: Collection[str] | None = None,
) -> Mapping[UUID, str]:
    """Make these cards with their holders; the numbers by id. Without `by` the audit log says nothing of each.

    The caller has decided who is a companion, while no other transaction could name the same people. `superseded` are
    those of the addresses that had a card which is revoked now, if the caller knows them.
    """
    if not wanted:
        return {}
    numbers = await _make(tx, organization_id, wanted, at)
    held = [(new.id, new.holder, new.companion) for new in wanted if new.holder is not None]
    if held:
        people = [holder for _, holder, _ in held]
        await tx.run(
            HOLD, organization_id, [id for id, _, _ in held], [holder.shown_name for holder in people],
            [holder.email for holder in people], [holder.locale for holder in people],
        )  # fmt: skip
        current = {holder.address: id for id, holder, companion in held if holder.address and not companion}
        companions = {id: holder.address for id, holder, companion in held if holder.address and companion}
        if current:
            await list_current(tx, organization_id, current, superseded)
        if companions:
            await list_addresses(tx, organization_id, companions, companions=True)
    if by is not None:
        await audit_log.record_all(
            tx, organization_id, "card", list(numbers), "issued", by=by, at=at, becomes=CardStatus.ACTIVE
        )
    await messages.tell_issued(tx, organization_id, numbers, {new.id: new.external_id for new in wanted}, at=at)
    return numbers


async def _make(tx: Tx, organization_id: UUID, wanted: Sequence[NewCard], at: datetime) -> dict[UUID, str]:
    """A random serial is taken with a chance of 1 in 10^11 for each card that exists; then another one is drawn."""
    prefix = await tx.value(PREFIX, organization_id)
    missing, numbers = list(wanted), dict[UUID, str]()
    while missing:
        serials = _random_serials(len(missing))
        drawn = {
            new.id: new.number or format_number(prefix, serial) for new, serial in zip(missing, serials, strict=True)
        }
        rows = await tx.rows(ISSUE, organization_id, list(drawn), list(drawn.values()), at)
        numbers |= {row["id"]: drawn[row["id"]] for row in rows}
        missing = [new for new in missing if new.id not in numbers]
        if any(new.number for new in missing):
            raise CardNumberTaken(param="number")
    await twin.require_room(tx, organization_id)
    return numbers


def _random_serials(count: int) -> list[int]:
    """One call of the system for all of them. Of 2^64 numbers each serial has as many, to one part in 10^8."""
    return [number % SERIALS for (number,) in iter_unpack("Q", secrets.token_bytes(8 * count))]


async def erase_holder(tx: Tx, organization_id: UUID, card_id: UUID, *, by: str, at: datetime) -> None:
    """Delete the person's data and letters, and end the link that they have. The card and its history stay."""
    await lock_held(tx, organization_id, card_id)
    if await tx.run(ERASE, organization_id, card_id):
        await erase_of_card(tx, organization_id, card_id)
        await end_link(tx, organization_id, card_id, LinkState.ENDED, at=at)
        await tx.run(TOUCH, organization_id, card_id, at)
        await audit_log.record(tx, organization_id, "card", card_id, "holder erased", by=by, at=at)
        await messages.tell_updated(tx, organization_id, card_id, [CardChange.HOLDER], at=at)


PREFIX: Final = """
    SELECT card_prefix
      FROM organization
     WHERE id = $1
"""

ISSUE: Final = """
    INSERT INTO card (organization_id, id, number, issued_at)
    SELECT $1, u.id, u.number, $4
      FROM unnest($2::uuid[], $3::text[]) u (id, number)
    ON CONFLICT (organization_id, number) DO NOTHING
    RETURNING id
"""

HOLD: Final = """
    INSERT INTO card_holder (organization_id, card_id, name, email, locale)
    SELECT $1, u.card_id, u.name, u.email, u.locale
      FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[]) u (card_id, name, email, locale)
"""

# Its address goes with it.
ERASE: Final = """
    DELETE FROM card_holder
     WHERE organization_id = $1
       AND card_id = $2
"""

TOUCH: Final = """
    UPDATE card
       SET changed_at = $3
     WHERE organization_id = $1
       AND id = $2
"""
