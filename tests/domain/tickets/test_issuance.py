"""Issuing tickets: one person has one card, places are never oversold, and an external id is used once."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from gatepass.base.errors import NotAllowedFromHere, Refusal
from gatepass.base.ids import new_id
from gatepass.domain import cards, tickets
from gatepass.domain.cards import CardNotFound, CardRevoked, CardStatus, CardSuspended, ExternalIdTaken, HolderDetails
from gatepass.domain.events import CategoryNotFound, EventNotFound, EventStatus
from gatepass.domain.tickets import (
    AlreadyActivated,
    CardHasTicket,
    GuestHasTicket,
    IssuedTicket,
    SoldOut,
    TicketCancelled,
    TicketNotFound,
    TicketRequest,
)
from tests import factory
from tests.factory import Tenant

ANN = HolderDetails("Ann", "ann@example.org")


def request(tenant: Tenant, holder: HolderDetails | None = ANN, external_id: str | None = None) -> TicketRequest:
    return TicketRequest(tenant.event_id, tenant.category_id, holder=holder, external_id=external_id)


async def issued_all(tenant: Tenant, *requests: TicketRequest, companions: bool = True) -> list[IssuedTicket | Refusal]:
    async with tenant.db.transaction() as tx:
        return await tickets.issue_all(tx, tenant.id, requests, by=factory.BY, at=factory.now(), companions=companions)


async def issued(tenant: Tenant, wanted: TicketRequest) -> IssuedTicket:
    (outcome,) = await issued_all(tenant, wanted)
    assert isinstance(outcome, IssuedTicket), outcome
    return outcome


async def refused(tenant: Tenant, wanted: TicketRequest) -> type[Refusal]:
    (outcome,) = await issued_all(tenant, wanted)
    assert isinstance(outcome, Refusal), outcome
    return type(outcome)


async def elsewhere(tenant: Tenant, wanted: TicketRequest) -> TicketRequest:
    """The same request for another event of the organization."""
    event_id = await tenant.event()
    async with tenant.db.transaction() as tx:
        category_id = await tx.value(CATEGORY, tenant.id, event_id)
    return replace(wanted, event_id=event_id, category_id=category_id, ticket_id=new_id(), new_card_id=new_id())


async def at_once(tenant: Tenant, database_url: str, requests: list[TicketRequest]) -> list[IssuedTicket | Refusal]:
    """Each in a transaction of its own, twenty at a time."""
    many, places = factory.database(database_url, connections=20, deadline=60), asyncio.Semaphore(20)

    async def one(wanted: TicketRequest) -> IssuedTicket | Refusal:
        async with places:
            (outcome,) = await issued_all(replace(tenant, db=many), wanted)
        return outcome

    try:
        return await asyncio.gather(*map(one, requests))
    finally:
        await many.close()


async def sold(tenant: Tenant) -> tuple[int, int]:
    """The places that are sold, by the counter and by the tickets."""
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows(SOLD, tenant.id, tenant.category_id)
    return rows[0][0], rows[0][1]


async def test_every_ticket_of_a_person_is_on_one_card(tenant: Tenant) -> None:
    first = await issued(tenant, request(tenant))
    spelled = HolderDetails("Anna", "  ANN@Example.ORG ".strip())
    second = await issued(tenant, await elsewhere(tenant, request(tenant, spelled)))
    assert (first.made_card, second.made_card) == (True, False)
    assert (second.card_id, second.card_number) == (first.card_id, first.card_number)
    async with tenant.db.autocommit() as tx:
        card = await cards.find(tx, tenant.id, first.card_id)
    assert (card.name, card.email, card.companion) == ("Ann", "ann@example.org", False)


async def test_a_second_ticket_for_the_event_is_a_companions(tenant: Tenant) -> None:
    first = await issued(tenant, request(tenant))
    second, third = await issued_all(tenant, request(tenant), request(tenant))
    assert isinstance(second, IssuedTicket)
    assert isinstance(third, IssuedTicket)
    assert second.companion
    assert third.companion
    assert len({first.card_id, second.card_id, third.card_id}) == 3
    async with tenant.db.autocommit() as tx:
        found = await cards.find_by_email(tx, tenant.id, "Ann@example.org", after=None, limit=10)
    assert [(card.id, card.companion) for card in found] == [
        (first.card_id, False),
        (second.card_id, True),
        (third.card_id, True),
    ]
    outcomes = await issued_all(tenant, request(tenant), companions=False)
    assert [type(outcome) for outcome in outcomes] == [GuestHasTicket]


async def test_a_suspended_card_is_refused_and_after_a_revoked_one_a_new_one_is_made(tenant: Tenant) -> None:
    first = await issued(tenant, request(tenant))
    async with tenant.db.autocommit() as tx:
        card = await cards.find_by_number(tx, tenant.id, first.card_number)
    assert card is not None
    other = await elsewhere(tenant, request(tenant))
    shown = cards.Card(card.id, card.number, card.status, card.issued_at)
    await tenant.move_card(shown, CardStatus.SUSPENDED)
    assert await refused(tenant, other) is CardSuspended
    await tenant.move_card(shown, CardStatus.REVOKED)
    new = await issued(tenant, other)
    assert (new.made_card, new.companion) == (True, False)
    assert new.card_id != first.card_id
    again = await issued(tenant, await elsewhere(tenant, request(tenant)))
    assert again.card_id == new.card_id


async def test_a_holder_of_version_0_2_is_known(tenant: Tenant) -> None:
    suspended, active = [await tenant.card(with_ticket=False) for _ in range(2)]
    async with tenant.db.transaction() as tx:
        for card in (suspended, active):
            await tx.run(HELD_BY_OLD, tenant.id, card.id, "Ann@Example.org")
    await tenant.move_card(suspended, CardStatus.SUSPENDED)
    assert (await issued(tenant, request(tenant))).card_id == active.id
    assert (await issued(tenant, await elsewhere(tenant, request(tenant)))).card_id == active.id


async def test_what_is_refused_and_in_which_order(tenant: Tenant) -> None:
    small = await factory.tenant(tenant.db, places=1)
    stranger = await tenant.card(with_ticket=False)
    on_card = TicketRequest(small.event_id, small.category_id, card_id=(await small.card(with_ticket=False)).id)
    assert await refused(small, replace(on_card, event_id=new_id())) is EventNotFound
    assert await refused(small, replace(on_card, event_id=tenant.event_id)) is EventNotFound
    assert await refused(small, replace(on_card, category_id=tenant.category_id)) is CategoryNotFound
    assert await refused(small, replace(on_card, card_id=stranger.id)) is CardNotFound
    assert await refused(small, replace(on_card, card_id=None, card_number=stranger.number)) is CardNotFound
    await issued(small, on_card)
    assert await refused(small, replace(on_card, ticket_id=new_id())) is CardHasTicket
    revoked = await small.card(with_ticket=False)
    await small.move_card(revoked, CardStatus.REVOKED)
    assert await refused(small, replace(on_card, card_id=revoked.id)) is CardRevoked
    assert await refused(small, request(small)) is SoldOut
    await small.move_event(small.event_id, EventStatus.CANCELLED)
    assert await refused(small, request(small)) is NotAllowedFromHere


async def test_an_external_id_answers_the_same_request_and_no_other(tenant: Tenant) -> None:
    wanted = request(tenant, external_id="A-1")
    first = await issued(tenant, wanted)
    again = await issued(tenant, replace(wanted, ticket_id=new_id(), new_card_id=new_id()))
    assert (again.ticket_id, again.card_number, again.is_new) == (first.ticket_id, first.card_number, False)
    assert await refused(tenant, replace(wanted, holder=HolderDetails("Bob"))) is ExternalIdTaken
    async with tenant.db.transaction() as tx:
        await tickets.cancel(tx, tenant.id, first.ticket_id, by=factory.BY, at=factory.now(), reason="x")
    assert not (await issued(tenant, wanted)).is_new
    assert (await issued(tenant, await elsewhere(tenant, wanted))).is_new


async def test_an_item_of_a_batch_harms_no_other(tenant: Tenant) -> None:
    small = await factory.tenant(tenant.db, places=3)
    outcomes = await issued_all(
        small,
        request(small, None, "a"),
        replace(request(small, None, "b"), category_id=new_id()),
        request(small, None, "b"),
        request(small, None, "a"),
        request(small, ANN, "a"),
        request(small),
        request(small),
    )
    kinds = [type(outcome).__name__ for outcome in outcomes]
    assert kinds == [
        "IssuedTicket", "CategoryNotFound", "IssuedTicket", "IssuedTicket", "ExternalIdTaken", "IssuedTicket",
        "SoldOut",
    ]  # fmt: skip
    assert [one.is_new for one in outcomes if isinstance(one, IssuedTicket)] == [True, True, False, True]
    assert await sold(small) == (3, 3)


async def test_the_last_ten_places_for_fifty_callers(tenant: Tenant, database_url: str) -> None:
    small = await factory.tenant(tenant.db, places=10)
    outcomes = await at_once(small, database_url, [request(small, None) for _ in range(50)])
    assert Counter(type(one).__name__ for one in outcomes) == {"IssuedTicket": 10, "SoldOut": 40}
    assert await sold(small) == (10, 10)


@pytest.mark.parametrize("external_id", ["A-1", None])
async def test_fifty_at_once_for_one_person(tenant: Tenant, database_url: str, external_id: str | None) -> None:
    """With an external id one ticket; without one a ticket for each, one of them the person's own."""
    outcomes = await at_once(tenant, database_url, [request(tenant, external_id=external_id) for _ in range(50)])
    made = [one for one in outcomes if isinstance(one, IssuedTicket)]
    assert len(made) == 50
    assert sum(one.is_new for one in made) == len({one.ticket_id for one in made}) == (1 if external_id else 50)
    assert sum(one.is_new and not one.companion for one in made) == 1
    assert await sold(tenant) == ((1, 1) if external_id else (50, 50))


