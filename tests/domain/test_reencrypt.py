"""Re-encryption: the first key encrypts every secret, none is lost, and no rotation at the same time is undone."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

import psycopg
import pytest

from gatepass.base.database import Database
from gatepass.base.encryption import Vault, new_key
from gatepass.base.errors import Busy
from gatepass.base.ids import new_id
from gatepass.domain import cards, reencrypt, staff
from gatepass.domain.reencrypt import BATCH, COLUMNS, EncryptionReport, SecretLocation, examine, reencrypt_secrets
from gatepass.domain.staff import one_time_code
from tests import factory, sealed_secrets
from tests.postgres import Cluster
from tests.sealed_secrets import NEW_SECRET, SECRET

OLD_KEY, NEW_KEY = new_key(), new_key()
BEFORE, DURING, AFTER = Vault([OLD_KEY]), Vault([NEW_KEY, OLD_KEY]), Vault([NEW_KEY])
FOREIGN: Final = Vault([new_key()])
SECRETS: Final = COLUMNS[2]


@pytest.fixture(scope="module")
def template(cluster: Cluster) -> str:
    cluster.create_migrated("gatepass_reencrypt")
    return "gatepass_reencrypt"


@pytest.fixture
async def fresh(cluster: Cluster, template: str) -> AsyncGenerator[Database]:
    """A database of its own: re-encryption looks at every organization."""
    name = f"gatepass_reencrypt_{new_id().hex[-12:]}"
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
    database = factory.database(cluster.url(name), connections=4)
    yield database
    await database.close()


@pytest.fixture
async def organization_id(fresh: Database) -> UUID:
    return await sealed_secrets.organization(fresh)


async def everything(db: Database) -> list[tuple[Any, ...]]:
    async with db.autocommit() as tx:
        return [tuple(row) for row in await tx.rows(EVERY_BOX)]


EVERY_BOX: Final = """
    SELECT id, sealed_private_key, NULL FROM signing_key
     UNION ALL
    SELECT id, sealed_secret, sealed_new_secret FROM webhook_endpoint
     ORDER BY 1
