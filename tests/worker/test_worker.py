"""The worker: committed messages arrive, signed and in order, and are recorded; failures are tried again."""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

import psycopg

from gatepass.base.database import Database
from gatepass.domain import events, webhooks
from gatepass.domain.events import EventStatus
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import MessageType
from gatepass.worker.worker import NOT_CLAIMED, READY_FOR
from tests import factory
from tests.factory import Tenant
from tests.receivers import receiving, status
from tests.worker.conftest import working


async def until(what: Callable[[], Awaitable[bool]], seconds: float = 60) -> None:
    """Poll until it is true."""
    async with asyncio.timeout(seconds):
        while not await what():  # noqa: ASYNC110  a row in another process's database says nothing by itself
            await asyncio.sleep(0.01)


async def states(tenant: Tenant) -> list[tuple[str, int, int | None]]:
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows(
            "SELECT state, attempts, last_status FROM webhook_delivery WHERE organization_id = $1 ORDER BY at, id",
            tenant.id,
        )
    return [tuple(row) for row in rows]


async def has_states(tenant: Tenant, *expected: tuple[str, int, int | None]) -> None:
    async def they_are() -> bool:
        return sorted(await states(tenant)) == sorted(expected)

    try:
        await until(they_are)
    except TimeoutError:
        assert await states(tenant) == expected


async def test_what_was_committed_arrives_and_is_recorded(own: Database, tenant: Tenant) -> None:
    async with receiving() as receiver, working(own):
        await tenant.endpoint(receiver.url())
        told = await tenant.tell(20)
        messages = await receiver.wait(20)
        assert {message.json()["id"] for message in messages} == {webhooks.written_id(id) for id in told}
        assert {message.headers["x-svc-attempt"] for message in messages} == {"1"}
        await has_states(tenant, *[("delivered", 1, 200)] * 20)


async def test_a_failure_is_tried_again_in_the_sandbox_sixty_times_faster(own: Database, tenant: Tenant) -> None:
    async with receiving(answers=[500, 503]) as receiver, working(own):
        await tenant.endpoint(receiver.url(), mode=Mode.SANDBOX)
        async with own.transaction() as tx:
            message = webhooks.Message(factory.new_id(), MessageType.TICKET_ACTIVATED, {})
            await webhooks.emit(tx, tenant.id, [message], at=factory.now(), mode=Mode.SANDBOX)
        messages = await receiver.wait(3)
        assert [message.headers["x-svc-attempt"] for message in messages] == ["1", "2", "3"]
        assert len({message.body for message in messages}) == 1
        assert len({message.headers["x-svc-signature"] for message in messages}) == 3
        await has_states(tenant, ("delivered", 3, 200))


async def test_gone_pauses_holds_and_resuming_sends(own: Database, tenant: Tenant) -> None:
    async with receiving(answers=[410]) as receiver, working(own):
        id, _ = await tenant.endpoint(receiver.url())
        await tenant.tell()
        await receiver.wait(1)

        async def is_paused() -> bool:
            async with own.autocommit() as tx:
                return (await webhooks.find_endpoint(tx, tenant.id, Mode.LIVE, id)).status == "paused"

        await until(is_paused)
        await tenant.tell(5)
        await until(lambda: _all_set_aside(own, tenant))
        assert len(receiver.messages) == 1
        await resume(own, tenant, id)
        await receiver.wait(7)
        assert len({message.json()["id"] for message in receiver.messages}) == 6


async def _all_set_aside(own: Database, tenant: Tenant) -> bool:
    async with own.autocommit() as tx:
        rows = await tx.rows("SELECT lane FROM webhook_queue WHERE organization_id = $1", tenant.id)
    return [row["lane"] for row in rows] == [1] * 6


async def resume(own: Database, tenant: Tenant, id: UUID) -> None:
    """Resume as PATCH does, and make the first message due, which waits for its second attempt."""
    async with own.transaction() as tx:
        await tx.run(
            "UPDATE webhook_endpoint SET status = 'active', paused_reason = NULL, failures = 0, failing_since = NULL,"
            " blocked_until = NULL WHERE organization_id = $1 AND id = $2", tenant.id, id,
        )  # fmt: skip
        await tx.run("UPDATE webhook_queue SET next_at = now() WHERE organization_id = $1", tenant.id)


async def test_too_many_requests_are_waited_for(own: Database, tenant: Tenant) -> None:
    """The whole endpoint waits, not only the message that got the response."""
    async with receiving(answers=[status(429, retry_after="1")]) as receiver, working(own):
        await tenant.endpoint(receiver.url(), mode=Mode.LIVE)
        await tenant.tell(1)
        (first,) = await receiver.wait(1)
        await until(lambda: _is_blocked(own, tenant))
        await tenant.tell(3)
        messages = await receiver.wait(4)
        assert min(message.at for message in messages[1:]) - first.at >= 0.9


