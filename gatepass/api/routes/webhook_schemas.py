"""A webhook endpoint on the wire: the scopes, the request bodies and the response models."""

from datetime import datetime
from typing import Annotated, Any, Final, Self
from uuid import UUID

import msgspec
from fastapi import Path
from msgspec import UNSET, UnsetType
from pydantic import Field

from gatepass.api.auth import needs
from gatepass.api.schemas import Moment, Wire
from gatepass.api.write import Write, writes
from gatepass.base.ids import strict_uuid
from gatepass.domain.keys import Caller, Mode, Scope
from gatepass.domain.webhooks import Endpoint, EndpointStatus, MessageType, PausedReason, WebhookNotFound

TAG: Final = "Webhooks"

Url = Annotated[str, msgspec.Meta(min_length=1, max_length=2000)]
Types = Annotated[list[Annotated[str, msgspec.Meta(max_length=64)]], msgspec.Meta(min_length=1, max_length=32)]
Description = Annotated[str, msgspec.Meta(max_length=500)]

Id = Annotated[str, Path(description="The endpoint's UUID.")]
Reader = Annotated[Caller, needs(Scope.WEBHOOKS_READ)]
AdminWrite = Annotated[Write, writes(Scope.ADMIN)]


def webhook_id(text: str) -> UUID:
    found = strict_uuid(text)
    if found is None:
        raise WebhookNotFound
    return found


class NewWebhook(msgspec.Struct, frozen=True):
    url: Url
    types: Types
    description: Description | None = None


class WebhookChange(msgspec.Struct, frozen=True):
    url: Url | UnsetType = UNSET
    types: Types | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    status: EndpointStatus | UnsetType = UNSET


class SecretRotation(msgspec.Struct, frozen=True):
    switch: bool = False


class RotationOut(Wire):
    switches_at: Moment
    retires_at: Moment


class WebhookOut(Wire):
    id: UUID
    mode: Mode
    url: str = Field(json_schema_extra={"format": "uri"})
    types: list[MessageType]
    description: str | None
    status: EndpointStatus
    paused_reason: PausedReason | None
    failing_since: Moment | None
    rotation: RotationOut | None
    created_at: Moment

    @classmethod
    def of(cls, endpoint: Endpoint, at: datetime, **more: Any) -> Self:
        rotation = endpoint.rotation(at)
        return cls(
            id=endpoint.id,
            mode=endpoint.mode,
            url=endpoint.url,
            types=[MessageType(type) for type in endpoint.types],
            description=endpoint.description,
            status=endpoint.status,
            paused_reason=None if endpoint.paused_reason is None else PausedReason(endpoint.paused_reason),
            failing_since=endpoint.failing_since,
            rotation=rotation and RotationOut(switches_at=rotation.switches_at, retires_at=rotation.retires_at),
            created_at=endpoint.created_at,
            **more,
        )


class NewWebhookOut(WebhookOut):
    """With its secret, this once."""

    secret: str


class RotatedWebhookOut(WebhookOut):
    """With its new secret, this once; with none where none was issued."""

    secret: str | None
