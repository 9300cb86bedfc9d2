"""What happens to events of a `World`, and to an import for one of them."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Final

from gatepass.base.database import Tx
from gatepass.domain import cards, events, imports, tickets
from gatepass.domain.cards import HolderDetails
from gatepass.domain.events import CategoryDetails, EventStatus
from gatepass.domain.events.details import Details
from gatepass.domain.imports import Import, apply, undo
from tests.domain.locks.ticket_verbs import issue
from tests.domain.locks.world import GUESTS, NEW, World, by_now, why
from tests.factory import now


async def cancel_night(tx: Tx, world: World) -> None:
    await events.cancel(tx, world.id, world.ids["night"], **why())


async def end_night(tx: Tx, world: World) -> None:
    await events.change_status(tx, world.id, world.ids["night"], EventStatus.ENDED, **by_now())


async def publish_draft(tx: Tx, world: World) -> None:
    await events.publish(tx, world.id, world.ids["draft"], **by_now())


async def delete_draft(tx: Tx, world: World) -> None:
    await events.delete(tx, world.id, world.ids["draft"], **by_now())


async def edit_night(tx: Tx, world: World) -> list[str]:
    event = await events.lock(tx, world.id, world.ids["night"])
    return await events.edit(tx, world.id, event.id, replace(Details.of(event), title="Later"), **by_now())


async def shrink_vip(tx: Tx, world: World) -> None:
    """To the one that is sold."""
    details = CategoryDetails("VIP", Decimal(9), "EUR", 1, "vip")
    await events.edit_category(tx, world.id, world.ids["night"], world.ids["vip"], details, **by_now())


async def remove_vip(tx: Tx, world: World) -> None:
    await events.remove_category(tx, world.id, world.ids["night"], world.ids["vip"], **by_now())


async def make_over(tx: Tx, world: World) -> None:
    await tx.run(OVER, world.id, world.ids["night"], now() - timedelta(days=30))


async def end_past(tx: Tx, world: World) -> None:
    await events.end_past_events(tx, at=now())


async def end_by_itself(tx: Tx, world: World) -> None:
    await make_over(tx, world)
    await end_past(tx, world)


async def reopen_night(tx: Tx, world: World) -> None:
    await events.reopen(tx, world.id, world.ids["night"], **by_now())


OVER: Final = """
    UPDATE event
       SET starts_at = $3::timestamptz - interval '1 hour', ends_at = $3
     WHERE organization_id = $1
       AND id = $2
"""


async def check_guests(tx: Tx, world: World) -> None:
    """An import for the matinee whose rows are good."""
    import_id, _ = await imports.begin(tx, world.id, world.ids["matinee"], world.ids["night"], "guests.csv", **by_now())
    sheet = imports.CsvReader()
    await imports.stage(tx, world.id, import_id, sheet.feed(GUESTS.encode()) + sheet.end(), at=now())
    await imports.received(tx, world.id, import_id, sheet.header, at=now())
    job = await imports.find(tx, world.id, import_id)
    category = world.ids["seats of matinee"]
    await imports.name_columns(tx, world.id, job, imports.guess(job.header), category, companions=False, **by_now())
    while (job := await imports.find(tx, world.id, import_id)).state.is_under_way:
        await imports.advance(tx, job, at=now())
    await imports.begin_applying(tx, world.id, import_id, **by_now())
    world.ids["import"] = import_id


async def apply_guests(tx: Tx, world: World) -> None:
    job = await _under_way(tx, world)
    if job is not None:
        categories = (await events.find(tx, world.id, job.event_id)).categories
        await apply.apply_some(tx, job, categories, at=now())


async def _under_way(tx: Tx, world: World) -> Import | None:
    """The import as a worker has it: locked, and where the worker before has left it."""
    await tx.run(
        "SELECT FROM import WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE", world.id, world.ids["import"]
    )
    job = await imports.find(tx, world.id, world.ids["import"])
    return job if job.state.is_under_way else None


async def guests_are_in(tx: Tx, world: World) -> None:
    """They have tickets, which are about to be taken back."""
    await check_guests(tx, world)
    while (job := await imports.find(tx, world.id, world.ids["import"])).state.is_under_way:
        await imports.advance(tx, job, at=now())
    for name in ("ivo", "jan"):
        (card,) = await cards.find_by_email(tx, world.id, f"{name}@example.org", after=None, limit=1)
        (ticket,) = await tickets.of_card(tx, world.id, card.id)
        world.ids |= {name: card.id, f"ticket of {name}": ticket.id}
    await imports.begin_undoing(tx, world.id, world.ids["import"], **why())


async def undo_guests(tx: Tx, world: World) -> None:
    job = await _under_way(tx, world)
    if job is not None:
        await undo.undo_some(tx, job, at=now())


# What happens to a guest of the import while it is undone.


async def replace_ivo(tx: Tx, world: World) -> None:
    await tickets.replace(tx, world.id, world.ids["ivo"], **why())


async def transfer_ivo(tx: Tx, world: World) -> None:
    await tickets.transfer(tx, world.id, world.ids["ticket of ivo"], holder=NEW, **by_now())


async def cancel_ivo(tx: Tx, world: World) -> None:
    await tickets.cancel(tx, world.id, world.ids["ticket of ivo"], **why())


async def issue_to_ivo(tx: Tx, world: World) -> str:
    return await issue(tx, world, "general", holder=HolderDetails("Ivo", "ivo@example.org"))


async def register_ivo(tx: Tx, world: World) -> str:
    holder = HolderDetails("Ivo", "ivo@example.org")
    card_id, is_new = await cards.register(tx, world.id, holder=holder, external_id="member-3", **by_now())
    return f"{card_id} {is_new}"


async def cancel_ticket_of_matinee(tx: Tx, world: World) -> None:
    await tickets.cancel(tx, world.id, world.ids["matinee of ann"], **why())


LOCK: Final = "SELECT FROM import WHERE organization_id = $1 AND id = $2 FOR NO KEY UPDATE"
