"""Webhook endpoints: the list with their health, adding one, and its own page."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, StringConstraints
from starlette.responses import Response

from gatepass.base.errors import InvalidRequest
from gatepass.domain import audit_log, webhooks
from gatepass.domain.audit_log import SubjectEntry
from gatepass.domain.staff import Permission
from gatepass.domain.webhooks import Endpoint, EndpointStatus, MessageType, PausedReason
from gatepass.domain.webhooks.endpoints import MOST
from gatepass.domain.webhooks.health import MOST_OF_ONE
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form, LongText
from gatepass.studio.webhooks import text as words
from gatepass.studio.webhooks.forms import again_in, id_in
from gatepass.studio.webhooks.preflight import look
from gatepass.studio.webhooks.sparkline import sparkline

router = APIRouter(prefix="/webhooks")

Reader = Annotated[Context, may(Permission.WEBHOOKS_READ)]
Writer = Annotated[Context, may(Permission.WEBHOOKS_WRITE)]
# The page after it shows a secret.
ConfirmedWriter = Annotated[Context, may(Permission.WEBHOOKS_WRITE, confirmed=True)]

Description = Annotated[LongText, StringConstraints(max_length=500)]
Url = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
# Ticked in a new form: what somebody has to react to. The others are for a copy of our state, and there may be many.
USUAL: Final = [
    MessageType.TICKET_ACTIVATED,
    MessageType.TICKET_CANCELLED,
    MessageType.EVENT_CANCELLED,
    MessageType.CARD_STATUS_CHANGED,
]
RECENT: Final = 5
STATUS_FLASH: Final = {
    EndpointStatus.PAUSED: "Paused. Messages are held, and go out when you resume.",
    EndpointStatus.ACTIVE: "Resumed. What was held goes out now.",
}


class EndpointForm(BaseModel):
    """A new or changed endpoint. domain/webhooks checks the URL and the types."""

    url: Url
    types: list[str] = []
    description: Description = ""


@router.get("")
async def listing(context: Reader) -> Response:
    async with context.db.autocommit() as tx:
        found = await webhooks.endpoints_of(tx, context.organization_id, context.mode, after=None, limit=MOST)
        ids = [endpoint.id for endpoint in found]
        healths = await webhooks.healths_of(tx, context.organization_id, ids, at=context.at)
    lines = {id: sparkline(health.hours) for id, health in healths.items()}
    return context.page("webhooks/list.html", endpoints=found, healths=healths, lines=lines, words=words, most=MOST)


@router.get("/new")
async def new(context: ConfirmedWriter) -> Response:
    return _new_page(context, Form.of(types=USUAL))


@router.post("/new")
async def create(context: ConfirmedWriter) -> Response:
    form = await context.form()
    wanted = form.read(EndpointForm)
    if wanted is None:
        return _new_page(context, form, status=422)
    try:
        async with context.transaction() as tx:
            endpoint, secret = await webhooks.create_endpoint(
                tx,
                context.organization_id,
                context.mode,
                context.vault,
                url=wanted.url,
                types=wanted.types,
                description=wanted.description or None,
                allow_private=context.studio.settings.webhook_allow_private,
                by=context.by,
                at=context.at,
            )
    except InvalidRequest as refusal:
        form.refuse(refusal)
        return _new_page(context, form, status=422)
    return context.page("webhooks/created.html", endpoint=endpoint, secret=secret)


@router.post("/preflight")
async def preflight(context: Writer) -> Response:
    """The same form, not saved, with a check of its URL."""
    form = await context.form()
    found = await look(context, form)
    endpoint_id = form.value("endpoint_id")
    if endpoint_id:
        return await _edit_page(context, id_in(endpoint_id), form, found=found)
    return _new_page(context, form, found=found, status=422 if form.errors else 200)


@router.get("/{endpoint_id}")
async def one(endpoint_id: UUID, context: Reader) -> Response:
    async with context.db.autocommit() as tx:
        endpoint = await webhooks.find_endpoint(tx, context.organization_id, context.mode, endpoint_id)
        health = await webhooks.health_of(tx, context.organization_id, endpoint_id, at=context.at)
        newest, _ = await webhooks.deliveries_of(tx, context.organization_id, endpoint, limit=RECENT)
        noted = await audit_log.of_subject(tx, context.organization_id, endpoint_id)
    next_try = None if endpoint.is_paused else health.waiting.next_try(context.at)
    return context.page(
        "webhooks/one.html",
        again_in=again_in(next_try, context.at) if next_try else None,
        endpoint=endpoint,
        health=health,
        line=sparkline(health.hours),
        rotation=endpoint.rotation(context.at),
        deliveries=newest,
        paused=_last_pause(endpoint, noted),
        words=words,
        most=MOST_OF_ONE,
    )


@router.get("/{endpoint_id}/edit")
async def edit(endpoint_id: UUID, context: ConfirmedWriter) -> Response:
    async with context.db.autocommit() as tx:
        found = await webhooks.find_endpoint(tx, context.organization_id, context.mode, endpoint_id)
    form = Form.of(url=found.url, types=found.types, description=found.description)
    return await _edit_page(context, endpoint_id, form)


@router.post("/{endpoint_id}/edit")
async def save(endpoint_id: UUID, context: ConfirmedWriter) -> Response:
    form = await context.form()
    wanted = form.read(EndpointForm)
    if wanted is None:
        return await _edit_page(context, endpoint_id, form, status=422)
    try:
        async with context.transaction() as tx:
            await webhooks.change_endpoint(
                tx,
                context.organization_id,
                context.mode,
                endpoint_id,
                url=wanted.url,
                types=wanted.types,
                description=wanted.description or None,
                allow_private=context.studio.settings.webhook_allow_private,
                by=context.by,
                at=context.at,
            )
    except InvalidRequest as refusal:
        form.refuse(refusal)
        return await _edit_page(context, endpoint_id, form, status=422)
    return context.go(f"webhooks/{endpoint_id}", "Saved. What happens from now on goes there.")


@router.post("/{endpoint_id}/status")
async def set_status(endpoint_id: UUID, context: Writer) -> Response:
    """Pause or resume."""
    wanted = (await context.form()).value("status")
    status = EndpointStatus.PAUSED if wanted == EndpointStatus.PAUSED else EndpointStatus.ACTIVE
    async with context.transaction() as tx:
        await webhooks.change_endpoint(
            tx,
            context.organization_id,
            context.mode,
            endpoint_id,
            status=status,
            allow_private=context.studio.settings.webhook_allow_private,
            by=context.by,
            at=context.at,
        )
    return context.go(f"webhooks/{endpoint_id}", STATUS_FLASH[status])


@router.post("/{endpoint_id}/test")
async def test(endpoint_id: UUID, context: Writer) -> Response:
    async with context.transaction() as tx:
        _, delivery = await webhooks.ping(
            tx, context.organization_id, context.mode, endpoint_id, by=context.by, at=context.at
        )
    return context.go(f"webhooks/{endpoint_id}/deliveries/{delivery.id}", "A test message is on its way.")


@router.post("/{endpoint_id}/delete")
async def delete(endpoint_id: UUID, context: ConfirmedWriter) -> Response:
    async with context.transaction() as tx:
        await webhooks.delete_endpoint(
            tx, context.organization_id, context.mode, endpoint_id, by=context.by, at=context.at
        )
    return context.go("webhooks", "The endpoint is deleted. It is sent nothing more.")


def _new_page(context: Context, form: Form, *, status: int = 200, found: object = None) -> Response:
    return context.page("webhooks/new.html", form=form, found=found, words=words, status=status)


async def _edit_page(
    context: Context, endpoint_id: UUID, form: Form, *, status: int = 200, found: object = None
) -> Response:
    async with context.db.autocommit() as tx:
        endpoint = await webhooks.find_endpoint(tx, context.organization_id, context.mode, endpoint_id)
    return context.page("webhooks/edit.html", endpoint=endpoint, form=form, found=found, words=words, status=status)


def _last_pause(endpoint: Endpoint, noted: list[SubjectEntry]) -> SubjectEntry | None:
    """The last pause in the audit log, if the endpoint is paused for a reason of its own."""
    if not endpoint.is_paused or endpoint.paused_reason == PausedReason.SUSPENDED:
        return None
    return next((change for change in noted if change.action == "paused"), None)
