"""Scans for the tests of this folder."""

from msgspec.structs import replace

from gatepass.base.ids import new_id
from gatepass.domain.keys import Mode
from gatepass.domain.tickets import Scan
from tests.factory import Tenant


async def shown(tenant: Tenant, **differently: object) -> Scan:
    """A card with an unused ticket, shown at a gate."""
    card = await tenant.card()
    scan = Scan(
        request_id=new_id(),
        organization_id=tenant.id,
        mode=Mode.LIVE,
        key_id=(await tenant.key()).id,
        address=None,
        elapsed_us=1,
        idempotency_key=str(new_id()),
        event_id=tenant.event_id,
        card_number=card.number,
        shown=card.number,
        expired=False,
        gate=None,
        scanner_id=None,
        occurred_at=None,
    )
    return replace(scan, **differently)
