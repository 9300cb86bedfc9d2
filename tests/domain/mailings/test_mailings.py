"""Mailings: counted first, each card once, a selection again, stopped at any time."""

from uuid import UUID

import pytest

from gatepass.base.database import Database
from gatepass.base.errors import NotAllowedFromHere
from gatepass.base.ids import new_id
from gatepass.domain import mailings, tickets
from gatepass.domain.cards import HolderDetails
from gatepass.domain.mail import Mailer
from gatepass.domain.mailings import Audience, CardLetters, Mailing, MailingState
from gatepass.domain.tickets import TicketRequest
from tests import factory
from tests.factory import VAULT, Tenant


@pytest.fixture
def letters() -> CardLetters:
    return CardLetters(Mailer(VAULT, enabled=True), VAULT, "a", "https://gatepass.test")


async def ticket(tenant: Tenant, email: str | None) -> UUID:
    async with tenant.db.transaction() as tx:
        request = TicketRequest(tenant.event_id, tenant.category_id, holder=HolderDetails("Ada", email, "de"))
        return (await tickets.issue(tx, tenant.id, request, by="t", at=factory.now())).ticket_id


async def count(tenant: Tenant, ticket_ids: list[UUID] | None = None) -> Audience:
    async with tenant.db.autocommit() as tx:
        return await mailings.count(tx, tenant.id, tenant.event_id, ticket_ids)


async def begun(tenant: Tenant, ticket_ids: list[UUID] | None = None, id: UUID | None = None) -> UUID:
    id = id or new_id()
    async with tenant.db.transaction() as tx:
        await mailings.begin(tx, tenant.id, id, tenant.event_id, ticket_ids, by="t", at=factory.now())
    return id


async def find(tenant: Tenant, id: UUID) -> Mailing:
    async with tenant.db.autocommit() as tx:
        return await mailings.find(tx, tenant.id, id)


async def written(tenant: Tenant, letters: CardLetters, id: UUID) -> Mailing:
    """Advance it until it has written everything."""
    while (mailing := await find(tenant, id)).state is MailingState.WRITING:
        async with tenant.db.transaction() as tx:
            await mailings.advance(tx, mailing, letters, at=factory.now())
    return mailing


async def addresses(db: Database, tenant: Tenant) -> list[str]:
    async with db.autocommit() as tx:
        rows = await tx.rows("SELECT address FROM letter WHERE organization_id = $1 ORDER BY id", tenant.id)
    return [row["address"] for row in rows]


async def test_everybody_gets_one_letter_and_nobody_a_second(
    db: Database, tenant: Tenant, letters: CardLetters
) -> None:
    for email in ("ada@example.com", "bob@example.com", None, "ü@example.com"):
        await ticket(tenant, email)
    assert await count(tenant) == Audience(cards=4, with_address=3, have_letter=0)
    mailing = await written(tenant, letters, await begun(tenant))
    assert (mailing.wanted, mailing.written, mailing.without_address) == (3, 2, 2)
    await ticket(tenant, "cleo@example.com")
    assert (await count(tenant)).have_letter == 2
    again = await written(tenant, letters, await begun(tenant))
    assert again.written == 1
    assert sorted(await addresses(db, tenant)) == ["ada@example.com", "bob@example.com", "cleo@example.com"]


async def test_who_is_chosen_gets_another(db: Database, tenant: Tenant, letters: CardLetters) -> None:
    ada = await ticket(tenant, "ada@example.com")
    await ticket(tenant, "bob@example.com")
    for _ in range(2):
        assert (await count(tenant, [ada])).to_send == 1
        await written(tenant, letters, await begun(tenant, [ada]))
    assert await addresses(db, tenant) == ["ada@example.com"] * 2


async def test_one_form_begins_once_and_one_mailing_is_written_at_a_time(tenant: Tenant) -> None:
    await ticket(tenant, "ada@example.com")
    id = await begun(tenant)
    await begun(tenant, id=id)
    with pytest.raises(NotAllowedFromHere, match="already"):
        await begun(tenant)


async def test_a_stopped_mailing_sends_nothing_more(tenant: Tenant, letters: CardLetters) -> None:
    await ticket(tenant, "ada@example.com")
    id = await begun(tenant)
    await written(tenant, letters, id)
    async with tenant.db.transaction() as tx:
        await mailings.stop(tx, tenant.id, id, by="t", at=factory.now())
        await mailings.advance(tx, await mailings.find(tx, tenant.id, id), letters, at=factory.now())
        assert (await mailings.progress(tx, tenant.id, id)).stopped == 1
    assert not (await find(tenant, id)).is_under_way
    with pytest.raises(NotAllowedFromHere):
        async with tenant.db.transaction() as tx:
            await mailings.stop(tx, tenant.id, id, by="t", at=factory.now())


async def test_mailings_stay_in_their_organization(db: Database, tenant: Tenant) -> None:
    other = await factory.tenant(db)
    id = await begun(tenant)
    async with db.autocommit() as tx:
        with pytest.raises(mailings.MailingNotFound):
            await mailings.find(tx, other.id, id)
