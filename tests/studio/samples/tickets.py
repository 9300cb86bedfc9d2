"""What the routes of cards, tickets and imports need to be walked."""

from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.domain import cards, imports, tickets
from gatepass.domain.cards import CardStatus
from gatepass.domain.imports import ImportState
from tests import make
from tests.studio.walk import XSS

CARD = "POST /studio/{mode}/cards/{card_id}"
TICKET = "POST /studio/{mode}/tickets/{ticket_id}"
IMPORTS = "/studio/{mode}/events/{event_id}/imports"
WHY = {"reason": XSS}


async def ids(house: make.House) -> dict[str, str]:
    """A used ticket on a card, a suspended card, and imports that wait for columns, for a yes, and for regret."""
    async with house.db.transaction() as tx:
        made = await tickets.hand_out(
            tx, house.id, house.event_id, house.category_id, name=XSS, email="x@example.org", reference=new_id().hex,
            by=XSS, at=make.now(),
        )  # fmt: skip
        await tx.run(USE, house.id, made.ticket_id, XSS)
        suspended = await cards.issue(tx, house.id, by=make.BY, at=make.now(), holder_name=XSS)
        await cards.move(tx, house.id, suspended.id, CardStatus.SUSPENDED, by=make.BY, at=make.now(), reason=XSS)
    return {
        "event_id": str(house.event_id),
        "card_id": str(made.card_id),
        "ticket_id": str(made.ticket_id),
        "suspended_id": str(suspended.id),
        "import_id": str(await imported(house, ImportState.MAPPING)),
        "checked_id": str(await imported(house, ImportState.CHECKED)),
        "done_id": str(await imported(house, ImportState.DONE)),
    }


async def imported(house: make.House, until: ImportState) -> UUID:
    """An import that has come so far, with a row that cannot be imported."""
    async with house.db.transaction() as tx:
        import_id, _ = await imports.begin(tx, house.id, house.event_id, new_id(), XSS, by=make.BY, at=make.now())
        rows = [imports.Row(2, [XSS, XSS]), imports.Row(3, [XSS, XSS], imports.Fault.UNREADABLE)]
        await imports.stage(tx, house.id, import_id, rows, at=make.now())
        await imports.received(tx, house.id, import_id, [XSS, "Category"], at=make.now())
        if until is not ImportState.MAPPING:
            job = await imports.find(tx, house.id, import_id)
            await imports.name_columns(tx, house.id, job, ["name", ""], house.category_id, by=make.BY, at=make.now())
            await advanced(tx, house, import_id, ImportState.CHECKED)
        if until is ImportState.DONE:
            await imports.begin_applying(tx, house.id, import_id, by=make.BY, at=make.now())
            await advanced(tx, house, import_id, ImportState.DONE)
    return import_id


async def advanced(tx: Tx, house: make.House, import_id: UUID, until: ImportState) -> None:
    while (job := await imports.find(tx, house.id, import_id)).state is not until:
        await imports.advance(tx, job, at=make.now())


USE = "UPDATE ticket SET activated_at = now(), activated_gate = $3 WHERE organization_id = $1 AND id = $2"

FORMS = {
    f"{CARD}/suspend": WHY,
    f"{CARD}/revoke": WHY,
    f"{CARD}/print": {"days": "30"},
    "POST /studio/{mode}/cards/{suspended_id}/resume": WHY,
    f"{CARD}/replace": WHY,
    f"{TICKET}/cancel": WHY,
    f"{TICKET}/undo": WHY,
    f"POST {IMPORTS}": {"pasted": "name\nAnn"},
    f"POST {IMPORTS}/{{import_id}}/columns": {"column-0": "name", "column-1": "category"},
    f"POST {IMPORTS}/{{import_id}}/discard": {},
    f"POST {IMPORTS}/{{checked_id}}/apply": {},
    f"POST {IMPORTS}/{{done_id}}/undo": WHY,
    "POST /studio/{mode}/events/{event_id}/tickets/new": {"category": "General", "name": XSS},
}
DOWNLOADS = {f"GET {IMPORTS}/{{import_id}}/faulty", "GET /studio/{mode}/events/{event_id}/tickets/export"}
STREAMS = {f"GET {IMPORTS}/{{import_id}}/progress"}
