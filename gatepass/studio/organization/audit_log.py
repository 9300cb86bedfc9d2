"""The audit: who changed what, when, from where and why; and the same as a file."""

from collections.abc import AsyncGenerator, Iterable
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response, StreamingResponse

from gatepass.base.clock import rfc3339
from gatepass.base.csv_text import safe_line
from gatepass.base.paging import Place
from gatepass.domain import changes, keys
from gatepass.domain.actors import Actor, actors_named
from gatepass.domain.changes import Entry, Wanted
from gatepass.domain.staff import Permission
from gatepass.studio.drawing import ROOT
from gatepass.studio.entrance import may
from gatepass.studio.filters import Moment, asked
from gatepass.studio.form import Form, OptionalLine
from gatepass.studio.lists import PAGE, place_in, rest_of
from gatepass.studio.visit import UNPROCESSABLE, Visit

router = APIRouter(prefix="/audit")

Reading = Annotated[Visit, may(Permission.AUDIT_READ)]

# How many changes are in memory while a file is written.
BATCH: Final = 1_000
COLUMNS: Final = (
    "at", "actor", "actor_name", "subject", "subject_id", "action", "was", "becomes", "reason", "address", "id",
)  # fmt: skip
# Where the pages of changed things are. Keys are of a mode, so they are looked up.
PAGES: Final = {"card": "live/cards", "event": "live/events"}
SUBJECTS: Final = (
    "card", "event", "import", "invitation", "key", "member", "organization", "person", "signing_key", "ticket",
    "webhook_endpoint",
)  # fmt: skip


class Filter(BaseModel):
    actor: OptionalLine = ""
    subject: OptionalLine = ""
    subject_id: UUID | None = None
    action: OptionalLine = ""
    since: Moment | None = None
    until: Moment | None = None

    def wanted(self) -> Wanted:
        return Wanted(
            actor=self.actor or None,
            subject=self.subject or None,
            subject_id=self.subject_id,
            action=self.action or None,
            since=self.since,
            until=self.until,
        )


@router.get("")
async def listed(visit: Reading) -> Response:
    form, wanted = asked(visit, Filter)
    if wanted is None:
        return visit.page("audit/list.html", status=UNPROCESSABLE, **await _facts(visit, form, None, []))
    async with visit.db.reading() as tx:
        found, place = await changes.changes_of(
            tx, visit.organization_id, wanted.wanted(), after=place_in(visit), limit=PAGE
        )
    return visit.page("audit/list.html", **await _facts(visit, form, place, found))


@router.get("/export.csv")
async def export(visit: Reading) -> Response:
    form, wanted = asked(visit, Filter)
    if wanted is None:
        return visit.page("audit/list.html", status=UNPROCESSABLE, **await _facts(visit, form, None, []))
    name = f"gatepass-audit-{visit.at:%Y-%m-%d}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(_lines(visit, wanted.wanted()), media_type="text/csv; charset=utf-8", headers=headers)


async def _lines(visit: Visit, wanted: Wanted) -> AsyncGenerator[str]:
    """Batch after batch, each read on its own: however long somebody takes to read, no transaction waits for them."""
    yield safe_line(COLUMNS)
    place: Place | None = None
    while not visit.studio.stopping.is_set():
        async with visit.db.reading() as tx:
            found, place = await changes.changes_of(tx, visit.organization_id, wanted, after=place, limit=BATCH)
            actors = await actors_named(tx, visit.organization_id, [entry.actor for entry in found])
        yield "".join(safe_line(_cells(entry, actors[entry.actor].name)) for entry in found)
        if place is None:
            return


def _cells(entry: Entry, name: str) -> list[str | None]:
    return [
        rfc3339(entry.at),
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
    ]


def _subjects(form: Form) -> list[str]:
    """What is usually changed, and whatever was asked for."""
    return sorted({*SUBJECTS, form.value("subject")} - {""})


def _mentioned(form: Form, found: list[Entry]) -> list[str]:
    return [*(entry.actor for entry in found), *(text for text in [form.value("actor")] if text)]


def _named(actors: Iterable[Actor]) -> list[tuple[str, str]]:
    """By name; those who share one are told apart by what else is known of them."""
    called = [(actor.text, f"{actor.name} ({actor.detail})" if actor.detail else actor.name) for actor in actors]
    return sorted(called, key=lambda pair: pair[1].casefold())


async def _facts(visit: Visit, form: Form, place: Place | None, found: list[Entry]) -> dict[str, Any]:
    async with visit.db.reading() as tx:
        actors = await actors_named(tx, visit.organization_id, _mentioned(form, found))
        of_keys = await keys.names_of(
            tx, visit.organization_id, [entry.subject_id for entry in found if entry.subject == "key"]
        )
    urls = {id: f"{ROOT}/{key.mode}/keys/{id}" for id, key in of_keys.items()}
    urls |= {e.subject_id: f"{ROOT}/{PAGES[e.subject]}/{e.subject_id}" for e in found if e.subject in PAGES}
    return {
        "form": form,
        "entries": found,
        "actors": actors,
        "urls": urls,
        "actor_choices": [("", "Anybody"), *_named(actors.values())],
        "subject_choices": [("", "Anything"), *((one, one.replace("_", " ")) for one in _subjects(form))],
        "filtered": any(form.value(name) for name in Filter.model_fields),
        "query": visit.request.url.query,
        "newest_first": True,
        **rest_of(visit, "audit", place),
    }
