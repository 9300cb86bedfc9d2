"""Letters are written with what they tell of; nothing is written without a mail server, or in a sandbox."""

from dataclasses import replace
from uuid import UUID

import msgspec
import pytest
from pydantic import SecretStr

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.base.language import Language
from gatepass.base.settings import Settings
from gatepass.domain import twin
from gatepass.domain.mail import NO_ORGANIZATION, AddressNotSendable, LetterKind, Mailer, NewLetter, values_context
from tests import factory
from tests.factory import VAULT, Tenant

CODE = {"code": "123456", "organizer": "Harbour Nights"}
LETTERS = "SELECT * FROM letter WHERE organization_id = $1 AND ($2::uuid IS NULL OR id = $2)"


async def write(db: Database, mailer: Mailer, organization_id: UUID | None, to: str = "ada@example.com") -> UUID | None:
    async with db.transaction() as tx:
        return await mailer.write(
            tx, LetterKind.PHONE_CODE, to=to, organization_id=organization_id, values=CODE, at=factory.now(),
            language=Language.DUTCH, card_id=new_id(),
        )  # fmt: skip


async def test_a_letter_is_written_with_sealed_values(db: Database, tenant: Tenant, mailer: Mailer) -> None:
    id = await write(db, mailer, tenant.id)
    assert id is not None
    async with db.autocommit() as tx:
        (row,) = await tx.rows(LETTERS, tenant.id, id)
    assert (row["kind"], row["language"], row["address"]) == ("phone_code", "nl", "ada@example.com")
    assert (row["state"], row["urgent"], row["attempt"]) == ("waiting", True, 0)
    assert row["expires_at"] - row["written_at"] == LetterKind.PHONE_CODE.lifetime
    assert b"123456" not in row["sealed_values"]
    assert msgspec.json.decode(VAULT.open(row["sealed_values"], values_context(tenant.id, id))) == CODE


async def test_a_letter_of_nobody_has_no_organization(db: Database, mailer: Mailer) -> None:
    id = await write(db, mailer, None)
    async with db.autocommit() as tx:
        assert len(await tx.rows(LETTERS, NO_ORGANIZATION, id)) == 1


async def test_a_letter_goes_with_what_it_tells_of(db: Database, tenant: Tenant, mailer: Mailer) -> None:
    async def fail() -> None:
        async with db.transaction() as tx:
            await mailer.write(
                tx, LetterKind.PHONE_CODE, to="a@b.c", organization_id=tenant.id, values=CODE, at=factory.now()
            )
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    async with db.autocommit() as tx:
        assert await tx.rows(LETTERS, tenant.id, None) == []


async def test_without_a_mail_server_nothing_is_written(db: Database, tenant: Tenant) -> None:
    settings = Settings(encryption_keys=[SecretStr(factory.KEY)])
    assert not Mailer.of(settings).enabled
    assert await write(db, Mailer.of(settings), tenant.id) is None
    with_one = settings.model_copy(update={"smtp_url": SecretStr("smtp://mail")})
    assert Mailer.of(with_one).enabled


async def test_in_a_sandbox_nothing_is_written(db: Database, tenant: Tenant, mailer: Mailer) -> None:
    assert await write(db, mailer, twin.twin_id(tenant.id)) is None
    assert not mailer.sends_for(twin.twin_id(tenant.id))
    async with db.autocommit() as tx:
        assert await tx.rows(LETTERS, twin.twin_id(tenant.id), None) == []


async def test_an_address_that_is_none_is_refused(db: Database, tenant: Tenant, mailer: Mailer) -> None:
    with pytest.raises(AddressNotSendable):
        await write(db, mailer, tenant.id, to="ada@example.com\r\nRCPT TO:<eve@example.com>")


async def test_a_letter_without_its_values_is_not_written(db: Database, tenant: Tenant, mailer: Mailer) -> None:
    letter = NewLetter("ada@example.com", {"code": "1"})
    for faulty in (letter, replace(letter, values=CODE | {"code": "1" * 3_000})):
        with pytest.raises(ValueError, match="phone_code"):
            async with db.transaction() as tx:
                await mailer.write_all(tx, LetterKind.PHONE_CODE, [faulty], organization_id=tenant.id, at=factory.now())


async def test_many_are_written_at_once(db: Database, tenant: Tenant, mailer: Mailer) -> None:
    letters = [NewLetter(f"guest{n}@example.com", CODE) for n in range(500)]
    async with db.transaction() as tx:
        ids = await mailer.write_all(
            tx, LetterKind.PHONE_CODE, letters, organization_id=tenant.id, at=factory.now(), urgent=False
        )
    async with db.autocommit() as tx:
        rows = await tx.rows(LETTERS, tenant.id, None)
    assert {row["id"]: row["address"] for row in rows} == dict(zip(ids, [one.to for one in letters], strict=True))
    assert {row["urgent"] for row in rows} == {False}
