"""A lock is held for longer than a gate can wait: the answer is 503 with Retry-After.

409 would be false: clients read it as "already used".
"""

import asyncio
import time
from collections.abc import Generator

import httpx2
import pytest

from gatepass.domain import idempotency
from gatepass.domain.keys import Mode
from tests.factory import Tenant
from tests.faults.conftest import Pair, launch_pair
from tests.faults.gates import DEADLINE, client_of, database_state, is_replayed, load, request_id, scan, wait_for
from tests.faults.test_postgres_gone import assert_unavailable
from tests.size import NIGHT


@pytest.fixture(scope="module")
def pair(settings_env: dict[str, str]) -> Generator[Pair]:
    """When they give up is what is tested."""
    started = launch_pair({**settings_env, "GATEPASS_DATABASE_DEADLINE": DEADLINE})
    yield started
    for server in started:
        server.stop()


LOCK_TICKET = """
    SELECT t.id
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
     WHERE t.organization_id = $1
       AND c.number = $2
       FOR UPDATE OF t
"""


async def test_a_locked_ticket(pair: Pair, tenant: Tenant) -> None:
    """Two scans with keys of their own, and a third scan sent twice, all for one ticket."""
    (number,) = await load(tenant, 1)
    key = (await tenant.key()).text
    async with client_of(pair[0], key) as one, client_of(pair[1], key) as other:

        async def send(client: httpx2.AsyncClient, idempotency_key: str) -> httpx2.Response:
            return await scan(
                client, tenant, {"card_number": number}, gate=idempotency_key, idempotency_key=idempotency_key
            )

        async with tenant.db.transaction() as tx:
            await tx.run(LOCK_TICKET, tenant.id, number)
            began = time.monotonic()
            answers = await asyncio.gather(
                send(one, "a"), send(other, "b"), send(one, "duplicate"), send(other, "duplicate")
            )
            waited = time.monotonic() - began
            for answer in answers:
                assert_unavailable(answer)
            assert waited > 0.2
            if NIGHT:
                assert waited < 3
            assert all(ticket.activated_at is None for ticket in (await database_state(tenant)).tickets.values())
        answered = {name: await send(client, name) for client in (one, other) for name in ("a", "b", "duplicate")}
        again = {name: await send(one, name) for name in answered}

    found = await database_state(tenant)
    winner = found.tickets[number].activated_gate
    assert winner in answered
    assert [name for name, answer in answered.items() if answer.status_code == 200] == [winner]
    for name, answer in answered.items():
        assert answer.status_code == (200 if name == winner else 409)
        assert is_replayed(again[name])
        assert again[name].content == answer.content
        if name != winner:
            assert answer.json()["details"]["gate"] == winner
    assert found.verdicts(number)["activated"] == 1
    assert found.scans[found.tickets[number].activated_by or tenant.id] == (number, "activated")


async def test_a_duplicate_that_waits_too_long(pair: Pair, tenant: Tenant) -> None:
    """The idempotency key is locked, as if by a first sending; the second waits for it, and gives up."""
    (number,) = await load(tenant, 1)
    key = (await tenant.key()).text
    lock = idempotency.key_digest(Mode.LIVE, "duplicate")
    async with client_of(pair[0], key) as client:
        async with tenant.db.transaction() as tx:
            await tx.run("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"{tenant.id}{lock}")
            assert_unavailable(await scan(client, tenant, {"card_number": number}, idempotency_key="duplicate"))
        answer = await scan(client, tenant, {"card_number": number}, idempotency_key="duplicate")
    assert answer.status_code == 200
    assert not is_replayed(answer)
    assert (await database_state(tenant)).tickets[number].activated_by == request_id(answer)


async def test_the_request_log_cannot_be_written(pair: Pair, tenant: Tenant) -> None:
    """A refused scan waits for its row in the request log, within a limit; the row is written later."""
    key = (await tenant.key()).text
    async with client_of(pair[0], key) as client:
        async with tenant.db.transaction() as tx:
            await tx.run("LOCK TABLE request_log IN ACCESS EXCLUSIVE MODE")
            began = time.monotonic()
            read, refused, scanned = await asyncio.gather(
                client.get("/events"),
                client.post("/scan", content=b"not JSON"),
                scan(client, tenant, {"card_number": "SVC 0000 0000 0000"}),
            )
            if NIGHT:
                assert time.monotonic() - began < 5
        assert read.status_code == 200
        assert refused.status_code == 400
        assert_unavailable(scanned)

        async def are_written() -> bool:
            return {request_id(read), request_id(refused), request_id(scanned)} <= (
                await database_state(tenant)
            ).request_log.keys()

        await wait_for(are_written)
