"""The audit log: who changed what, who signed in and who was refused, when, from where and why; also as a CSV file."""

from collections.abc import AsyncGenerator, Iterable
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from gatepass.base.clock import with_offset
from gatepass.base.paging import START, Place
from gatepass.domain import audit_log
from gatepass.domain.actors import Actor, find_actors
from gatepass.domain.audit_log import AuditEntry, AuditFilter
from gatepass.domain.audit_subjects import SubjectName, find_subjects
from gatepass.domain.staff import Permission, team
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import UNPROCESSABLE, Context
from gatepass.studio.web.csv_download import csv_download
from gatepass.studio.web.forms import Form, OptionalLine
from gatepass.studio.web.paging import PAGE, Moment, filters_in, place_in, rest_of

router = APIRouter(prefix="/audit")

Reader = Annotated[Context, may(Permission.AUDIT_READ)]
ConfirmedReader = Annotated[Context, may(Permission.AUDIT_READ, confirmed=True)]

# People of the team whom the filter offers, besides those in the list.
MOST_OF_TEAM: Final = 200
# Rows in memory while a file is written.
BATCH: Final = 1_000
COLUMNS: Final = (
    "at", "actor", "actor_name", "subject", "subject_id", "action", "was", "becomes", "reason", "address", "id",
    "subject_name",
)  # fmt: skip
SUBJECTS: Final = (
    "card", "card_export", "device", "event", "import", "invitation", "key", "member", "organization", "pairing_code",
    "person", "signing_key", "ticket", "webhook_endpoint",
)  # fmt: skip
# Offered beside the field for the action: what people look for after an incident.
ACTIONS: Final = (
    "signed in", "sign in failed", "signed out", "confirmation failed", "access refused", "session ended",
    "password set", "passkey added", "one time codes off", "recovery code used", "tickets with holders exported",
    "audit log exported", "role changed", "issued", "revoked",
)  # fmt: skip


class AuditLogFilter(BaseModel):
    actor: OptionalLine = ""
    subject: OptionalLine = ""
    subject_id: UUID | None = None
    action: OptionalLine = ""
    since: Moment | None = None
    until: Moment | None = None

    def wanted(self) -> AuditFilter:
        return AuditFilter(
            actor=self.actor or None,
            subject=self.subject or None,
            subject_id=self.subject_id,
            action=self.action or None,
            since=self.since,
            until=self.until,
        )


@router.get("")
async def listed(context: Reader) -> Response:
    form, wanted = filters_in(context, AuditLogFilter)
    if wanted is None:
        return context.page("audit_log/list.html", status=UNPROCESSABLE, **await _facts(context, form, None, []))
    async with context.db.autocommit() as tx:
        found, place = await audit_log.entries_of(
            tx, context.organization_id, wanted.wanted(), after=place_in(context), limit=PAGE
        )
    return context.page("audit_log/list.html", **await _facts(context, form, place, found))


@router.get("/export.csv")
async def export(context: ConfirmedReader) -> Response:
    form, wanted = filters_in(context, AuditLogFilter)
    if wanted is None:
        return context.page("audit_log/list.html", status=UNPROCESSABLE, **await _facts(context, form, None, []))
    await context.note_export("organization", context.organization_id, "audit_log")
    return csv_download(f"gatepass-audit-{context.at:%Y-%m-%d}", COLUMNS, _batches(context, wanted.wanted()))


async def _batches(context: Context, wanted: AuditFilter) -> AsyncGenerator[list[list[str | None]]]:
    """Each batch is read on its own: no transaction waits for a slow download."""
    place: Place | None = None
    while not context.studio.stopping.is_set():
        async with context.db.autocommit() as tx:
            found, place = await audit_log.entries_of(tx, context.organization_id, wanted, after=place, limit=BATCH)
            actors = await find_actors(tx, context.organization_id, [entry.actor for entry in found])
            subjects = context.sight.of(await find_subjects(tx, context.organization_id, found))
        yield [
            _cells(entry, actors[entry.actor].name, subjects.get(entry.subject_id), context.zone)
            for entry in context.sight.of(found)
        ]
        if place is None:
            return


def _cells(entry: AuditEntry, name: str, subject: SubjectName | None, zone: str) -> list[str | None]:
    return [
        with_offset(entry.at, zone),
        entry.actor,
        name,
        entry.subject,
        str(entry.subject_id),
        entry.action,
        entry.was,
        entry.becomes,
        entry.reason,
        None if entry.address is None else str(entry.address),
        str(entry.id),
        subject.name if subject else None,
    ]


def _subjects(form: Form) -> list[str]:
    """The known subjects, and the one in the filter."""
    return sorted({*SUBJECTS, form.value("subject")} - {""})


def _mentioned(form: Form, found: list[AuditEntry]) -> list[str]:
    return [*(entry.actor for entry in found), *(text for text in [form.value("actor")] if text)]


def _named(actors: Iterable[Actor]) -> list[tuple[str, str]]:
    """Sorted by name; the detail tells actors with the same name apart."""
    called = [(actor.text, f"{actor.name} ({actor.detail})" if actor.detail else actor.name) for actor in actors]
    return sorted(called, key=lambda pair: pair[1].casefold())


async def _facts(context: Context, form: Form, place: Place | None, found: list[AuditEntry]) -> dict[str, Any]:
    async with context.db.autocommit() as tx:
        members = await team.members(tx, context.organization_id, after=START, limit=MOST_OF_TEAM)
        texts = [*_mentioned(form, found), *(f"person {member.person_id}" for member in members)]
        actors = await find_actors(tx, context.organization_id, texts)
        subjects = await find_subjects(tx, context.organization_id, found)
    return {
        "form": form,
        "entries": found,
        "actors": actors,
        "subjects": subjects,
        "actor_choices": [("", "Anybody"), *_named(actors.values())],
        "subject_choices": [("", "Anything"), *((one, one.replace("_", " ")) for one in _subjects(form))],
        "actions": ACTIONS,
        "filtered": any(form.value(name) for name in AuditLogFilter.model_fields),
        "query": context.request.url.query,
        "newest_first": True,
        **rest_of(context, "audit", place),
    }
