"""What happens to tickets of a `World`."""

from typing import Any

from gatepass.base.database import Tx
from gatepass.domain import events, incidents, tickets
from gatepass.domain.tickets import TicketRequest
from tests.domain.live.test_totals import STATUSES, scan
from tests.domain.locks.world import ANN, BEN, NEW, World, by_now, why
from tests.factory import now


async def issue_to_ann(tx: Tx, world: World) -> str:
    return await issue(tx, world, "general", holder=ANN)


async def issue_to_ann_elsewhere(tx: Tx, world: World) -> str:
    request = TicketRequest(world.ids["draft"], world.ids["seats of draft"], holder=ANN)
    made = await tickets.issue(tx, world.id, request, **by_now())
    return f"{made.card_id} {made.made_card} {made.companion}"


async def issue_to_new_address(tx: Tx, world: World) -> str:
    return await issue(tx, world, "general", holder=NEW)


async def issue_on_spare_card(tx: Tx, world: World) -> str:
    return await issue(tx, world, "vip", card_id=world.ids["spare"])


async def issue(tx: Tx, world: World, category: str, **how: Any) -> str:
    request = TicketRequest(world.ids["night"], world.ids[category], external_id="order-1", **how)
    made = await tickets.issue(tx, world.id, request, **by_now())
    return f"{made.card_id} {made.is_new} {made.made_card} {made.companion}"


async def issue_many(tx: Tx, world: World) -> list[str]:
    """The two places that are left in one category, and others."""
    ids = world.ids
    requests = [
        TicketRequest(ids["matinee"], ids["seats of matinee"], holder=ANN),
        TicketRequest(ids["night"], ids["vip"], holder=BEN),
        TicketRequest(ids["night"], ids["vip"], card_id=ids["spare"]),
        TicketRequest(ids["draft"], ids["seats of draft"], card_id=ids["ann"]),
    ]
    made = await tickets.issue_all(tx, world.id, requests, **by_now())
    return [type(one).__name__ for one in made]


async def cancel(tx: Tx, world: World) -> None:
    await tickets.cancel(tx, world.id, world.ids["ticket of ann"], **why())


async def cancel_used(tx: Tx, world: World) -> None:
    await tickets.cancel(tx, world.id, world.ids["ticket of ben"], **why())


async def undo_activation(tx: Tx, world: World) -> None:
    await tickets.undo_activation(tx, world.id, world.ids["ticket of ben"], **why())


async def undo_what_is_unused(tx: Tx, world: World) -> None:
    await tickets.undo_activation(tx, world.id, world.ids["ticket of ann"], **why())


async def activate(tx: Tx, world: World) -> list[str]:
    scans = [scan(world.tenant, world.key_id, world.numbers[name]) for name in ("ann", "ben")]
    found = await tickets.activate(tx, scans, at=now(), statuses=STATUSES)
    return [one.verdict for one in found if one]


async def transfer_to_new_address(tx: Tx, world: World) -> None:
    await tickets.transfer(tx, world.id, world.ids["ticket of ann"], holder=NEW, **by_now())


async def transfer_to_ben(tx: Tx, world: World) -> None:
    await tickets.transfer(tx, world.id, world.ids["matinee of ann"], holder=BEN, **by_now())


async def transfer_to_spare_card(tx: Tx, world: World) -> None:
    await tickets.transfer(tx, world.id, world.ids["ticket of ann"], card_id=world.ids["spare"], **by_now())


async def replace_ann(tx: Tx, world: World) -> None:
    await tickets.replace(tx, world.id, world.ids["ann"], **why())


async def replace_ben(tx: Tx, world: World) -> None:
    await tickets.replace(tx, world.id, world.ids["ben"], **why())


async def merge_ann_into_spare(tx: Tx, world: World) -> str:
    return (await tickets.merge(tx, world.id, world.ids["ann"], world.ids["spare"], **why())).name or ""


async def merge_spare_into_ben(tx: Tx, world: World) -> None:
    await tickets.merge(tx, world.id, world.ids["spare"], world.ids["ben"], **why())


async def merge_ben_into_ann(tx: Tx, world: World) -> None:
    await tickets.merge(tx, world.id, world.ids["ben"], world.ids["ann"], **why())


async def cancel_some(tx: Tx, world: World) -> None:
    """How many depends on what others hold at the moment; the next round has the rest."""
    await tickets.cancel_some_of_cancelled_events(tx, at=now())


async def cancel_matinee(tx: Tx, world: World) -> None:
    await events.cancel(tx, world.id, world.ids["matinee"], **why())


async def let_ann_in(tx: Tx, world: World) -> bool:
    found = await incidents.let_in(tx, world.id, world.ids["ann"], world.ids["night"], **why())
    return found.activated
