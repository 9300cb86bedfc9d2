"""Finding cards and tickets, issuing a ticket with a card, replacing a card, and the history of a card."""

from typing import Any
from uuid import UUID

import pytest

from gatepass.base.errors import NotAllowedFromHere
from gatepass.base.paging import Place
from gatepass.domain import audit_log, cards, tickets
from gatepass.domain.cards import CardNotFound, CardRevoked, CardStatus, ExternalIdTaken, HeldCard, HolderDetails
from gatepass.domain.tickets import (
    CardHasTicket,
    HistoryKind,
    IssuedTicket,
    SoldOut,
    TicketFilter,
    TicketRequest,
    TicketState,
    listing,
)
from gatepass.domain.visibility import GuestField, Sight
from tests import factory
from tests.factory import Tenant

EVERYTHING = Sight(frozenset(GuestField))
NOTHING = Sight(frozenset())


async def issued(
    tenant: Tenant,
    *,
    card_number: str | None = None,
    name: str | None = None,
    email: str | None = None,
    external_id: str | None = None,
) -> IssuedTicket:
    holder = HolderDetails(name, email) if name or email else None
    request = TicketRequest(
        tenant.event_id, tenant.category_id, card_number=card_number, holder=holder, external_id=external_id
    )
    async with tenant.db.transaction() as tx:
        return await tickets.issue(tx, tenant.id, request, by=factory.BY, at=factory.now())


async def found(tenant: Tenant, beginning: str) -> list[str | None]:
    async with tenant.db.autocommit() as tx:
        return [card.name for card in await cards.find_by_holder(tx, tenant.id, beginning, limit=10)]


async def by_number(tenant: Tenant, typed: str) -> HeldCard | None:
    async with tenant.db.autocommit() as tx:
        return await cards.find_by_number(tx, tenant.id, typed)


async def test_a_card_by_its_number_however_it_is_typed(tenant: Tenant) -> None:
    card = await tenant.card()
    digits = card.number[4:]
    for typed in (card.number, card.number.lower(), digits, digits.replace(" ", ""), f"svc-{digits.replace(' ', '-')}"):
        one = await by_number(tenant, typed)
        assert one is not None
        assert one.id == card.id
    for typed in ("", "SVC", "1234", "x" * 500, card.number[:-1]):
        assert await by_number(tenant, typed) is None
    assert await by_number(await factory.tenant(tenant.db), card.number) is None


@pytest.mark.parametrize(
    "typed",
    ["zoe", "ZOË", "öster", "oster", "ost zoe", "zoe@exa", "Oster,", "zoe.o@mail.example.org", "zoë 'ö"],
)
async def test_a_person_by_any_words_in_any_order_and_case(tenant: Tenant, typed: str) -> None:
    await issued(tenant, name="Zoë Öster", email="Zoe.O@Mail.Example.org")
    await issued(tenant, name="Ann Lee", email="ann@elsewhere.org")
    assert await found(tenant, typed) == ["Zoë Öster"]
    assert await found(await factory.tenant(tenant.db), typed) == []


@pytest.mark.parametrize("typed", ["%", "zoe ann", "zo", "'", "& | !", "a:*", "@", "\\", "(", "ster"])
async def test_what_names_nobody_finds_nobody(tenant: Tenant, typed: str) -> None:
    await issued(tenant, name="Zoë Öster", email="zoe@example.org")
    await issued(tenant, name="Ann Lee")
    assert await found(tenant, typed) == []


async def test_one_or_two_letters_are_a_whole_word(tenant: Tenant) -> None:
    await issued(tenant, name="K Li")
    await issued(tenant, name="Kim Lind")
    for typed in ("k", "li", "LI k"):
        assert await found(tenant, typed) == ["K Li"], typed
    assert await found(tenant, "l") == []


async def test_four_digits_that_no_card_has_may_be_in_an_address(tenant: Tenant) -> None:
    made = await issued(tenant, name="Ann Lee", email="ann.1987.2042@example.org")
    typed = "2042" if "1987" in made.card_number else "1987"
    async with tenant.db.autocommit() as tx:
        (ticket,), _ = await tickets.search_in_event(tx, tenant.id, tenant.event_id, typed, sight=EVERYTHING, limit=10)
    assert ticket.id == made.ticket_id


async def test_a_card_by_any_four_digits(tenant: Tenant) -> None:
    card = await tenant.card()
    other = await factory.tenant(tenant.db)
    _, *groups = card.number.split()
    for typed in (*groups, " ".join(groups[:2]), groups[1] + groups[2], "-".join(groups)):
        async with tenant.db.autocommit() as tx:
            assert card.id in [
                one.id for one in await cards.find_by_text(tx, tenant.id, typed, sight=EVERYTHING, limit=50)
            ], typed
            assert await cards.find_by_text(tx, other.id, typed, sight=EVERYTHING, limit=50) == []
    for typed in ("", "123", "12a4", "1" * 13, "²²²²"):
        async with tenant.db.autocommit() as tx:
            assert await cards.find_by_text(tx, tenant.id, typed, sight=EVERYTHING, limit=50) == [], typed


