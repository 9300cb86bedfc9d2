"""What happens to cards of a `World`, and to the people who hold them."""

from nacl.signing import SigningKey

from gatepass.base.database import Tx
from gatepass.domain import cards
from gatepass.domain.cards import CardStatus, phones
from tests.domain.locks.world import ANN, BEN, NEW, World, by_now, why
from tests.factory import VAULT, now


async def register_ann(tx: Tx, world: World) -> str:
    card_id, is_new = await cards.register(tx, world.id, holder=ANN, **by_now())
    return f"{card_id} {is_new}"


async def register_member(tx: Tx, world: World) -> str:
    card_id, is_new = await cards.register(tx, world.id, holder=ANN, external_id="member-1", **by_now())
    card = await cards.find(tx, world.id, card_id)
    return f"{card_id} {is_new} {card.status} {card.external_id}"


async def register_ben_as_member(tx: Tx, world: World) -> str:
    card_id, is_new = await cards.register(tx, world.id, holder=BEN, external_id="member-2", **by_now())
    card = await cards.find(tx, world.id, card_id)
    return f"{card_id} {is_new} {card.status} {card.external_id}"


async def card_for_ann(tx: Tx, world: World) -> None:
    await cards.issue(tx, world.id, holder_name="Ann", holder_email="ann@example.org", **by_now())


async def correct_ann(tx: Tx, world: World) -> str:
    return (await cards.correct_holder(tx, world.id, world.ids["ann"], NEW, **by_now())).email or ""


async def correct_ben(tx: Tx, world: World) -> str:
    """To the address that Ann has."""
    return (await cards.correct_holder(tx, world.id, world.ids["ben"], ANN, **by_now())).email or ""


async def forget_ann(tx: Tx, world: World) -> None:
    await cards.correct_holder(tx, world.id, world.ids["ann"], None, **by_now())


async def erase_ann(tx: Tx, world: World) -> None:
    await cards.erase_holder(tx, world.id, world.ids["ann"], **by_now())


async def suspend_ann(tx: Tx, world: World) -> None:
    await cards.change_status(tx, world.id, world.ids["ann"], CardStatus.SUSPENDED, **why())


async def revoke_ann(tx: Tx, world: World) -> None:
    await cards.change_status(tx, world.id, world.ids["ann"], CardStatus.REVOKED, **why())


async def revoke_spare(tx: Tx, world: World) -> None:
    await cards.change_status(tx, world.id, world.ids["spare"], CardStatus.REVOKED, **why())


async def change_link(tx: Tx, world: World) -> None:
    await cards.change_link(tx, world.id, world.ids["ann"], VAULT, world.tenant.cell, **by_now())


async def sign_anew(tx: Tx, world: World) -> None:
    """Only its own organization opens a signing key, not a copy."""
    await cards.rotate(tx, world.id, VAULT, **by_now())


async def enrol_phone(tx: Tx, world: World) -> int:
    key = bytes(SigningKey(b"1" * 32).verify_key)
    return (await phones.enrol(tx, world.id, world.ids["ann"], key, VAULT, at=now())).enrolment