"""


# ---- one process -----------------------------------------------------------------------------------------------


async def test_secrets_of_every_organization_work_without_the_old_key(fresh: Database) -> None:
    made: list[tuple[UUID, UUID]] = []
    for _ in range(3):
        organization_id = await sealed_secrets.organization(fresh)
        async with fresh.transaction() as tx:
            await cards.rotate(tx, organization_id, BEFORE, by=factory.BY, at=factory.now())
        made.append((organization_id, await sealed_secrets.endpoint(fresh, organization_id, BEFORE, rotating=True)))
    assert await reencrypt_secrets(fresh, DURING) == EncryptionReport(current=9, reencrypted=9)
    assert await examine(fresh, AFTER) == EncryptionReport(current=9)
    for organization_id, endpoint_id in made:
        async with fresh.autocommit() as tx:
            sign = await cards.signer(tx, organization_id, AFTER, at=factory.now())
            keys = await cards.verifying_keys(tx, organization_id)
        assert cards.read_token(sign("SVC 0000 0000 0000", factory.now()), keys).card_number == "SVC 0000 0000 0000"
        boxes, place = (
            await sealed_secrets.boxes(fresh, endpoint_id),
            sealed_secrets.context(organization_id, endpoint_id),
        )
        assert AFTER.open(boxes.secret, place) == SECRET
        assert AFTER.open(boxes.new_secret or b"", place) == NEW_SECRET


@pytest.mark.parametrize("count", [0, 1, BATCH, BATCH + 1, 2 * BATCH + 7])
async def test_however_many_there_are(fresh: Database, organization_id: UUID, count: int) -> None:
    await sealed_secrets.signing_keys(fresh, organization_id, BEFORE, count)
    assert await examine(fresh, DURING) == EncryptionReport(older=count)
    assert await reencrypt_secrets(fresh, DURING) == EncryptionReport(current=count, reencrypted=count)
    assert await examine(fresh, AFTER) == EncryptionReport(current=count)


async def test_what_the_first_key_has_sealed_is_left_as_it_is(fresh: Database, organization_id: UUID) -> None:
    await sealed_secrets.signing_keys(fresh, organization_id, BEFORE, 3)
    (current,) = await sealed_secrets.signing_keys(fresh, organization_id, DURING, 1)
    before = dict(tuple(row[:2]) for row in await everything(fresh))
    assert await reencrypt_secrets(fresh, DURING) == EncryptionReport(current=4, reencrypted=3)
    after = dict(tuple(row[:2]) for row in await everything(fresh))
    assert [id for id in after if after[id] == before[id]] == [current]


async def test_the_second_time_nothing_is_touched(fresh: Database, organization_id: UUID) -> None:
    await sealed_secrets.signing_keys(fresh, organization_id, BEFORE, 3)
    await sealed_secrets.endpoint(fresh, organization_id, BEFORE, rotating=True)
    await reencrypt_secrets(fresh, DURING)
    before = await everything(fresh)
    assert await reencrypt_secrets(fresh, DURING) == EncryptionReport(current=5)
    assert await everything(fresh) == before


async def test_a_deleted_endpoint_has_no_secret(fresh: Database, organization_id: UUID) -> None:
    await sealed_secrets.delete(fresh, await sealed_secrets.endpoint(fresh, organization_id, BEFORE))
    assert await examine(fresh, DURING) == EncryptionReport()
    assert await reencrypt_secrets(fresh, DURING) == EncryptionReport()


async def test_what_no_key_opens_is_named_and_left_and_the_rest_is_reencrypted(
    fresh: Database, organization_id: UUID
) -> None:
    (lost,) = await sealed_secrets.signing_keys(fresh, organization_id, FOREIGN, 1)
    await sealed_secrets.signing_keys(fresh, organization_id, BEFORE, 2)
    moved = await sealed_secrets.endpoint(fresh, organization_id, DURING)
    async with fresh.transaction() as tx:
        await tx.run("UPDATE webhook_endpoint SET id = $1 WHERE id = $2", elsewhere := new_id(), moved)
    before = await everything(fresh)
    undecryptable = [SecretLocation("signing_key", lost), SecretLocation("webhook_endpoint", elsewhere)]
    assert await examine(fresh, DURING) == EncryptionReport(older=2, undecryptable=undecryptable)
    assert await reencrypt_secrets(fresh, DURING) == EncryptionReport(
        current=2, reencrypted=2, undecryptable=undecryptable
    )
    left = [row for row in await everything(fresh) if row in before]
    assert [id for id, *_ in left] == sorted([lost, elsewhere])


async def test_one_time_codes_work_without_the_old_key(fresh: Database) -> None:
    async with fresh.transaction() as tx:
        person = await staff.enrol(tx, "ada@example.org", "Ada", at=factory.now())
        begun = await one_time_code.begin_codes(tx, person.id, person.email, BEFORE, at=factory.now())
    assert await reencrypt_secrets(fresh, DURING) == EncryptionReport(current=1, reencrypted=1)
    assert await examine(fresh, AFTER) == EncryptionReport(current=1)
    async with fresh.transaction() as tx:
        assert await one_time_code.pending_enrolment(tx, person.id, person.email, AFTER) == begun


async def test_links_of_cards_open_without_the_old_key(fresh: Database) -> None:
    tenant = await factory.tenant(fresh)
    card = await tenant.card()
    async with fresh.transaction() as tx:
        await tx.run("DELETE FROM signing_key WHERE organization_id = $1", tenant.id)
        token = await cards.link_of(tx, tenant.id, card.id, BEFORE, "a", at=factory.now())
    assert await reencrypt_secrets(fresh, DURING) == EncryptionReport(current=1, reencrypted=1)
    async with fresh.transaction() as tx:
        assert await cards.link_of(tx, tenant.id, card.id, AFTER, "a", at=factory.now()) == token


async def test_every_column_with_sealed_secrets_is_looked_at(fresh: Database) -> None:
    async with fresh.autocommit() as tx:
        rows = await tx.rows(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = 'public' AND column_name LIKE '%sealed%'"
        )
    in_schema = sorted((row["table_name"], row["column_name"]) for row in rows)
    assert len(in_schema) == len(COLUMNS)
    for table, name in in_schema:
        (column,) = (one for one in COLUMNS if one.table == table and f"{name} AS box" in one.page)
        assert f"FROM {table}\n" in column.page
        assert f"UPDATE {table} " in column.replace
        assert f"SET {name} = n.box" in column.replace
        assert f".{name} = n.was" in column.replace


# ---- concurrent changes ----------------------------------------------------------------------------------------


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a row until it is unlocked, however slow the machine is."""
    monkeypatch.setattr(reencrypt, "BRIEFLY", "SET LOCAL lock_timeout = '20s'")


