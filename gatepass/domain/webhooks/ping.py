"""A ping: somebody tests an endpoint, and it is sent a message that tells of nothing."""

from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.base.refusals import NotAllowedFromHere
from gatepass.domain import changes
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks.deliveries import Delivery
from gatepass.domain.webhooks.endpoint import SUBJECT, Endpoint
from gatepass.domain.webhooks.endpoints import lock_endpoint
from gatepass.domain.webhooks.message import Message, MessageType
from gatepass.domain.webhooks.outbox import emit_to


async def ping(
    tx: Tx, organization_id: UUID, mode: Mode, endpoint_id: UUID, *, by: str, at: datetime
) -> tuple[Endpoint, Delivery]:
    """Send a ping at once, even to an endpoint that is left alone for a while because it failed."""
    endpoint = await lock_endpoint(tx, organization_id, mode, endpoint_id)
    if endpoint.is_paused:
        raise NotAllowedFromHere("The endpoint is paused. Resume it first.")
    await tx.run(UNBLOCK, organization_id, endpoint_id)
    message = Message(new_id(), MessageType.PING, {"webhook_id": str(endpoint_id)})
    await emit_to(tx, organization_id, endpoint_id, message, at=at, mode=mode)
    await changes.note(tx, organization_id, SUBJECT, endpoint_id, "tested", by=by, at=at)
    delivery = await tx.one(Delivery, SENT, organization_id, endpoint_id, at, message.id)
    assert delivery is not None  # noqa: S101  it was written just now
    return endpoint, delivery


UNBLOCK: Final = """
    UPDATE webhook_endpoint
       SET blocked_until = NULL
     WHERE organization_id = $1
       AND id = $2
       AND blocked_until IS NOT NULL
"""

SENT: Final = """
    SELECT at, id, event_txid, event_id, event_at, type, ordering_key, state, attempts, next_at, ended_at, last_status,
           last_error, replay_id
      FROM webhook_delivery
     WHERE organization_id = $1
       AND endpoint_id = $2
       AND at = $3
       AND event_id = $4
"""
