"""More scans at once than may wait: the rest is told so at once, and what was taken in is answered."""

import asyncio
from collections import Counter

from gatepass.api.gatehouse import BATCH, MOST_WAITING
from tests.api.conftest import Door
from tests.faults.gates import books, load, scan_body
from tests.make import House

TOO_MANY = 100


async def test_past_the_bound_a_scan_is_refused_at_once(door: Door, house: House) -> None:
    numbers = await load(house, MOST_WAITING + BATCH + TOO_MANY)
    async with door.client((await house.key()).text) as client:
        first = await client.post("/scan", json=scan_body(house, {"card_number": numbers[0]}, "gate"))
        assert first.status_code == 200  # from now on the key is remembered
        answers = await asyncio.gather(
            *(client.post("/scan", json=scan_body(house, {"card_number": number}, "gate")) for number in numbers)
        )
    refused = [answer for answer in answers if answer.status_code == 503]
    assert len(refused) >= TOO_MANY
    for answer in refused:
        assert answer.json()["code"] == "overloaded"
        assert int(answer.headers["Retry-After"]) >= 1
        assert answer.headers["x-svc-should-retry"] == "true"
    taken = Counter(answer.status_code for answer in answers) - Counter({503: len(refused)})
    assert taken == {200: len(numbers) - len(refused) - 1, 409: 1}
    activated = [ticket for ticket in (await books(house)).tickets.values() if ticket.activated_at is not None]
    assert len(activated) == taken[200] + 1
