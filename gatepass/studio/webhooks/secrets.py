"""Rotating the secret of an endpoint, in two steps; each says what the receiver has to do."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.domain import webhooks
from gatepass.domain.staff import Permission
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context

router = APIRouter(prefix="/webhooks/{endpoint_id}/secret")


@router.get("")
async def secret(endpoint_id: UUID, context: Annotated[Context, may(Permission.WEBHOOKS_READ)]) -> Response:
    async with context.db.autocommit() as tx:
        endpoint = await webhooks.find_endpoint(tx, context.organization_id, context.mode, endpoint_id)
    return context.page("webhooks/secret.html", endpoint=endpoint, rotation=endpoint.rotation(context.at), secret=None)


@router.post("/rotate")
async def rotate(
    endpoint_id: UUID, context: Annotated[Context, may(Permission.WEBHOOKS_WRITE, confirmed=True)]
) -> Response:
    """Issue a new one. This response shows it, and no other does."""
    async with context.transaction() as tx:
        endpoint, text = await webhooks.rotate_secret(
            tx, context.organization_id, context.mode, endpoint_id, context.vault, by=context.by, at=context.at
        )
    return context.page("webhooks/secret.html", endpoint=endpoint, rotation=endpoint.rotation(context.at), secret=text)


@router.post("/switch")
async def switch(
    endpoint_id: UUID, context: Annotated[Context, may(Permission.WEBHOOKS_WRITE, confirmed=True)]
) -> Response:
    async with context.transaction() as tx:
        await webhooks.switch_secret(
            tx, context.organization_id, context.mode, endpoint_id, by=context.by, at=context.at
        )
    return context.go(
        f"webhooks/{endpoint_id}/secret", "The new secret signs now. The old one signs beside it for a day."
    )
