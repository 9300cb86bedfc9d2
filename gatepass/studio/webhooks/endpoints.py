"""Webhooks: the endpoints of an organization and how they fare; adding one, and its own page."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, StringConstraints
from starlette.responses import Response

from gatepass.base.refusals import InvalidRequest
from gatepass.domain import changes, webhooks
from gatepass.domain.changes import Change
from gatepass.domain.staff import Permission
from gatepass.domain.webhooks import Endpoint, EndpointStatus, MessageType
from gatepass.domain.webhooks.endpoints import MOST
from gatepass.domain.webhooks.health import MOST_OF_ONE
from gatepass.studio import webhook_words as words
from gatepass.studio.entrance import may
from gatepass.studio.form import Form, LongText
from gatepass.studio.sparkline import sparkline
from gatepass.studio.visit import Visit
from gatepass.studio.webhook_pages import id_in
from gatepass.studio.webhook_preflight import look

router = APIRouter(prefix="/webhooks")

Reading = Annotated[Visit, may(Permission.WEBHOOKS_READ)]
Writing = Annotated[Visit, may(Permission.WEBHOOKS_WRITE)]
# They see a secret at the end of it.
Confirmed = Annotated[Visit, may(Permission.WEBHOOKS_WRITE, confirmed=True)]

Description = Annotated[LongText, StringConstraints(max_length=500)]
Url = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
# Everything but denials, of which there may be many.
USUAL: Final = [type for type in words.TYPES if type is not MessageType.SCAN_DENIED]
RECENT: Final = 5
SAID: Final = {
    EndpointStatus.PAUSED: "Paused. Messages are held, and go out when you resume.",
    EndpointStatus.ACTIVE: "Resumed. What was held goes out now.",
}


class Wanted(BaseModel):
    """What somebody wants an endpoint to be. The room of webhooks checks the URL and the types."""

    url: Url
    types: list[str] = []
    description: Description = ""


@router.get("")
async def listing(visit: Reading) -> Response:
    async with visit.db.reading() as tx:
        found = await webhooks.endpoints_of(tx, visit.organization_id, visit.mode, after=None, limit=MOST)
        ids = [endpoint.id for endpoint in found]
        healths = await webhooks.healths_of(tx, visit.organization_id, ids, at=visit.at)
    lines = {id: sparkline(health.hours) for id, health in healths.items()}
    return visit.page("webhooks/list.html", endpoints=found, healths=healths, lines=lines, words=words, most=MOST)


@router.get("/new")
async def new(visit: Confirmed) -> Response:
    return _new_page(visit, Form.of(types=USUAL))


@router.post("/new")
async def create(visit: Confirmed) -> Response:
    form = await visit.form()
    wanted = form.read(Wanted)
    if wanted is None:
        return _new_page(visit, form, status=422)
    try:
        async with visit.transaction() as tx:
            endpoint, secret = await webhooks.create_endpoint(
                tx,
                visit.organization_id,
                visit.mode,
                visit.vault,
                url=wanted.url,
                types=wanted.types,
                description=wanted.description or None,
                allow_private=visit.studio.settings.webhook_allow_private,
                by=visit.by,
                at=visit.at,
            )
    except InvalidRequest as refusal:
        form.refuse(refusal)
        return _new_page(visit, form, status=422)
    return visit.page("webhooks/created.html", endpoint=endpoint, secret=secret)


@router.post("/preflight")
async def preflight(visit: Writing) -> Response:
    """The same form, not saved, with a look at its URL."""
    form = await visit.form()
    found = await look(visit, form)
    endpoint_id = form.value("endpoint_id")
    if endpoint_id:
        return await _edit_page(visit, id_in(endpoint_id), form, found=found)
    return _new_page(visit, form, found=found, status=422 if form.errors else 200)


@router.get("/{endpoint_id}")
async def one(endpoint_id: UUID, visit: Reading) -> Response:
    async with visit.db.reading() as tx:
        endpoint = await webhooks.find_endpoint(tx, visit.organization_id, visit.mode, endpoint_id)
        health = await webhooks.health_of(tx, visit.organization_id, endpoint_id, at=visit.at)
        newest, _ = await webhooks.deliveries_of(tx, visit.organization_id, endpoint, limit=RECENT)
        noted = await changes.of_subject(tx, visit.organization_id, endpoint_id)
    return visit.page(
        "webhooks/one.html",
        endpoint=endpoint,
        health=health,
        line=sparkline(health.hours),
        rotation=endpoint.rotation(visit.at),
        deliveries=newest,
        paused=_last_pause(endpoint, noted),
        words=words,
        most=MOST_OF_ONE,
    )


@router.get("/{endpoint_id}/edit")
async def edit(endpoint_id: UUID, visit: Writing) -> Response:
    async with visit.db.reading() as tx:
        found = await webhooks.find_endpoint(tx, visit.organization_id, visit.mode, endpoint_id)
    form = Form.of(url=found.url, types=found.types, description=found.description)
    return await _edit_page(visit, endpoint_id, form)


@router.post("/{endpoint_id}/edit")
async def save(endpoint_id: UUID, visit: Writing) -> Response:
    form = await visit.form()
    wanted = form.read(Wanted)
    if wanted is None:
        return await _edit_page(visit, endpoint_id, form, status=422)
    try:
        async with visit.transaction() as tx:
            await webhooks.change_endpoint(
                tx,
                visit.organization_id,
                visit.mode,
                endpoint_id,
                url=wanted.url,
                types=wanted.types,
                description=wanted.description or None,
                allow_private=visit.studio.settings.webhook_allow_private,
                by=visit.by,
                at=visit.at,
            )
    except InvalidRequest as refusal:
        form.refuse(refusal)
        return await _edit_page(visit, endpoint_id, form, status=422)
    return visit.go(f"webhooks/{endpoint_id}", "Saved. What happens from now on goes there.")


@router.post("/{endpoint_id}/status")
async def set_status(endpoint_id: UUID, visit: Writing) -> Response:
    """Pause or resume."""
    wanted = (await visit.form()).value("status")
    status = EndpointStatus.PAUSED if wanted == EndpointStatus.PAUSED else EndpointStatus.ACTIVE
    async with visit.transaction() as tx:
        await webhooks.change_endpoint(
            tx,
            visit.organization_id,
            visit.mode,
            endpoint_id,
            status=status,
            allow_private=visit.studio.settings.webhook_allow_private,
            by=visit.by,
            at=visit.at,
        )
    return visit.go(f"webhooks/{endpoint_id}", SAID[status])


@router.post("/{endpoint_id}/test")
async def test(endpoint_id: UUID, visit: Writing) -> Response:
    async with visit.transaction() as tx:
        _, delivery = await webhooks.ping(tx, visit.organization_id, visit.mode, endpoint_id, by=visit.by, at=visit.at)
    return visit.go(f"webhooks/{endpoint_id}/deliveries/{delivery.id}", "A test message is on its way.")


@router.post("/{endpoint_id}/delete")
async def delete(endpoint_id: UUID, visit: Writing) -> Response:
    async with visit.transaction() as tx:
        await webhooks.delete_endpoint(tx, visit.organization_id, visit.mode, endpoint_id, by=visit.by, at=visit.at)
    return visit.go("webhooks", "The endpoint is deleted. It is sent nothing more.")


def _new_page(visit: Visit, form: Form, *, status: int = 200, found: object = None) -> Response:
    return visit.page("webhooks/new.html", form=form, found=found, words=words, status=status)


async def _edit_page(
    visit: Visit, endpoint_id: UUID, form: Form, *, status: int = 200, found: object = None
) -> Response:
    async with visit.db.reading() as tx:
        endpoint = await webhooks.find_endpoint(tx, visit.organization_id, visit.mode, endpoint_id)
    return visit.page("webhooks/edit.html", endpoint=endpoint, form=form, found=found, words=words, status=status)


def _last_pause(endpoint: Endpoint, noted: list[Change]) -> Change | None:
    """When and by whom it was paused, if it is."""
    return next((change for change in noted if change.action == "paused"), None) if endpoint.is_paused else None
