"""The secret of an endpoint: rotated in two steps, each shown with what the receiver has to do."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.domain import webhooks
from gatepass.domain.staff import Permission
from gatepass.studio.entrance import may
from gatepass.studio.visit import Visit

router = APIRouter(prefix="/webhooks/{endpoint_id}/secret")


@router.get("")
async def secret(endpoint_id: UUID, visit: Annotated[Visit, may(Permission.WEBHOOKS_READ)]) -> Response:
    async with visit.db.reading() as tx:
        endpoint = await webhooks.find_endpoint(tx, visit.organization_id, visit.mode, endpoint_id)
    return visit.page("webhooks/secret.html", endpoint=endpoint, rotation=endpoint.rotation(visit.at), secret=None)


@router.post("/rotate")
async def rotate(
    endpoint_id: UUID, visit: Annotated[Visit, may(Permission.WEBHOOKS_WRITE, confirmed=True)]
) -> Response:
    """Issue a new one. It is on this answer and nowhere else."""
    async with visit.transaction() as tx:
        endpoint, text = await webhooks.rotate_secret(
            tx, visit.organization_id, visit.mode, endpoint_id, visit.vault, by=visit.by, at=visit.at
        )
    return visit.page("webhooks/secret.html", endpoint=endpoint, rotation=endpoint.rotation(visit.at), secret=text)


@router.post("/switch")
async def switch(endpoint_id: UUID, visit: Annotated[Visit, may(Permission.WEBHOOKS_WRITE)]) -> Response:
    async with visit.transaction() as tx:
        await webhooks.switch_secret(tx, visit.organization_id, visit.mode, endpoint_id, by=visit.by, at=visit.at)
    return visit.go(
        f"webhooks/{endpoint_id}/secret", "The new secret signs now. The old one signs beside it for a day."
    )
