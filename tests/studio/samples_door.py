"""What the live door's routes need to be walked: an event, and a scan with everything that a caller can write."""

from tests import make
from tests.domain.door.test_tally import activate, key_of, scan
from tests.studio.walk import XSS


async def ids(house: make.House) -> dict[str, str]:
    card, key_id = await house.card(), await key_of(house)
    async with house.db.statement() as tx:
        await activate(tx, [scan(house, key_id, card.number, gate=XSS[:64]), scan(house, key_id, XSS[:64])])
    return {"event_id": str(house.event_id)}


FORMS = dict[str, dict[str, str]]()
UNNOTED = set[str]()
STREAMS = {"GET /studio/{mode}/events/{event_id}/door/stream"}
