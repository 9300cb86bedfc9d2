"""Ids and forms for the routes of cards, tickets and imports."""

from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.domain import cards, imports, tickets
from gatepass.domain.cards import CardStatus, HolderDetails, NewCard
from gatepass.domain.imports import ImportState
from gatepass.domain.tickets import TicketRequest
from tests import factory
from tests.studio.routes import XSS

CARD = "POST /studio/{mode}/cards/{card_id}"
TICKET = "POST /studio/{mode}/tickets/{ticket_id}"
IMPORTS = "/studio/{mode}/events/{event_id}/imports"
WHY = {"reason": XSS}
MERGED_INTO = cards.format_number("SVC", 4_711)


async def ids(tenant: factory.Tenant) -> dict[str, str]:
    """A used ticket on a card, a suspended card, and imports that can be mapped, applied and undone."""
    async with tenant.db.transaction() as tx:
        request = TicketRequest(
            tenant.event_id, tenant.category_id, holder=HolderDetails(XSS, "x@example.org"), external_id=new_id().hex
        )
        made = await tickets.issue(tx, tenant.id, request, by=XSS, at=factory.now())
        await tx.run(USE, tenant.id, made.ticket_id, XSS)
        await cards.issue_all(tx, tenant.id, [NewCard(number=MERGED_INTO)], by=factory.BY, at=factory.now())
        suspended = await cards.issue(tx, tenant.id, by=factory.BY, at=factory.now(), holder_name=XSS)
        await cards.change_status(
            tx, tenant.id, suspended.id, CardStatus.SUSPENDED, by=factory.BY, at=factory.now(), reason=XSS
        )
    return {
        "event_id": str(tenant.event_id),
        "card_id": str(made.card_id),
        "ticket_id": str(made.ticket_id),
        "suspended_id": str(suspended.id),
        "import_id": str(await imported(tenant, ImportState.MAPPING)),
        "checked_id": str(await imported(tenant, ImportState.CHECKED)),
        "done_id": str(await imported(tenant, ImportState.DONE)),
    }


async def imported(tenant: factory.Tenant, until: ImportState) -> UUID:
    """An import in the state `until`, with a row that cannot be imported."""
    async with tenant.db.transaction() as tx:
        import_id, _ = await imports.begin(
            tx, tenant.id, tenant.event_id, new_id(), XSS, by=factory.BY, at=factory.now()
        )
        rows = [imports.CsvRow(2, [XSS, XSS]), imports.CsvRow(3, [XSS, XSS], imports.Fault.UNREADABLE)]
        await imports.stage(tx, tenant.id, import_id, rows, at=factory.now())
        await imports.received(tx, tenant.id, import_id, [XSS, "Category"], at=factory.now())
        if until is not ImportState.MAPPING:
            job = await imports.find(tx, tenant.id, import_id)
            await imports.name_columns(
                tx, tenant.id, job, ["name", ""], tenant.category_id, by=factory.BY, at=factory.now()
            )
            await advanced(tx, tenant, import_id, ImportState.CHECKED)
        if until is ImportState.DONE:
            await imports.begin_applying(tx, tenant.id, import_id, by=factory.BY, at=factory.now())
            await advanced(tx, tenant, import_id, ImportState.DONE)
    return import_id


async def advanced(tx: Tx, tenant: factory.Tenant, import_id: UUID, until: ImportState) -> None:
    while (job := await imports.find(tx, tenant.id, import_id)).state is not until:
        await imports.advance(tx, job, at=factory.now())


USE = "UPDATE ticket SET activated_at = now(), activated_gate = $3 WHERE organization_id = $1 AND id = $2"

FORMS = {
    f"{CARD}/suspend": WHY,
    f"{CARD}/revoke": WHY,
    f"{CARD}/print": {"days": "30"},
    "POST /studio/{mode}/cards/{suspended_id}/resume": WHY,
    f"{CARD}/replace": WHY,
    f"{CARD}/holder": {"name": XSS, "email": "y@example.org"},
    f"{CARD}/merge": WHY | {"number": MERGED_INTO},
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
