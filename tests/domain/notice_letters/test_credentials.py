"""A letter tells of new credentials: once, to a proven address, and not of what happened before there was mail."""

import pytest

from gatepass.domain import staff
from gatepass.domain.mail import Mailer
from gatepass.domain.notice_letters import credentials
from gatepass.domain.staff import Person, notices
from tests import factory
from tests.domain.staff.conftest import hire
from tests.studio.letters import letters_to

MAILER = Mailer(factory.VAULT, enabled=True)
SILENT = Mailer(factory.VAULT, enabled=False)


async def write_all(tenant: factory.Tenant, mailer: Mailer = MAILER) -> None:
    while True:
        async with tenant.db.transaction() as tx:
            if not await credentials.write_some(tx, mailer, origin="https://studio.test", at=factory.now()):
                return


async def told(tenant: factory.Tenant, *kinds: str, proven: bool = True) -> Person:
    person = await hire(tenant.db, tenant.id)
    async with tenant.db.transaction() as tx:
        await staff.begin(tx, person.id, at=factory.now(), address=None, browser="tests")
        if proven:
            await staff.mark_proven(tx, person.id, at=factory.now())
        for kind in kinds:
            await notices.tell(tx, person.id, kind, at=factory.now())
    return person


async def test_one_letter_tells_of_all_and_once(tenant: factory.Tenant) -> None:
    ada = await told(tenant, "one_time_codes_on", "recovery_codes_made", "signed_in_elsewhere")
    for _ in range(2):
        await write_all(tenant)
    (letter,) = await letters_to(tenant.db, ada.email)
    assert letter.kind == "credential_added"
    assert letter.values["what"] == "One-time codes were turned on. New recovery codes were made"
    assert letter.path == "/studio/account"


@pytest.mark.parametrize("kind", sorted(notices.BY_MAIL))
async def test_each_change_of_a_credential_is_told(tenant: factory.Tenant, kind: str) -> None:
    ada = await told(tenant, kind)
    await write_all(tenant)
    (letter,) = await letters_to(tenant.db, ada.email)
    assert letter.values["what"] == notices.SENTENCES[kind]


async def test_an_unproven_address_gets_none(tenant: factory.Tenant) -> None:
    ada = await told(tenant, "password_set", proven=False)
    await write_all(tenant)
    assert await letters_to(tenant.db, ada.email) == []


async def test_what_happened_without_a_mail_server_is_not_told_later(tenant: factory.Tenant) -> None:
    ada = await told(tenant, "password_set")
    await write_all(tenant, SILENT)
    await write_all(tenant)
    assert await letters_to(tenant.db, ada.email) == []
