"""The transactional outbox: a message is written in the transaction of its change, so that both commit or neither.

`outbox.sql` beside this file writes messages. Scans call it inside their own statement; all other changes call `emit`.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere
from gatepass.base.ids import new_id
from gatepass.domain import audit_log, twin
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks.deliveries import COLUMNS, Delivery
from gatepass.domain.webhooks.endpoints import SUBJECT, Endpoint, lock_endpoint
from gatepass.domain.webhooks.message import Message, MessageType


async def emit(
    tx: Tx,
    organization_id: UUID,
    messages: Sequence[Message],
    *,
    at: datetime,
    mode: Mode = Mode.LIVE,
    wanted: Collection[str] | None = None,
) -> None:
    """Write messages for all subscribed endpoints. Messages of one type are written together.

    Those of a twin are messages of its owner, in sandbox mode.

    Where messages cost something to make, the caller asks for `subscribed_types` first, and passes them as `wanted`.
    """
    if not messages:
        return
    if wanted is None:
        wanted = await subscribed_types(tx, organization_id, mode, at=at)
    organization_id, mode = _subscriber(organization_id, mode)
    for type in dict.fromkeys(message.type for message in messages if message.type in wanted):
        alike = [message for message in messages if message.type is type]
        await _write(tx, organization_id, mode, type, alike, at=at)


async def ping(
    tx: Tx, organization_id: UUID, mode: Mode, endpoint_id: UUID, *, by: str, at: datetime
) -> tuple[Endpoint, Delivery]:
    """Send a test message at once, even to an endpoint that is blocked because it failed."""
    endpoint = await lock_endpoint(tx, organization_id, mode, endpoint_id)
    if endpoint.is_paused:
        raise NotAllowedFromHere("The endpoint is paused. Resume it first.")
    await tx.run(UNBLOCK, organization_id, endpoint_id)
    message = Message(new_id(), MessageType.PING, {"webhook_id": str(endpoint_id)})
    await _write(tx, organization_id, mode, message.type, [message], at=at, endpoint_id=endpoint_id)
    await audit_log.record(tx, organization_id, SUBJECT, endpoint_id, "tested", by=by, at=at)
    delivery = await tx.one(Delivery, SENT, organization_id, endpoint_id, at, message.id)
    assert delivery is not None  # noqa: S101  it was written just now
    return endpoint, delivery


async def subscribed_types(tx: Tx, organization_id: UUID, mode: Mode = Mode.LIVE, *, at: datetime) -> frozenset[str]:
    """The types with a subscriber: an endpoint that lists them, or a reader of the feed."""
    return frozenset(await tx.value(SUBSCRIBED_TYPES, *_subscriber(organization_id, mode), at))


def _subscriber(organization_id: UUID, mode: Mode) -> tuple[UUID, Mode]:
    return (twin.owner_of(organization_id), Mode.SANDBOX) if twin.is_twin(organization_id) else (organization_id, mode)


async def _write(
    tx: Tx,
    organization_id: UUID,
    mode: Mode,
    type: MessageType,
    messages: Sequence[Message],
    *,
    at: datetime,
    endpoint_id: UUID | None = None,
) -> None:
    count = len(messages)
    await tx.run(
        WRITE,
        at,
        [organization_id] * count,
        [mode.value] * count,
        [type.value] * count,
        [message.id for message in messages],
        [message.ordering_key or message.id for message in messages],
        [message.body(organization_id, at) for message in messages],
        endpoint_id,
    )


SUBSCRIBED_TYPES: Final = "SELECT heard_types($1, $2, $3)"

WRITE: Final = "SELECT tell_subscribers($1, $2, $3, $4, $5, $6, $7, $8)"

UNBLOCK: Final = """
    UPDATE webhook_endpoint
       SET blocked_until = NULL
     WHERE organization_id = $1
       AND id = $2
       AND blocked_until IS NOT NULL
"""

SENT: Final = "SELECT " + COLUMNS + """
      FROM webhook_delivery d
     WHERE d.organization_id = $1
       AND d.endpoint_id = $2
       AND d.at = $3
       AND d.event_id = $4
"""  # fmt: skip
