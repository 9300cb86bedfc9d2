"""Two cards of one person become one: unused tickets move, the duplicate is revoked, both have it in their history."""

import pytest

from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.domain import cards, tickets
from gatepass.domain.cards import CardNotFound, CardStatus, HeldCard, HolderDetails
from tests import factory
from tests.domain.tickets.test_issuance import ANN, elsewhere, issued, request
from tests.factory import Tenant


async def merged(tenant: Tenant, duplicate: HeldCard, kept: HeldCard) -> HeldCard:
    async with tenant.db.transaction() as tx:
        return await tickets.merge(
            tx, tenant.id, duplicate.id, kept.id, by=factory.BY, at=factory.now(), reason="one person"
        )


async def card(tenant: Tenant, holder: HolderDetails | None = None, external_id: str | None = None) -> HeldCard:
    """A card beside any that the person has, as version 0.2 made them."""
    async with tenant.db.transaction() as tx:
        card_id, _ = await cards.register(
            tx, tenant.id, holder=None, number=None, external_id=external_id, by=factory.BY, at=factory.now()
        )
        if holder is not None:
            await tx.run(HOLD, tenant.id, card_id, holder.shown_name, holder.email)
        return await cards.find(tx, tenant.id, card_id)


async def again(tenant: Tenant, seen: HeldCard) -> HeldCard:
    async with tenant.db.autocommit() as tx:
        return await cards.find(tx, tenant.id, seen.id)


async def test_unused_tickets_move_and_used_ones_stay(tenant: Tenant) -> None:
    duplicate, kept = await card(tenant, ANN), await card(tenant, ANN)
    used = await issued(tenant, on(tenant, duplicate))
    unused = await issued(tenant, await elsewhere(tenant, on(tenant, duplicate)))
    async with tenant.db.transaction() as tx:
        await tx.run(USE, tenant.id, used.ticket_id)
    await merged(tenant, duplicate, kept)
    async with tenant.db.autocommit() as tx:
        assert [one.id for one in await tickets.of_card(tx, tenant.id, kept.id)] == [unused.ticket_id]
        assert [one.id for one in await tickets.of_card(tx, tenant.id, duplicate.id)] == [used.ticket_id]
        histories = [await tickets.history(tx, tenant.id, one.id, limit=50) for one in (duplicate, kept)]
    assert (await again(tenant, duplicate)).status is CardStatus.REVOKED
    found = [{moment.what: (moment.was, moment.becomes) for moment in moments} for moments in histories]
    assert found[0][tickets.MERGED] == (None, kept.number)
    assert found[1][tickets.MERGES] == (duplicate.number, None)


async def test_the_next_ticket_of_the_person_goes_to_the_card_that_was_kept(tenant: Tenant) -> None:
    first = await issued(tenant, request(tenant))
    async with tenant.db.autocommit() as tx:
        duplicate = await cards.find(tx, tenant.id, first.card_id)
    kept = await card(tenant, ANN)
    await merged(tenant, duplicate, kept)
    assert (await issued(tenant, await elsewhere(tenant, request(tenant)))).card_id == kept.id


async def test_a_card_takes_the_holder_and_external_id_that_it_lacks(tenant: Tenant) -> None:
    duplicate, kept = await card(tenant, ANN, external_id="member-1"), await card(tenant)
    kept = await merged(tenant, duplicate, kept)
    assert (kept.name, kept.email, kept.external_id) == ("Ann", "ann@example.org", "member-1")
    left = await again(tenant, duplicate)
    assert (left.name, left.email, left.external_id) == (None, None, None)


async def test_a_card_keeps_what_it_has(tenant: Tenant) -> None:
    bob = HolderDetails("Bob", "bob@example.org")
    duplicate, kept = await card(tenant, ANN, external_id="member-1"), await card(tenant, bob, external_id="member-2")
    kept = await merged(tenant, duplicate, kept)
    assert (kept.name, kept.external_id) == ("Bob", "member-2")


async def test_two_tickets_for_one_event_do_not_fit_on_one_card(tenant: Tenant) -> None:
    duplicate, kept = await card(tenant), await card(tenant)
    await issued(tenant, on(tenant, duplicate))
    await issued(tenant, on(tenant, kept))
    with pytest.raises(InvalidRequest, match="Both cards have a ticket"):
        await merged(tenant, duplicate, kept)
    assert (await again(tenant, duplicate)).status is CardStatus.ACTIVE


@pytest.mark.parametrize("status", [CardStatus.SUSPENDED, CardStatus.REVOKED])
async def test_tickets_move_to_an_active_card_only(tenant: Tenant, status: CardStatus) -> None:
    duplicate, kept = await card(tenant), await card(tenant)
    async with tenant.db.transaction() as tx:
        await cards.change_status(tx, tenant.id, kept.id, status, by=factory.BY, at=factory.now(), reason="so")
    with pytest.raises(InvalidRequest, match=f"That card is {status}"):
        await merged(tenant, duplicate, kept)


async def test_a_card_is_merged_once_and_never_with_itself(tenant: Tenant) -> None:
    duplicate, kept = await card(tenant), await card(tenant)
    with pytest.raises(InvalidRequest, match="the same card"):
        await merged(tenant, kept, kept)
    await merged(tenant, duplicate, kept)
    with pytest.raises(NotAllowedFromHere):
        await merged(tenant, duplicate, kept)


async def test_a_card_of_another_organization_is_not_there(tenant: Tenant) -> None:
    other = await factory.tenant(tenant.db)
    ours, theirs = await card(tenant), await card(other)
    with pytest.raises(CardNotFound):
        await merged(tenant, ours, theirs)
    with pytest.raises(CardNotFound):
        await merged(tenant, theirs, ours)
    assert (await again(other, theirs)).status is CardStatus.ACTIVE


def on(tenant: Tenant, held: HeldCard) -> tickets.TicketRequest:
    return tickets.TicketRequest(tenant.event_id, tenant.category_id, card_id=held.id)


HOLD = "INSERT INTO card_holder (organization_id, card_id, name, email) VALUES ($1, $2, $3, $4)"
USE = "UPDATE ticket SET activated_at = now() WHERE organization_id = $1 AND id = $2"
