"""The request log: every call made with a key, and what to do about those that were refused."""

import re
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel
from starlette.responses import RedirectResponse, Response

from gatepass.base import ids
from gatepass.base.database import Tx
from gatepass.base.ids import request_text, strict_uuid
from gatepass.base.paging import Place
from gatepass.domain import audit, events, keys
from gatepass.domain.audit import LoggedCall
from gatepass.domain.explanation import EXPLAINED, explain
from gatepass.domain.keys import OPENS, Mode
from gatepass.domain.staff import Permission
from gatepass.studio.drawing import ROOT
from gatepass.studio.entrance import PageNotFound, may
from gatepass.studio.filters import Moment, asked
from gatepass.studio.form import Form, OptionalLine
from gatepass.studio.lists import PAGE, place_in, rest_of
from gatepass.studio.visit import UNPROCESSABLE, Visit

router = APIRouter(prefix="/requests")

Reading = Annotated[Visit, may(Permission.REQUESTS_READ)]

STATUS: Final = re.compile(r"([2-5])xx|([2-5]\d\d)", re.ASCII | re.IGNORECASE)
OPENED: Final = [opened for endpoints in OPENS.values() for opened in endpoints]
# A call to a path that is none is kept under this name.
PATHS: Final = sorted({*(opened.path for opened in OPENED), "(unknown)"})
DOES: Final = {(opened.method, opened.path): opened.does for opened in OPENED}
MOST_CHOICES: Final = 100


def _status(text: str) -> str:
    if text and not STATUS.fullmatch(text):
        raise ValueError("A status is 4xx or 409, for example.")
    return text


class Filter(BaseModel):
    id: OptionalLine = ""
    key: UUID | None = None
    status: Annotated[OptionalLine, AfterValidator(_status)] = ""
    code: OptionalLine = ""
    path: OptionalLine = ""
    since: Moment | None = None
    until: Moment | None = None

    def wanted(self) -> audit.Wanted:
        return audit.Wanted(
            key_id=self.key,
            statuses=statuses(self.status),
            code=self.code or None,
            path=self.path or None,
            since=self.since,
            until=self.until,
        )


def statuses(text: str) -> tuple[int, int]:
    """From the first, up to and without the second."""
    found = STATUS.fullmatch(text)
    if found is None:
        return 0, 1000
    return (int(found[1]) * 100, int(found[1]) * 100 + 100) if found[1] else (int(found[2]), int(found[2]) + 1)


@router.get("")
async def listed(visit: Reading) -> Response:
    form, wanted = asked(visit, Filter)
    if form.value("id") and not form.errors:
        call = await _found(visit, form.value("id").strip())
        if call is not None:
            return _page_of(call)
        form.errors["id"] = "No call of this organization with that request id is kept."
    if wanted is None or form.errors:
        return visit.page("requests/list.html", status=UNPROCESSABLE, **await _facts(visit, form, None, []))
    async with visit.db.reading() as tx:
        calls, place = await audit.calls_of(
            tx, visit.organization_id, visit.mode, wanted.wanted(), after=place_in(visit), limit=PAGE
        )
    return visit.page("requests/list.html", **await _facts(visit, form, place, calls))


@router.get("/{request_id}")
async def one(visit: Reading, request_id: str) -> Response:
    call = await _found(visit, request_id)
    if call is None:
        raise PageNotFound("No call of this organization with that request id is kept.")
    if call.mode != visit.mode:
        return _page_of(call)
    async with visit.db.reading() as tx:
        names = await keys.names_of(tx, visit.organization_id, [call.key_id])
        event = await _event_of(tx, visit, call)
    return visit.page(
        "requests/one.html",
        call=call,
        id=request_text(call.id),
        key=names.get(call.key_id),
        event=event,
        explanation=explain(call.status, call.code),
        does=DOES.get((call.method, call.path)),
        base_url=visit.studio.settings.base_url,
    )


async def _found(visit: Visit, named: str) -> LoggedCall | None:
    id = ids.request_id(named)
    if id is None:
        return None
    async with visit.db.reading() as tx:
        return await audit.find_call(tx, visit.organization_id, id)


def _page_of(call: LoggedCall) -> Response:
    """A request id is of one mode, whichever one is in."""
    return RedirectResponse(f"{ROOT}/{call.mode}/requests/{request_text(call.id)}", 303)


async def _event_of(tx: Tx, visit: Visit, call: LoggedCall) -> events.Event | None:
    if call.event_id is None or visit.mode is not Mode.LIVE:
        return None
    try:
        return (await events.find(tx, visit.organization_id, call.event_id)).event
    except events.EventNotFound:
        return None


async def _facts(visit: Visit, form: Form, place: Place | None, calls: list[LoggedCall]) -> dict[str, Any]:
    chosen = strict_uuid(form.value("key"))
    async with visit.db.reading() as tx:
        recent, _ = await keys.keys_of(tx, visit.organization_id, visit.mode, at=visit.at, limit=MOST_CHOICES)
        mentioned = {call.key_id for call in calls} | ({chosen} if chosen else set[UUID]())
        names = await keys.names_of(tx, visit.organization_id, mentioned)
    choices = {str(key.id): f"{key.name} …{key.last_four}" for key in (*recent, *names.values())}
    return {
        "form": form,
        "calls": calls,
        "names": names,
        "key_choices": [("", "Any key"), *choices.items()],
        "code_choices": [("", "Any code"), *((code, code) for code in sorted(EXPLAINED))],
        "path_choices": [("", "Any path"), *((path, path) for path in PATHS)],
        "filtered": any(form.value(name) for name in Filter.model_fields),
        "request_text": request_text,
        "newest_first": True,
        **rest_of(visit, "requests", place),
    }