async def test_events_at_once_for_one_new_person(tenant: Tenant, database_url: str) -> None:
    """No event is locked by two of them, so that only the address makes them take turns."""
    wanted = [await elsewhere(tenant, request(tenant)) for _ in range(8)]
    outcomes = await at_once(tenant, database_url, wanted)
    assert len({one.card_id for one in outcomes if isinstance(one, IssuedTicket)}) == 1


async def test_a_ticket_is_transferred_until_it_is_used(tenant: Tenant) -> None:
    made = await issued(tenant, request(tenant))
    bob = HolderDetails("Bob", "bob@example.org")
    moved = await transferred(tenant, made, holder=bob)
    assert moved != made.card_id
    assert await transferred(tenant, made, holder=ANN) == made.card_id
    with pytest.raises(CardHasTicket):
        await transferred(tenant, made, holder=ANN)
    other = await issued(tenant, request(tenant, bob))
    assert other.card_id == moved
    taken = await transferred(tenant, made, holder=bob)
    assert taken not in (moved, made.card_id)
    with pytest.raises(TicketNotFound):
        await transferred(await factory.tenant(tenant.db), made, holder=ANN)
    async with tenant.db.transaction() as tx:
        await tx.run(USE, tenant.id, made.ticket_id)
    with pytest.raises(AlreadyActivated):
        await transferred(tenant, made, holder=ANN)
    async with tenant.db.transaction() as tx:
        await tickets.cancel(tx, tenant.id, made.ticket_id, by=factory.BY, at=factory.now(), reason="x")
    with pytest.raises(TicketCancelled):
        await transferred(tenant, made, holder=ANN)


async def transferred(tenant: Tenant, made: IssuedTicket, holder: HolderDetails) -> object:
    async with tenant.db.transaction() as tx:
        return await tickets.transfer(tx, tenant.id, made.ticket_id, holder=holder, by=factory.BY, at=factory.now())


USE = "UPDATE ticket SET activated_at = now() WHERE organization_id = $1 AND id = $2"
HELD_BY_OLD = "INSERT INTO card_holder (organization_id, card_id, name, email) VALUES ($1, $2, 'Ann', $3)"
SOLD = """
    SELECT c.quantity_sold,
           (SELECT count(*) FROM ticket t
             WHERE t.organization_id = $1 AND t.category_id = c.id AND t.cancelled_at IS NULL)
      FROM ticket_category c
     WHERE c.organization_id = $1
       AND c.id = $2
"""
CATEGORY = """
    INSERT INTO ticket_category (organization_id, id, event_id, name, price_minor, currency, quantity_total)
    VALUES ($1, gen_random_uuid(), $2, 'General', 0, 'EUR', 100)
    RETURNING id
"""
