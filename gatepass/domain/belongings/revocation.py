"""Taking out of use what somebody made. Cards are locked first, as everywhere."""

from collections.abc import Collection
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.encryption import Vault
from gatepass.base.errors import NotAllowedFromHere
from gatepass.domain import card_exports, cards, devices, keys, webhooks
from gatepass.domain.belongings.belonging import Belonging, BelongingKind
from gatepass.domain.devices.pairing import end_code

ORDER: Final = (
    BelongingKind.CARD_LINK,
    BelongingKind.DEVICE,
    BelongingKind.PAIRING_CODE,
    BelongingKind.KEY,
    BelongingKind.ENDPOINT,
    BelongingKind.CARD_EXPORT,
)


async def revoke_all(
    tx: Tx, organization_id: UUID, chosen: Collection[Belonging], vault: Vault, cell: str, *, by: str, at: datetime
) -> None:
    """From the very next request on none of these works. Each change is in the audit log as if it were made alone."""
    for one in sorted(chosen, key=lambda one: (ORDER.index(one.kind), one.id)):
        await _revoke(tx, organization_id, one, vault, cell, by=by, at=at)


async def _revoke(
    tx: Tx, organization_id: UUID, one: Belonging, vault: Vault, cell: str, *, by: str, at: datetime
) -> None:
    match one.kind:
        case BelongingKind.CARD_LINK:
            await cards.change_link(tx, organization_id, one.id, vault, cell, by=by, at=at)
        case BelongingKind.DEVICE:
            await devices.revoke(tx, organization_id, one.mode, one.id, by=by, at=at)
        case BelongingKind.PAIRING_CODE:
            await end_code(tx, organization_id, one.mode, one.id, by=by, at=at)
        case BelongingKind.KEY:
            await keys.revoke(tx, organization_id, one.id, by=by, at=at)
        case BelongingKind.ENDPOINT:
            await webhooks.delete_endpoint(tx, organization_id, one.mode, one.id, by=by, at=at)
        case BelongingKind.CARD_EXPORT:
            await _remove_file(tx, organization_id, one.id, by=by, at=at)


async def _remove_file(tx: Tx, organization_id: UUID, export_id: UUID, *, by: str, at: datetime) -> None:
    """Whether it is still being made or ready."""
    try:
        await card_exports.stop(tx, organization_id, export_id, by=by, at=at)
    except NotAllowedFromHere:
        await card_exports.delete(tx, organization_id, export_id, by=by, at=at)
