"""/webhooks: create, list, change, delete and test the endpoints of an organization, and rotate their secrets."""

from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, Depends, Response

from gatepass.api.auth import State
from gatepass.api.request import decoded
from gatepass.api.routes.webhook_deliveries import DeliveryOut
from gatepass.api.routes.webhook_schemas import (
    TAG,
    AdminWrite,
    Id,
    NewWebhook,
    NewWebhookOut,
    Reader,
    RotatedWebhookOut,
    SecretRotation,
    WebhookChange,
    WebhookOut,
    webhook_id,
)
from gatepass.api.schemas import Data, Page, next_page, page_size, page_start
from gatepass.base.paging import Place
from gatepass.domain import webhooks

router = APIRouter(tags=[TAG])

NEW: Final = msgspec.json.Decoder(NewWebhook)
CHANGED: Final = msgspec.json.Decoder(WebhookChange)
ROTATION: Final = msgspec.json.Decoder(SecretRotation)


@router.post("/webhooks", status_code=201)
async def create_webhook(write: AdminWrite) -> Data[NewWebhookOut]:
    """A new endpoint in the key's mode, with its secret."""
    body, state = decoded(await write.request.body(), NEW), write.state
    async with write.transaction(201) as tx:
        endpoint, secret = await webhooks.create_endpoint(
            tx,
            write.caller.organization_id,
            write.caller.mode,
            state.vault,
            url=body.url,
            types=body.types,
            description=body.description,
            allow_private=state.settings.webhook_allow_private,
            by=write.by,
            at=write.at,
        )
    return Data(data=NewWebhookOut.of(endpoint, write.at, secret=secret))


@router.get("/webhooks")
async def list_webhooks(
    caller: Reader,
    state: State,
    response: Response,
    limit: Annotated[int, Depends(page_size)],
    after: Annotated[Place | None, Depends(page_start)],
) -> Page[WebhookOut]:
    """The endpoints of the key's organization and mode, oldest first."""
    async with state.db.autocommit() as tx:
        found = await webhooks.endpoints_of(tx, caller.organization_id, caller.mode, after=after, limit=limit + 1)
    page, at = found[:limit], state.clock()
    place = Place(page[-1].created_at, page[-1].id) if len(found) > limit else None
    cursor = next_page(response, f"{state.settings.base_url}/webhooks", limit, place)
    return Page(data=[WebhookOut.of(one, at) for one in page], has_more=place is not None, next_cursor=cursor)


@router.get("/webhooks/{id}")
async def webhook(caller: Reader, state: State, id: Id) -> Data[WebhookOut]:
    """One endpoint."""
    async with state.db.autocommit() as tx:
        found = await webhooks.find_endpoint(tx, caller.organization_id, caller.mode, webhook_id(id))
    return Data(data=WebhookOut.of(found, state.clock()))


@router.patch("/webhooks/{id}")
async def change_webhook(write: AdminWrite, id: Id) -> Data[WebhookOut]:
    """Change the given fields; pause or resume."""
    endpoint_id, body = webhook_id(id), decoded(await write.request.body(), CHANGED)
    async with write.transaction(200) as tx:
        endpoint = await webhooks.change_endpoint(
            tx,
            write.caller.organization_id,
            write.caller.mode,
            endpoint_id,
            url=body.url,
            types=body.types,
            description=body.description,
            status=body.status,
            allow_private=write.state.settings.webhook_allow_private,
            by=write.by,
            at=write.at,
        )
    return Data(data=WebhookOut.of(endpoint, write.at))


@router.delete("/webhooks/{id}", status_code=204)
async def delete_webhook(write: AdminWrite, id: Id) -> None:
    """Delete an endpoint and its secrets."""
    endpoint_id, caller = webhook_id(id), write.caller
    async with write.transaction(204) as tx:
        await webhooks.delete_endpoint(tx, caller.organization_id, caller.mode, endpoint_id, by=write.by, at=write.at)


@router.post("/webhooks/{id}/test", status_code=202)
async def ping_webhook(write: AdminWrite, id: Id) -> Data[DeliveryOut]:
    """Send a ping to this endpoint alone."""
    endpoint_id, caller = webhook_id(id), write.caller
    async with write.transaction(202) as tx:
        endpoint, delivery = await webhooks.ping(
            tx, caller.organization_id, caller.mode, endpoint_id, by=write.by, at=write.at
        )
    return Data(data=DeliveryOut.of(delivery, endpoint))


@router.post("/webhooks/{id}/rotate-secret")
async def rotate_secret(write: AdminWrite, id: Id) -> Data[RotatedWebhookOut]:
    """Issue a new secret beside the old one, or switch to it."""
    endpoint_id, raw = webhook_id(id), await write.request.body()
    switch = bool(raw) and decoded(raw, ROTATION).switch
    place, secret = (write.caller.organization_id, write.caller.mode, endpoint_id), None
    async with write.transaction(200) as tx:
        if switch:
            endpoint = await webhooks.switch_secret(tx, *place, by=write.by, at=write.at)
        else:
            vault = write.state.vault
            endpoint, secret = await webhooks.rotate_secret(tx, *place, vault, by=write.by, at=write.at)
    return Data(data=RotatedWebhookOut.of(endpoint, write.at, secret=secret))