async def _is_blocked(own: Database, tenant: Tenant) -> bool:
    async with own.autocommit() as tx:
        return await tx.value(
            "SELECT blocked_until IS NOT NULL FROM webhook_endpoint WHERE organization_id = $1", tenant.id
        )


async def test_a_cancelled_event_cancels_its_tickets_and_tells_of_each(own: Database, tenant: Tenant) -> None:
    cards = [await tenant.card() for _ in range(30)]
    async with receiving() as receiver, working(own):
        await tenant.endpoint(receiver.url(), MessageType.EVENT_CANCELLED, MessageType.TICKET_CANCELLED)
        async with own.transaction() as tx:
            await events.change_status(
                tx, tenant.id, tenant.event_id, EventStatus.CANCELLED, by="test", at=factory.now(), reason="Storm"
            )
        messages = [message.json() for message in await receiver.wait(31)]
        assert [message["data"]["reason"] for message in messages if message["type"] == "event.cancelled"] == ["Storm"]
        told = {message["data"]["card_number"] for message in messages if message["type"] == "ticket.cancelled"}
        assert told == {card.number for card in cards}


async def test_a_card_that_changes_is_told_of(own: Database, tenant: Tenant) -> None:
    card = await tenant.card()
    async with receiving() as receiver, working(own):
        await tenant.endpoint(receiver.url(), MessageType.CARD_STATUS_CHANGED)
        await tenant.move_card(card, factory.CardStatus.SUSPENDED)
        (message,) = await receiver.wait(1)
        data = message.json()["data"]
        assert (data["card_number"], data["previous_status"], data["status"]) == (card.number, "active", "suspended")


async def test_two_workers_share_the_work(own: Database, tenant: Tenant) -> None:
    async with receiving() as receiver, working(own), working(own):
        await tenant.endpoint(receiver.url())
        await tenant.tell(300)
        await receiver.wait(300)
        await has_states(tenant, *[("delivered", 1, 200)] * 300)
        assert len(receiver.messages) == 300


async def test_stopping_finishes_what_is_in_hand(own: Database, tenant: Tenant) -> None:
    async with receiving(otherwise=status(200, delay=0.3)) as receiver:
        await tenant.endpoint(receiver.url())
        async with working(own):
            await tenant.tell(3)
            await receiver.wait(1)
        assert {state for state, _, _ in await states(tenant)} <= {"delivered", "pending"}
        delivered = sum(state == "delivered" for state, _, _ in await states(tenant))
        assert delivered == len(receiver.messages)


async def test_a_worker_whose_database_goes_away_comes_back(own: Database, tenant: Tenant) -> None:
    async with receiving() as receiver, working(own):
        await tenant.endpoint(receiver.url())
        await tenant.tell()
        await receiver.wait(1)
        with psycopg.connect(own.url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gatepass worker'"
            )
        await tenant.tell()
        await receiver.wait(2)


async def test_a_worker_that_looks_no_more_is_not_ready(own: Database) -> None:
    async with working(own) as worker:

        async def is_ready() -> bool:
            return worker.trouble() is None

        await until(is_ready)
    later = worker._claimed_at + READY_FOR
    worker._monotonic = lambda: later - 0.01
    assert worker.trouble() is None
    worker._monotonic = lambda: later
    assert worker.trouble() == NOT_CLAIMED


async def test_what_was_claimed_and_not_begun_is_given_back(own: Database, tenant: Tenant) -> None:
    """The next worker need not wait for the claim to lapse, and its attempt number is 1."""
    async with receiving(otherwise=status(200, delay=0.2)) as receiver:
        await tenant.endpoint(receiver.url())
        await tenant.tell(200)
        async with working(own):
            await receiver.wait(20)
        left = 200 - len(receiver.messages)
        assert left > 0
        async with own.autocommit() as tx:
            rows = await tx.rows(
                "SELECT attempt, next_at <= now() AS due FROM webhook_queue WHERE organization_id = $1", tenant.id
            )
        assert [tuple(row) for row in rows] == [(0, True)] * left
        receiver.otherwise = 200
        async with working(own):
            await has_states(tenant, *[("delivered", 1, 200)] * 200)


async def test_patience_is_kept_although_others_succeeded(own: Database, tenant: Tenant) -> None:
    """One of several attempts gets 429 and the others 200: the endpoint waits all the same."""
    answers = [status(200, delay=0.1), status(429, delay=0.1, retry_after="2"), status(200, delay=0.1)]
    async with receiving(answers=answers) as receiver, working(own):
        await tenant.endpoint(receiver.url())
        await tenant.tell(3)
        first = (await receiver.wait(3))[-1]
        await until(lambda: _is_blocked(own, tenant))
        await tenant.tell(1)
        messages = await receiver.wait(4)
        assert messages[3].at - first.at >= 1.5