async def test_tickets_of_an_event_by_what_people_type(tenant: Tenant) -> None:
    made = await issued(tenant, name="Zoë Öster", email="zoe@example.org", external_id="Order-77")
    await issued(tenant, name="Ann Lee", external_id="Order-78")
    elsewhere = await tenant.event()

    async def typed(text: str, *, event: UUID = tenant.event_id, sight: Sight = EVERYTHING) -> list[UUID]:
        async with tenant.db.autocommit() as tx:
            found, more = await tickets.search_in_event(tx, tenant.id, event, text, sight=sight, limit=10)
        assert not more
        return [one.id for one in found]

    for text in ("oster", "ORDER-77", made.card_number, made.card_number.lower()[4:], "zoe example"):
        assert await typed(text) == [made.ticket_id], text
        assert await typed(text, event=elsewhere) == [], text
    assert made.ticket_id in await typed(made.card_number[-4:])
    assert len(await typed("order-7")) == 2
    assert await typed("oster", sight=NOTHING) == []
    assert await typed("order-77", sight=NOTHING) == [made.ticket_id]


async def test_a_search_in_an_event_keeps_to_the_category_and_the_state(tenant: Tenant) -> None:
    gone = await issued(tenant, name="Zoë Öster", external_id="Order-77")
    unused = await issued(tenant, name="Ann Öster", external_id="Order-78")
    async with tenant.db.transaction() as tx:
        await tickets.cancel(tx, tenant.id, gone.ticket_id, by=factory.BY, at=factory.now(), reason="x")

    async def typed(text: str, **wanted: Any) -> set[UUID]:
        async with tenant.db.autocommit() as tx:
            found, _ = await tickets.search_in_event(
                tx, tenant.id, tenant.event_id, text, sight=EVERYTHING, limit=10, **wanted
            )
        return {one.id for one in found}

    for text in ("oster", "order-7"):
        assert await typed(text, category_id=tenant.category_id) == {gone.ticket_id, unused.ticket_id}, text
        assert await typed(text, category_id=tenant.event_id) == set(), text
        assert await typed(text, state=TicketState.CANCELLED) == {gone.ticket_id}, text
        assert await typed(text, state=TicketState.ISSUED) == {unused.ticket_id}, text
        assert await typed(text, state=TicketState.ACTIVATED) == set(), text


async def test_cards_newest_first_and_those_out_of_use(tenant: Tenant) -> None:
    made = [await tenant.card() for _ in range(5)]
    await tenant.move_card(made[1], CardStatus.SUSPENDED)
    async with tenant.db.autocommit() as tx:
        first = await cards.newest(tx, tenant.id, limit=3)
        rest = await cards.newest(tx, tenant.id, before=first[-1].id, limit=3)
        suspended = await cards.newest(tx, tenant.id, status=CardStatus.SUSPENDED, limit=3)
    assert [card.id for card in first + rest] == [card.id for card in reversed(made)]
    assert [card.id for card in suspended] == [made[1].id]


async def test_a_ticket_is_handed_out_once(tenant: Tenant) -> None:
    new = await issued(tenant, name="Ann", external_id="A-1")
    with pytest.raises(CardHasTicket) as refused:
        await issued(tenant, card_number=new.card_number)
    assert refused.value.param == "card_number"
    with pytest.raises(ExternalIdTaken) as taken:
        await issued(tenant, external_id="A-1")
    assert taken.value.param == "external_id"
    with pytest.raises(CardNotFound):
        await issued(tenant, card_number="SVC 0000 0000 0000")
    card = await tenant.card(with_ticket=False)
    await tenant.move_card(card, CardStatus.REVOKED)
    with pytest.raises(CardRevoked):
        await issued(tenant, card_number=card.number)
    async with tenant.db.autocommit() as tx:
        (one,), _ = await tickets.list_tickets(tx, tenant.id, TicketFilter(external_id="A-1"), limit=5)
    assert (one.id, one.name, one.external_id, one.state) == (new.ticket_id, "Ann", "A-1", TicketState.ISSUED)


async def test_a_category_that_is_sold_out(tenant: Tenant) -> None:
    small = await factory.tenant(tenant.db, places=1)
    await issued(small)
    with pytest.raises(SoldOut) as refused:
        await issued(small)
    assert refused.value.param == "category_id"


