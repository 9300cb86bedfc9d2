"""/webhooks: the endpoints of an organization, made, listed, changed, deleted, tested, and given new secrets."""

from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, Depends, Response

from gatepass.api.admission import House
from gatepass.api.body import decoded
from gatepass.api.webhook import (
    TAG,
    Changing,
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
from gatepass.api.webhook_deliveries import DeliveryOut
from gatepass.api.wire import Data, Page, next_page, page_size, page_start
from gatepass.base.paging import Place
from gatepass.domain import webhooks

router = APIRouter(tags=[TAG])

NEW: Final = msgspec.json.Decoder(NewWebhook)
CHANGED: Final = msgspec.json.Decoder(WebhookChange)
ROTATION: Final = msgspec.json.Decoder(SecretRotation)


@router.post("/webhooks", status_code=201)
async def create_webhook(change: Changing) -> Data[NewWebhookOut]:
    """A new endpoint in the key's mode, with its secret."""
    body, house = decoded(await change.incoming.body(), NEW), change.house
    async with change.transaction(201) as tx:
        endpoint, secret = await webhooks.create_endpoint(
            tx,
            change.caller.organization_id,
            change.caller.mode,
            house.vault,
            url=body.url,
            types=body.types,
            description=body.description,
            allow_private=house.settings.webhook_allow_private,
            by=change.by,
            at=change.at,
        )
    return Data(data=NewWebhookOut.of(endpoint, change.at, secret=secret))


@router.get("/webhooks")
async def list_webhooks(
    caller: Reader,
    house: House,
    response: Response,
    limit: Annotated[int, Depends(page_size)],
    after: Annotated[Place | None, Depends(page_start)],
) -> Page[WebhookOut]:
    """The endpoints of the key's organization and mode, oldest first."""
    async with house.db.reading() as tx:
        found = await webhooks.endpoints_of(tx, caller.organization_id, caller.mode, after=after, limit=limit + 1)
    page, at = found[:limit], house.clock()
    place = Place(page[-1].created_at, page[-1].id) if len(found) > limit else None
    cursor = next_page(response, f"{house.settings.base_url}/webhooks", limit, place)
    return Page(data=[WebhookOut.of(one, at) for one in page], has_more=place is not None, next_cursor=cursor)


@router.get("/webhooks/{id}")
async def webhook(caller: Reader, house: House, id: Id) -> Data[WebhookOut]:
    """One endpoint."""
    async with house.db.reading() as tx:
        found = await webhooks.find_endpoint(tx, caller.organization_id, caller.mode, webhook_id(id))
    return Data(data=WebhookOut.of(found, house.clock()))


@router.patch("/webhooks/{id}")
async def change_webhook(change: Changing, id: Id) -> Data[WebhookOut]:
    """Change what is given; pause or resume."""
    endpoint_id, body = webhook_id(id), decoded(await change.incoming.body(), CHANGED)
    async with change.transaction(200) as tx:
        endpoint = await webhooks.change_endpoint(
            tx,
            change.caller.organization_id,
            change.caller.mode,
            endpoint_id,
            url=body.url,
            types=body.types,
            description=body.description,
            status=body.status,
            allow_private=change.house.settings.webhook_allow_private,
            by=change.by,
            at=change.at,
        )
    return Data(data=WebhookOut.of(endpoint, change.at))


@router.delete("/webhooks/{id}", status_code=204)
async def delete_webhook(change: Changing, id: Id) -> None:
    """Delete an endpoint, and forget its secrets."""
    endpoint_id, caller = webhook_id(id), change.caller
    async with change.transaction(204) as tx:
        await webhooks.delete_endpoint(tx, caller.organization_id, caller.mode, endpoint_id, by=change.by, at=change.at)


@router.post("/webhooks/{id}/test", status_code=202)
async def ping_webhook(change: Changing, id: Id) -> Data[DeliveryOut]:
    """Send a ping to this endpoint alone."""
    endpoint_id, caller = webhook_id(id), change.caller
    async with change.transaction(202) as tx:
        endpoint, delivery = await webhooks.ping(
            tx, caller.organization_id, caller.mode, endpoint_id, by=change.by, at=change.at
        )
    return Data(data=DeliveryOut.of(delivery, endpoint))


@router.post("/webhooks/{id}/rotate-secret")
async def rotate_secret(change: Changing, id: Id) -> Data[RotatedWebhookOut]:
    """Issue a new secret beside the old one, or let it take over."""
    endpoint_id, raw = webhook_id(id), await change.incoming.body()
    switch = bool(raw) and decoded(raw, ROTATION).switch
    place, secret = (change.caller.organization_id, change.caller.mode, endpoint_id), None
    async with change.transaction(200) as tx:
        if switch:
            endpoint = await webhooks.switch_secret(tx, *place, by=change.by, at=change.at)
        else:
            vault = change.house.vault
            endpoint, secret = await webhooks.rotate_secret(tx, *place, vault, by=change.by, at=change.at)
    return Data(data=RotatedWebhookOut.of(endpoint, change.at, secret=secret))
