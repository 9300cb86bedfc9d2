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
from gatepass.domain import events, keys, request_log
from gatepass.domain.error_help import ERROR_HELP, help_for
from gatepass.domain.keys import SCOPE_ENDPOINTS, Mode
from gatepass.domain.request_log import LoggedCall
from gatepass.domain.staff import Permission
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import UNPROCESSABLE, Context
from gatepass.studio.web.forms import Form, OptionalLine
from gatepass.studio.web.paging import PAGE, Moment, filters_in, place_in, rest_of
from gatepass.studio.web.tab import PageNotFound

router = APIRouter(prefix="/requests")

Reader = Annotated[Context, may(Permission.REQUESTS_READ)]

STATUS: Final = re.compile(r"([2-5])xx|([2-5]\d\d)", re.ASCII | re.IGNORECASE)
OPENED: Final = [opened for endpoints in SCOPE_ENDPOINTS.values() for opened in endpoints]
# Calls to unknown paths are logged as "(unknown)".
PATHS: Final = sorted({*(opened.path for opened in OPENED), "(unknown)"})
DOES: Final = {(opened.method, opened.path): opened.does for opened in OPENED}
MOST_CHOICES: Final = 100


def _status(text: str) -> str:
    if text and not STATUS.fullmatch(text):
        raise ValueError("A status is 4xx or 409, for example.")
    return text


class RequestLogFilter(BaseModel):
    id: OptionalLine = ""
    key: UUID | None = None
    status: Annotated[OptionalLine, AfterValidator(_status)] = ""
    code: OptionalLine = ""
    path: OptionalLine = ""
    since: Moment | None = None
    until: Moment | None = None

    def wanted(self) -> request_log.CallFilter:
        return request_log.CallFilter(
            key_id=self.key,
            statuses=statuses(self.status),
            code=self.code or None,
            path=self.path or None,
            since=self.since,
            until=self.until,
        )


def statuses(text: str) -> tuple[int, int]:
    """A range of statuses: from the first, up to but without the second."""
    found = STATUS.fullmatch(text)
    if found is None:
        return 0, 1000
    return (int(found[1]) * 100, int(found[1]) * 100 + 100) if found[1] else (int(found[2]), int(found[2]) + 1)


@router.get("")
async def listed(context: Reader) -> Response:
    form, wanted = filters_in(context, RequestLogFilter)
    if form.value("id") and not form.errors:
        call = await _found(context, form.value("id").strip())
        if call is not None:
            return _page_of(context, call)
        form.errors["id"] = "No call of this organization with that request id is kept."
    if wanted is None or form.errors:
        return context.page("request_log/list.html", status=UNPROCESSABLE, **await _facts(context, form, None, []))
    async with context.db.autocommit() as tx:
        calls, place = await request_log.calls_of(
            tx, context.organization_id, context.mode, wanted.wanted(), after=place_in(context), limit=PAGE
        )
    return context.page("request_log/list.html", **await _facts(context, form, place, calls))


@router.get("/{request_id}")
async def one(context: Reader, request_id: str) -> Response:
    call = await _found(context, request_id)
    if call is None:
        raise PageNotFound("No call of this organization with that request id is kept.")
    if call.mode != context.mode:
        return _page_of(context, call)
    async with context.db.autocommit() as tx:
        names = await keys.names_of(tx, context.organization_id, [call.key_id])
        event = await _event_of(tx, context, call)
    return context.page(
        "request_log/one.html",
        call=call,
        id=request_text(call.id),
        key=names.get(call.key_id),
        event=event,
        explanation=help_for(call.status, call.code),
        does=DOES.get((call.method, call.path)),
        base_url=context.studio.settings.base_url,
    )


async def _found(context: Context, named: str) -> LoggedCall | None:
    id = ids.request_id(named)
    if id is None:
        return None
    async with context.db.autocommit() as tx:
        return await request_log.find_call(tx, context.organization_id, id)


def _page_of(context: Context, call: LoggedCall) -> Response:
    """The page of a call in the call's own mode."""
    return RedirectResponse(f"{context.root(call.mode)}/requests/{request_text(call.id)}", 303)


async def _event_of(tx: Tx, context: Context, call: LoggedCall) -> events.Event | None:
    if call.event_id is None or context.mode is not Mode.LIVE:
        return None
    try:
        return (await events.find(tx, context.organization_id, call.event_id)).event
    except events.EventNotFound:
        return None


async def _facts(context: Context, form: Form, place: Place | None, calls: list[LoggedCall]) -> dict[str, Any]:
    chosen = strict_uuid(form.value("key"))
    async with context.db.autocommit() as tx:
        recent, _ = await keys.keys_of(tx, context.organization_id, context.mode, at=context.at, limit=MOST_CHOICES)
        mentioned = {call.key_id for call in calls} | ({chosen} if chosen else set[UUID]())
        names = await keys.names_of(tx, context.organization_id, mentioned)
    choices = {str(key.id): f"{key.name} …{key.last_four}" for key in (*recent, *names.values())}
    return {
        "form": form,
        "calls": calls,
        "names": names,
        "key_choices": [("", "Any key"), *choices.items()],
        "code_choices": [("", "Any code"), *((code, code) for code in sorted(ERROR_HELP))],
        "path_choices": [("", "Any path"), *((path, path) for path in PATHS)],
        "filtered": any(form.value(name) for name in RequestLogFilter.model_fields),
        "request_text": request_text,
        "newest_first": True,
        **rest_of(context, "requests", place),
    }