async def _rotated_meanwhile(db: Database, organization_id: UUID) -> tuple[EncryptionReport, bytes, bytes]:
    """Store another secret in a row between its read and its replacement; return it, and the row's final secret."""
    endpoint_id = await sealed_secrets.endpoint(db, organization_id, BEFORE)
    rotated = DURING.seal(b"rotated", sealed_secrets.context(organization_id, endpoint_id))
    async with await psycopg.AsyncConnection.connect(db.url) as other:
        await other.execute("UPDATE webhook_endpoint SET sealed_secret = %s", (rotated,))
        reencrypting = asyncio.create_task(reencrypt_secrets(db, DURING))
        await _until_it_waits(db)
    return await reencrypting, rotated, (await sealed_secrets.boxes(db, endpoint_id)).secret


async def _until_it_waits(db: Database) -> None:
    async with db.autocommit() as tx:
        async with asyncio.timeout(60):
            while not await tx.value(WAITS):
                pass


WAITS: Final = """
    SELECT true
      FROM pg_stat_activity
     WHERE datname = current_database()
       AND wait_event_type = 'Lock'
       AND query LIKE '%UPDATE webhook_endpoint%'
"""


@pytest.mark.usefixtures("patient")
async def test_a_rotation_in_the_same_moment_stands(fresh: Database, organization_id: UUID) -> None:
    done, rotated, there = await _rotated_meanwhile(fresh, organization_id)
    assert there == rotated
    assert done == EncryptionReport(current=1)


@pytest.mark.usefixtures("patient")
async def test_replacing_without_comparing_is_found_out(
    fresh: Database, organization_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mutant: the statement without the comparison."""
    careless = SECRETS.replace.replace("AND e.sealed_secret = n.was", "")
    assert careless != SECRETS.replace
    monkeypatch.setattr(reencrypt, "COLUMNS", (replace(SECRETS, replace=careless),))
    _, rotated, there = await _rotated_meanwhile(fresh, organization_id)
    assert there != rotated


@pytest.mark.parametrize("seen", range(len(COLUMNS) + 1))
async def test_a_new_secret_that_takes_its_place_meanwhile_is_not_missed(
    fresh: Database, organization_id: UUID, monkeypatch: pytest.MonkeyPatch, seen: int
) -> None:
    endpoint_id = await sealed_secrets.endpoint(fresh, organization_id, BEFORE, rotating=True)
    monkeypatch.setattr(reencrypt, "COLUMNS", COLUMNS[:seen])
    await reencrypt_secrets(fresh, DURING)
    await sealed_secrets.promote(fresh, endpoint_id)
    monkeypatch.setattr(reencrypt, "COLUMNS", COLUMNS[seen:])
    await reencrypt_secrets(fresh, DURING)
    boxes = await sealed_secrets.boxes(fresh, endpoint_id)
    assert AFTER.open(boxes.secret, sealed_secrets.context(organization_id, endpoint_id)) == NEW_SECRET


async def test_a_row_that_is_held_for_a_moment_is_waited_for(fresh: Database, organization_id: UUID) -> None:
    await sealed_secrets.endpoint(fresh, organization_id, BEFORE)
    async with await psycopg.AsyncConnection.connect(fresh.url) as other:
        await other.execute("UPDATE webhook_endpoint SET failures = failures + 1")
        reencrypting = asyncio.create_task(reencrypt_secrets(fresh, DURING))
        await _until_it_waits(fresh)
    assert await reencrypting == EncryptionReport(current=1, reencrypted=1)


async def test_a_row_that_is_held_for_long_is_given_up_and_what_came_before_it_is_done(
    fresh: Database, organization_id: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reencrypt, "TRIES", 2)
    await sealed_secrets.signing_keys(fresh, organization_id, BEFORE, 3)
    await sealed_secrets.endpoint(fresh, organization_id, BEFORE)
    async with await psycopg.AsyncConnection.connect(fresh.url) as other:
        await other.execute("UPDATE webhook_endpoint SET failures = failures + 1")
        with pytest.raises(Busy):
            await reencrypt_secrets(fresh, DURING)
    assert await examine(fresh, DURING) == EncryptionReport(current=3, older=1)
    assert await reencrypt_secrets(fresh, DURING) == EncryptionReport(current=4, reencrypted=1)


async def test_two_at_once_do_it_once(fresh: Database, organization_id: UUID) -> None:
    count = 2 * BATCH + 7
    await sealed_secrets.signing_keys(fresh, organization_id, BEFORE, count)
    done = await asyncio.gather(reencrypt_secrets(fresh, DURING), reencrypt_secrets(fresh, DURING))
    assert sum(one.reencrypted for one in done) == count
    assert await examine(fresh, AFTER) == EncryptionReport(current=count)
