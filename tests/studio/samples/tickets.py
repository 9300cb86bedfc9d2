"""Ids and forms for the routes of cards, tickets and imports."""

from datetime import timedelta
from uuid import UUID

from nacl.signing import SigningKey

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.domain import card_exports, cards, imports, mailings, tickets
from gatepass.domain.card_exports import ExportKind, ExportOrder, Selection
from gatepass.domain.cards import CardStatus, HolderDetails, NewCard, phones
from gatepass.domain.imports import ImportState
from gatepass.domain.tickets import TicketRequest
from tests import factory
from tests.studio.routes import XSS

CARD = "POST /studio/{mode}/cards/{card_id}"
TICKET = "POST /studio/{mode}/tickets/{ticket_id}"
FILES = "/studio/{mode}/events/{event_id}/cards"
IMPORTS = "/studio/{mode}/events/{event_id}/imports"
TOMORROW = str((factory.now() + timedelta(days=1)).date())
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
        key = bytes(SigningKey.generate().verify_key)
        await phones.enrol(tx, tenant.id, made.card_id, key, factory.VAULT, at=factory.now())
        await cards.issue_all(tx, tenant.id, [NewCard(number=MERGED_INTO)], by=factory.BY, at=factory.now())
        unused = await tickets.issue(
            tx, tenant.id, TicketRequest(tenant.event_id, tenant.category_id), by=factory.BY, at=factory.now()
        )
        suspended = await cards.issue(tx, tenant.id, by=factory.BY, at=factory.now(), holder_name=XSS)
        await cards.change_status(
            tx, tenant.id, suspended.id, CardStatus.SUSPENDED, by=factory.BY, at=factory.now(), reason=XSS
        )
    return {
        "event_id": str(tenant.event_id),
        "card_id": str(made.card_id),
        "ticket_id": str(made.ticket_id),
        "suspended_id": str(suspended.id),
        "unused_id": str(unused.ticket_id),
        "export_id": str(await ordered(tenant)),
        "ready_id": str(await made_file(tenant)),
        "mailing_id": str(await mailed(tenant)),
        "import_id": str(await imported(tenant, ImportState.MAPPING)),
        "checked_id": str(await imported(tenant, ImportState.CHECKED)),
        "done_id": str(await imported(tenant, ImportState.DONE)),
    }


async def ordered(tenant: factory.Tenant) -> UUID:
    """A file of cards that is being made."""
    until = factory.now() + timedelta(days=1)
    wanted = ExportOrder(tenant.event_id, ExportKind.CSV, None, Selection(), until, with_names=True)
    async with tenant.db.transaction() as tx:
        return await card_exports.begin(tx, tenant.id, new_id(), wanted, by=XSS, at=factory.now())


async def made_file(tenant: factory.Tenant) -> UUID:
    """A file of cards that can be downloaded."""
    export_id = await ordered(tenant)
    async with tenant.db.transaction() as tx:
        job = await card_exports.find(tx, tenant.id, export_id)
        batch = await card_exports.next_batch(
            tx, job, factory.VAULT, public_url="https://cards.example", cell="a", at=factory.now()
        )
        await card_exports.record_csv(tx, job, batch, factory.VAULT, at=factory.now())
    return export_id


async def mailed(tenant: factory.Tenant) -> UUID:
    """A mailing whose letters are being sent, with one that was refused. Another may begin."""
    mailing_id = new_id()
    async with tenant.db.transaction() as tx:
        await mailings.begin(tx, tenant.id, mailing_id, tenant.event_id, None, by=factory.BY, at=factory.now())
        await tx.run(ALL_WRITTEN, tenant.id, mailing_id)
        await tx.run(REFUSED_LETTER, tenant.id, new_id(), mailing_id, XSS, factory.now())
    return mailing_id


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
    f"{CARD}/phone/end": WHY,
    f"{CARD}/print": {"days": "30"},
    f"{CARD}/link": {},
    f"{CARD}/link/change": {},
    "POST /studio/{mode}/cards/{suspended_id}/resume": WHY,
    f"{CARD}/replace": WHY,
    f"{CARD}/holder": {"name": XSS, "email": "y@example.org"},
    f"{CARD}/merge": WHY | {"number": MERGED_INTO},
    f"{TICKET}/cancel": WHY,
    f"{TICKET}/undo": WHY,
    f"POST {FILES}": {
        "form_key": str(new_id()),
        "format": "a4",
        "until": str((factory.now() + timedelta(days=2)).date()),
    },
    f"POST {FILES}/{{export_id}}/stop": {},
    f"POST {FILES}/{{ready_id}}/delete": {},
    "POST /studio/{mode}/tickets/{unused_id}/print": {"layout": "badge", "days": "30"},
    f"POST {IMPORTS}": {"pasted": "name\nAnn"},
    "POST /studio/{mode}/events/{event_id}/mail": {"id": str(new_id()), "tickets": ""},
    "POST /studio/{mode}/events/{event_id}/mail/{mailing_id}/stop": {},
    f"POST {IMPORTS}/{{import_id}}/columns": {"column-0": "name", "column-1": "category"},
    f"POST {IMPORTS}/{{import_id}}/discard": {},
    f"POST {IMPORTS}/{{checked_id}}/apply": {},
    f"POST {IMPORTS}/{{done_id}}/undo": WHY,
    "POST /studio/{mode}/events/{event_id}/tickets/new": {"category": "General", "name": XSS},
}
# The letter alone, for a frame of the page.
PARTS = {"GET /studio/{mode}/events/{event_id}/mail/letter"}
DOWNLOADS = {
    f"GET {IMPORTS}/{{import_id}}/faulty",
    "GET /studio/{mode}/events/{event_id}/tickets/export",
    f"GET {FILES}/{{ready_id}}/file",
    "POST /studio/{mode}/tickets/{unused_id}/print",
}
STREAMS = {f"GET {IMPORTS}/{{import_id}}/progress"}

ALL_WRITTEN = "UPDATE mailing SET state = 'written' WHERE organization_id = $1 AND id = $2"
REFUSED_LETTER = """
    INSERT INTO letter (organization_id, id, kind, language, address, sealed_values, card_id, mailing_id, urgent, state,
                        written_at, next_at, expires_at, answer, ended_at)
    VALUES ($1, $2, 'card', 'en', $4, '', $2, $3, false, 'refused', $5, $5, $5, $4, $5)
"""
