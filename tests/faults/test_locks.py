"""Somebody holds a lock for longer than a gate can wait: the answer is 503 with Retry-After, never a lie.

409 would be one: clients read it as "already used".
"""

import asyncio
import time

import httpx2
import pytest

from gatepass.domain.tickets import activation
from tests.faults.conftest import Pair
from tests.faults.gates import books, client_of, is_replayed, load, request_id, scan, wait_for
from tests.faults.test_postgres_gone import assert_unavailable
from tests.make import House

LOCK_TICKET = """
    SELECT t.id
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
     WHERE t.organization_id = $1
       AND c.number = $2
       FOR UPDATE OF t
"""


async def test_a_ticket_that_somebody_holds(pair: Pair, house: House) -> None:
    """Two gates with keys of their own, and two sendings of a third scan, all for one ticket."""
    (number,) = await load(house, 1)
    key = (await house.key()).text
    async with client_of(pair[0], key) as one, client_of(pair[1], key) as other:

        async def send(client: httpx2.AsyncClient, retry_key: str) -> httpx2.Response:
            return await scan(client, house, {"card_number": number}, gate=retry_key, retry_key=retry_key)

        async with house.db.transaction() as tx:
            await tx.run(LOCK_TICKET, house.id, number)
            began = time.monotonic()
            answers = await asyncio.gather(send(one, "a"), send(other, "b"), send(one, "twin"), send(other, "twin"))
            waited = time.monotonic() - began
            for answer in answers:
                assert_unavailable(answer)
            assert 0.2 < waited < 3
            assert all(ticket.activated_at is None for ticket in (await books(house)).tickets.values())
        told = {name: await send(client, name) for client in (one, other) for name in ("a", "b", "twin")}
        again = {name: await send(one, name) for name in told}

    found = await books(house)
    winner = found.tickets[number].activated_gate
    assert winner in told
    assert [name for name, answer in told.items() if answer.status_code == 200] == [winner]
    for name, answer in told.items():
        assert answer.status_code == (200 if name == winner else 409)
        assert is_replayed(again[name])
        assert again[name].content == answer.content
        if name != winner:
            assert answer.json()["details"]["gate"] == winner
    assert found.verdicts(number)["activated"] == 1
    assert found.scans[found.tickets[number].activated_by or house.id] == (number, "activated")


async def test_a_twin_that_waits_too_long(pair: Pair, house: House) -> None:
    """The first sending is held after it took the retry key; the second waits for the key, and gives up."""
    (number,) = await load(house, 1)
    key = (await house.key()).text
    lock = activation._digest("live", "twin")
    async with client_of(pair[0], key) as client:
        async with house.db.transaction() as tx:
            await tx.run("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"{house.id}{lock}")
            assert_unavailable(await scan(client, house, {"card_number": number}, retry_key="twin"))
        answer = await scan(client, house, {"card_number": number}, retry_key="twin")
    assert answer.status_code == 200
    assert not is_replayed(answer)
    assert (await books(house)).tickets[number].activated_by == request_id(answer)


@pytest.mark.slow
async def test_the_audit_trail_cannot_be_written(pair: Pair, house: House) -> None:
    """A refused scan waits for its audit row, but not for ever; the row is written when it can be."""
    key = (await house.key()).text
    async with client_of(pair[0], key) as client:
        async with house.db.transaction() as tx:
            await tx.run("LOCK TABLE audit IN ACCESS EXCLUSIVE MODE")
            began = time.monotonic()
            read, refused, scanned = await asyncio.gather(
                client.get("/events"),
                client.post("/scan", content=b"not JSON"),
                scan(client, house, {"card_number": "SVC 0000 0000 0000"}),
            )
            assert time.monotonic() - began < 5
        assert read.status_code == 200
        assert refused.status_code == 400
        assert_unavailable(scanned)

        async def are_written() -> bool:
            return {request_id(read), request_id(refused), request_id(scanned)} <= (await books(house)).audit.keys()

        await wait_for(are_written)