async def test_an_events_tickets_by_state(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [await issued(tenant) for _ in range(7)]
    async with tenant.db.transaction() as tx:
        await tickets.cancel(tx, tenant.id, made[0].ticket_id, by=factory.BY, at=factory.now(), reason="x")
    assert await pages(tenant, limit=3) == [3, 3, 1]
    assert await pages(tenant, limit=7) == [7]
    assert await pages(tenant, limit=3, category_id=tenant.category_id) == [3, 3, 1]
    assert await pages(tenant, limit=3, category_id=tenant.event_id) == [0]
    assert await pages(tenant, limit=10, state=TicketState.CANCELLED) == [1]
    # Nothing matches at first; the next page goes on from where this one stopped.
    monkeypatch.setattr(listing, "LOOKED_THROUGH", 3)
    assert await pages(tenant, limit=3, state=TicketState.CANCELLED) == [0, 0, 1]
    assert await pages(tenant, limit=2, state=TicketState.ISSUED) == [2, 2, 2, 0]


async def pages(
    tenant: Tenant, limit: int, category_id: UUID | None = None, state: TicketState | None = None
) -> list[int]:
    sizes: list[int] = []
    place: UUID | None = None
    while True:
        async with tenant.db.autocommit() as tx:
            wanted = TicketFilter(tenant.event_id, category_id=category_id, state=state)
            page, place = await tickets.list_tickets(tx, tenant.id, wanted, before=place, limit=limit)
        sizes.append(len(page))
        if place is None:
            return sizes


async def test_an_export_has_every_ticket_once(tenant: Tenant) -> None:
    made = [(await issued(tenant)).ticket_id for _ in range(5)]
    exported: list[UUID] = []
    while True:
        async with tenant.db.autocommit() as tx:
            after = exported[-1] if exported else None
            some = await tickets.export_some(tx, tenant.id, tenant.event_id, after=after, limit=2)
        if not some:
            break
        exported += [one.id for one in some]
    assert exported == made


async def test_a_new_card_takes_over_what_is_unused(tenant: Tenant) -> None:
    other_event = await tenant.event()
    old = await issued(tenant, name="Ann", email="ann@example.org")
    async with tenant.db.transaction() as tx:
        await tx.run(USE, tenant.id, old.ticket_id)
    async with tenant.db.transaction() as tx:
        category = await tx.value(CATEGORY, tenant.id, other_event)
        request = TicketRequest(other_event, category, card_id=old.card_id)
        unused = (await tickets.issue(tx, tenant.id, request, by=factory.BY, at=factory.now())).ticket_id
    async with tenant.db.transaction() as tx:
        new = await tickets.replace(tx, tenant.id, old.card_id, by=factory.BY, at=factory.now(), reason="lost")
    async with tenant.db.autocommit() as tx:
        gone, held = await cards.find(tx, tenant.id, old.card_id), await cards.find(tx, tenant.id, new.id)
        assert [one.id for one in await tickets.of_card(tx, tenant.id, old.card_id)] == [old.ticket_id]
        assert [one.id for one in await tickets.of_card(tx, tenant.id, new.id)] == [unused]
        noted = [change.becomes for change in await audit_log.of_subject(tx, tenant.id, old.card_id)]
    assert (gone.status, gone.name, held.status, held.name) == (CardStatus.REVOKED, None, CardStatus.ACTIVE, "Ann")
    assert new.number in noted
    with pytest.raises(NotAllowedFromHere):
        async with tenant.db.transaction() as tx:
            await tickets.replace(tx, tenant.id, old.card_id, by=factory.BY, at=factory.now(), reason="lost")


USE = "UPDATE ticket SET activated_at = now() WHERE organization_id = $1 AND id = $2"
CATEGORY = """
    INSERT INTO ticket_category (organization_id, id, event_id, name, price_minor, currency, quantity_total)
    VALUES ($1, gen_random_uuid(), $2, 'General', 0, 'EUR', 10)
    RETURNING id
"""


async def test_a_cards_history_is_whole_and_newest_first(tenant: Tenant) -> None:
    card = await issued(tenant, name="Ann")
    async with tenant.db.transaction() as tx:
        for n in range(3):
            await tx.run(SCANNED, tenant.id, n, tenant.event_id, card.card_number, card.card_id)
        await cards.change_status(
            tx, tenant.id, card.card_id, CardStatus.SUSPENDED, by=factory.BY, at=factory.now(), reason="odd"
        )
    async with tenant.db.transaction() as tx:
        whole = await tickets.history(tx, tenant.id, card.card_id, limit=50)
        page = await tickets.history(tx, tenant.id, card.card_id, before=Place(whole[1].at, whole[1].id), limit=2)
        strange = await tickets.history(tx, (await factory.tenant(tenant.db)).id, card.card_id, limit=50)
    assert [moment.at for moment in whole] == sorted((moment.at for moment in whole), reverse=True)
    assert sum(moment.kind is HistoryKind.SCAN for moment in whole) == 3
    assert {moment.what for moment in whole if moment.kind is HistoryKind.CHANGE} == {"issued", "suspended"}
    assert page == whole[2:4]
    assert strange == []


SCANNED = """
    INSERT INTO scan (organization_id, at, id, mode, key_id, event_id, card_number, card_id, verdict, gate)
    VALUES ($1, now() - make_interval(mins => $2), gen_random_uuid(), 'live', gen_random_uuid(), $3, $4, $5,
            'already_activated', 'North')
"""
