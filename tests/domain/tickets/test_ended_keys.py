"""What was remembered may have ended: a scan under such a key is not judged, and its neighbours do not notice."""

from datetime import timedelta

from msgspec.structs import replace

from gatepass.api.errors import VERDICT_STATUSES
from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain import cards, keys, tickets
from gatepass.domain.keys import Mode
from gatepass.domain.tickets import Scan
from tests import make
from tests.make import House


async def gate(house: House, **differently: object) -> Scan:
    """A card with an unused ticket, shown at a gate."""
    card = await house.card()
    scan = Scan(
        request_id=new_id(),
        organization_id=house.id,
        mode=Mode.LIVE,
        key_id=(await house.key()).id,
        address=None,
        elapsed_us=1,
        retry_key="one for all",
        event_id=house.event_id,
        card_number=card.number,
        shown=card.number,
        expired=False,
        gate=None,
        scanner_id=None,
        occurred_at=None,
    )
    return replace(scan, **differently)


async def test_a_key_that_has_ended_leaves_no_trace(db: Database, house: House) -> None:
    """Three of a batch came under keys that ended; the last has the same retry key, and is the first to be judged."""
    revoked, expired = await house.key(), await house.key(expires_at=make.now() + timedelta(minutes=1))
    at = make.now() + timedelta(minutes=2)
    async with db.transaction() as tx:
        (signer,) = await cards.verifying_keys(tx, house.id)
        await cards.rotate(tx, house.id, make.VAULT, by=make.BY, at=make.now())
        await cards.retire(tx, house.id, signer.id, by=make.BY, at=make.now(), reason="stolen")
        await keys.revoke(tx, house.id, revoked.id, by=make.BY, at=make.now())
    batch = [
        await gate(house, key_id=revoked.id),
        await gate(house, key_id=expired.id),
        await gate(house, signing_key=signer.id),
        await gate(house),
    ]
    async with db.statement() as tx:
        verdicts = await tickets.activate(tx, batch, at=at, statuses=VERDICT_STATUSES)
        traces = {
            row["id"]
            for row in await tx.rows(
                "SELECT id FROM scan WHERE organization_id = $1 UNION SELECT id FROM audit WHERE organization_id = $1",
                house.id,
            )
        }
        used = await tx.value(
            "SELECT count(*) FROM ticket WHERE organization_id = $1 AND activated_at IS NOT NULL", house.id
        )
    *ended, good = verdicts
    assert ended == [None, None, None]
    assert good is not None
    assert (good.verdict, good.replayed) == ("activated", False)
    assert traces == {batch[-1].request_id}
    assert used == 1
