"""What is kept of letters: nothing of somebody who is erased, no address for long, and no row for ever."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

from gatepass.base.database import Database
from gatepass.domain import cards
from gatepass.domain.mail import LetterKind, Mailer, cleanup, queue
from gatepass.domain.mail.queue import LetterState, Result
from gatepass.domain.maintenance import run_due
from tests import factory
from tests.factory import Tenant

CODE = {"code": "123456", "organizer": "Harbour Nights"}
DAY = timedelta(days=1)


async def guest(tenant: Tenant) -> UUID:
    async with tenant.db.transaction() as tx:
        card = await cards.issue(
            tx, tenant.id, by="t", at=factory.now(), holder_name="Ada", holder_email="ada@example.com"
        )
    return card.id


async def write(tenant: Tenant, mailer: Mailer, card_id: UUID, to: str = "ada@example.com") -> None:
    async with tenant.db.transaction() as tx:
        await mailer.write(
            tx, LetterKind.PHONE_CODE, to=to, organization_id=tenant.id, values=CODE, at=factory.now(), card_id=card_id
        )


async def erase(tenant: Tenant, card_id: UUID) -> None:
    async with tenant.db.transaction() as tx:
        await cards.erase_holder(tx, tenant.id, card_id, by="t", at=factory.now())


async def letters(tenant: Tenant) -> list[Any]:
    async with tenant.db.autocommit() as tx:
        return await tx.rows("SELECT * FROM letter WHERE organization_id = $1 ORDER BY id", tenant.id)


async def send_all(db: Database) -> None:
    """Every letter that waits is sent."""
    async with db.transaction() as tx:
        claimed = await queue.claim(tx, 1_000)
        await queue.record(tx, [Result(one, LetterState.SENT, f"250 taken for {one.address}") for one in claimed])


async def test_the_letters_of_an_erased_holder_are_gone_and_not_sent(fresh: Database, mailer: Mailer) -> None:
    tenant, other = await factory.tenant(fresh), await factory.tenant(fresh)
    erased, stays = await guest(tenant), await guest(tenant)
    await write(tenant, mailer, erased)
    await send_all(fresh)
    await write(tenant, mailer, erased)
    await write(tenant, mailer, stays)
    await write(other, mailer, erased)
    await erase(tenant, erased)
    assert [row["card_id"] for row in await letters(tenant)] == [stays]
    assert len(await letters(other)) == 1, "another organization's letters stay"
    async with fresh.transaction() as tx:
        assert len(await queue.claim(tx, 10)) == 2


async def test_a_letter_that_is_being_sent_when_its_reader_is_erased_leaves_nothing(
    fresh: Database, mailer: Mailer
) -> None:
    tenant = await factory.tenant(fresh)
    card_id = await guest(tenant)
    await write(tenant, mailer, card_id)
    async with fresh.transaction() as tx:
        (claimed,) = await queue.claim(tx, 10)
    await erase(tenant, card_id)
    async with fresh.transaction() as tx:
        assert await queue.record(tx, [Result(claimed, LetterState.SENT)]) == 0
    assert await letters(tenant) == []


async def test_an_erasure_waits_for_letters_that_are_being_written(tenant: Tenant, mailer: Mailer) -> None:
    card_id = await guest(tenant)
    async with tenant.db.transaction() as tx:
        assert await cards.keep_holders(tx, tenant.id, [card_id]) == {card_id}
        erasing = asyncio.create_task(erase(tenant, card_id))
        await waits_for_a_lock(tenant.db)
        await mailer.write(
            tx, LetterKind.PHONE_CODE, to="ada@example.com", organization_id=tenant.id, values=CODE, at=factory.now(),
            card_id=card_id,
        )  # fmt: skip
    await erasing
    assert await letters(tenant) == []
    async with tenant.db.transaction() as tx:
        assert await cards.keep_holders(tx, tenant.id, [card_id]) == set()


async def waits_for_a_lock(db: Database) -> None:
    async with asyncio.timeout(60), db.autocommit() as tx:
        while not await tx.value(WAITING):  # noqa: ASYNC110  PostgreSQL tells nobody
            await asyncio.sleep(0.01)


async def test_a_sent_letter_loses_its_values_then_its_address_then_its_row(fresh: Database, mailer: Mailer) -> None:
    tenant = await factory.tenant(fresh)
    for _ in range(3):
        await write(tenant, mailer, await guest(tenant))
    await send_all(fresh)
    await write(tenant, mailer, await guest(tenant), to="waits@example.com")
    assert {(row["sealed_values"], row["address"]) for row in (await letters(tenant))[:3]} == {(b"", "ada@example.com")}
    now = factory.now()
    assert (await run_due(fresh, at=now + cleanup.ADDRESS_KEPT - DAY)).addresses_forgotten == 0
    assert (await run_due(fresh, at=now + cleanup.ADDRESS_KEPT + DAY)).addresses_forgotten == 3
    *sent, waiting = await letters(tenant)
    assert {(row["address"], row["answer"], row["state"]) for row in sent} == {("", None, "sent")}
    assert waiting["address"] == "waits@example.com"
    assert (await run_due(fresh, at=now + cleanup.LETTER_KEPT - DAY)).letters_deleted == 0
    assert (await run_due(fresh, at=now + cleanup.LETTER_KEPT + DAY)).letters_deleted == 3
    assert [row["state"] for row in await letters(tenant)] == ["waiting"]


async def test_old_letters_are_forgotten_in_bounded_steps(fresh: Database, mailer: Mailer) -> None:
    tenant = await factory.tenant(fresh)
    card_id = await guest(tenant)
    for _ in range(3):
        await write(tenant, mailer, card_id)
    await send_all(fresh)
    at = factory.now() + cleanup.LETTER_KEPT + DAY
    batch, cleanup.BATCH = cleanup.BATCH, 2
    try:
        for step in (cleanup.forget_some_addresses, cleanup.delete_some_old):
            counts: list[int] = []
            for _ in range(3):
                async with fresh.transaction() as tx:
                    counts.append(await step(tx, at=at))
            assert counts == [2, 1, 0]
    finally:
        cleanup.BATCH = batch


WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
