"""The outbox: messages are written in the transaction of what they tell of, so that neither is there without the other.

`outbox.sql` beside this file writes them. Scans call it inside their own statement; everything else comes through
`emit`.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks.message import Message, MessageType


async def emit(
    tx: Tx, organization_id: UUID, messages: Sequence[Message], *, at: datetime, mode: Mode = Mode.LIVE
) -> None:
    """Tell whoever has subscribed. Messages of one type go together."""
    heard = await heard_types(tx, organization_id, mode, at=at)
    for type in dict.fromkeys(message.type for message in messages if message.type in heard):
        told = [message for message in messages if message.type is type]
        await _tell(tx, organization_id, mode, type, told, at=at)


async def emit_to(
    tx: Tx, organization_id: UUID, endpoint_id: UUID, message: Message, *, at: datetime, mode: Mode
) -> None:
    """Tell one endpoint, whatever it has subscribed to."""
    await _tell(tx, organization_id, mode, message.type, [message], at=at, endpoint_id=endpoint_id)


async def heard_types(tx: Tx, organization_id: UUID, mode: Mode, *, at: datetime) -> frozenset[str]:
    """The types that somebody asks for: an endpoint by its list, or a reader of the feed."""
    return frozenset(await tx.value(HEARD, organization_id, mode, at))


async def _tell(
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
        TELL,
        at,
        [organization_id] * count,
        [mode.value] * count,
        [type.value] * count,
        [message.id for message in messages],
        [message.ordering_key or message.id for message in messages],
        [message.body(organization_id, at) for message in messages],
        endpoint_id,
    )


HEARD: Final = "SELECT heard_types($1, $2, $3)"

TELL: Final = "SELECT tell_subscribers($1, $2, $3, $4, $5, $6, $7, $8)"
