"""Finding cards and tickets, handing one out, replacing a card, and a card's history."""

from uuid import UUID

import pytest

from gatepass.base.paging import Place
from gatepass.base.refusals import InvalidRequest, NotAllowedFromHere
from gatepass.domain import cards, changes, tickets
from gatepass.domain.cards import CardNotFound, CardRevoked, CardStatus, HeldCard
from gatepass.domain.tickets import CardHasTicket, HandedOut, MomentKind, SoldOut, TicketState, listing
from tests import make
from tests.make import House


async def handed(house: House, **wish: str) -> HandedOut:
    async with house.db.transaction() as tx:
        return await tickets.hand_out(
            tx, house.id, house.event_id, house.category_id, by=make.BY, at=make.now(), **wish
        )


async def found(house: House, beginning: str) -> list[str | None]:
    async with house.db.reading() as tx:
        return [card.name for card in await cards.held_by(tx, house.id, beginning, limit=10)]


async def by_number(house: House, typed: str) -> HeldCard | None:
    async with house.db.reading() as tx:
        return await cards.find_by_number(tx, house.id, typed)


async def test_a_card_by_its_number_however_it_is_typed(house: House) -> None:
    card = await house.card()
    digits = card.number[4:]
    for typed in (card.number, card.number.lower(), digits, digits.replace(" ", ""), f"svc-{digits.replace(' ', '-')}"):
        one = await by_number(house, typed)
        assert one is not None
        assert one.id == card.id
    for typed in ("", "SVC", "1234", "x" * 500, card.number[:-1]):
        assert await by_number(house, typed) is None
    assert await by_number(await make.house(house.db), card.number) is None


async def test_cards_by_the_beginning_of_a_name_or_an_address(house: House) -> None:
    await handed(house, name="Zoë Öster", email="Zoe@Example.org")
    await handed(house, name="zoé")
    await handed(house, name="50% off_")
    assert await found(house, "ZO") == ["zoé", "Zoë Öster"]
    assert await found(house, "zoë ö") == ["Zoë Öster"]
    assert await found(house, "zoe@ex") == ["Zoë Öster"]
    assert await found(house, "50%") == ["50% off_"]
    assert await found(house, "%") == []
    assert await found(await make.house(house.db), "zo") == []


async def test_cards_newest_first_and_those_out_of_use(house: House) -> None:
    made = [await house.card() for _ in range(5)]
    await house.move_card(made[1], CardStatus.SUSPENDED)
    async with house.db.reading() as tx:
        first = await cards.newest(tx, house.id, limit=3)
        rest = await cards.newest(tx, house.id, before=first[-1].id, limit=3)
        suspended = await cards.newest(tx, house.id, status=CardStatus.SUSPENDED, limit=3)
    assert [card.id for card in first + rest] == [card.id for card in reversed(made)]
    assert [card.id for card in suspended] == [made[1].id]


async def test_a_ticket_is_handed_out_once(house: House) -> None:
    new = await handed(house, name="Ann", reference="A-1")
    with pytest.raises(CardHasTicket) as refused:
        await handed(house, card_number=new.card_number)
    assert refused.value.param == "card_number"
    with pytest.raises(InvalidRequest) as taken:
        await handed(house, reference="A-1")
    assert taken.value.param == "reference"
    with pytest.raises(CardNotFound):
        await handed(house, card_number="SVC 0000 0000 0000")
    card = await house.card(with_ticket=False)
    await house.move_card(card, CardStatus.REVOKED)
    with pytest.raises(CardRevoked):
        await handed(house, card_number=card.number)
    async with house.db.reading() as tx:
        (one,) = await tickets.referred(tx, house.id, "A-1", limit=5)
    assert (one.id, one.name, one.reference, one.state) == (new.ticket_id, "Ann", "A-1", TicketState.ISSUED)


async def test_a_category_that_is_sold_out(house: House) -> None:
    small = await make.house(house.db, places=1)
    await handed(small)
    with pytest.raises(SoldOut) as refused:
        await handed(small)
    assert refused.value.param == "category"


async def test_an_events_tickets_by_state(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [await handed(house) for _ in range(7)]
    async with house.db.transaction() as tx:
        await tickets.cancel(tx, house.id, made[0].ticket_id, by=make.BY, at=make.now(), reason="x")
    assert await pages(house, limit=3) == [3, 3, 1]
    assert await pages(house, limit=7) == [7]
    assert await pages(house, limit=3, category_id=house.category_id) == [3, 3, 1]
    assert await pages(house, limit=3, category_id=house.event_id) == [0]
    assert await pages(house, limit=10, state=TicketState.CANCELLED) == [1]
    # Nothing fits at first; the next page goes on from where this one looked.
    monkeypatch.setattr(listing, "LOOKED_THROUGH", 3)
    assert await pages(house, limit=3, state=TicketState.CANCELLED) == [0, 0, 1]
    assert await pages(house, limit=2, state=TicketState.ISSUED) == [2, 2, 2, 0]


async def pages(
    house: House, limit: int, category_id: UUID | None = None, state: TicketState | None = None
) -> list[int]:
    sizes: list[int] = []
    place: UUID | None = None
    while True:
        async with house.db.reading() as tx:
            page, place = await tickets.of_event(
                tx, house.id, house.event_id, category_id=category_id, state=state, before=place, limit=limit
            )
        sizes.append(len(page))
        if place is None:
            return sizes


async def test_an_export_has_every_ticket_once(house: House) -> None:
    made = [(await handed(house)).ticket_id for _ in range(5)]
    exported: list[UUID] = []
    while True:
        async with house.db.reading() as tx:
            after = exported[-1] if exported else None
            some = await tickets.export_some(tx, house.id, house.event_id, after=after, limit=2)
        if not some:
            break
        exported += [one.id for one in some]
    assert exported == made


async def test_a_new_card_takes_over_what_is_unused(house: House) -> None:
    other_event = await house.event()
    old = await handed(house, name="Ann", email="ann@example.org")
    async with house.db.transaction() as tx:
        await tx.run(USE, house.id, old.ticket_id)
    async with house.db.transaction() as tx:
        category = await tx.value(CATEGORY, house.id, other_event)
        unused = await tickets.issue(tx, house.id, other_event, category, old.card_id, by=make.BY, at=make.now())
    async with house.db.transaction() as tx:
        new = await tickets.replace(tx, house.id, old.card_id, by=make.BY, at=make.now(), reason="lost")
    async with house.db.reading() as tx:
        gone, held = await cards.find(tx, house.id, old.card_id), await cards.find(tx, house.id, new.id)
        assert [one.id for one in await tickets.of_card(tx, house.id, old.card_id)] == [old.ticket_id]
        assert [one.id for one in await tickets.of_card(tx, house.id, new.id)] == [unused]
        told = [change.becomes for change in await changes.of_subject(tx, house.id, old.card_id)]
    assert (gone.status, gone.name, held.status, held.name) == (CardStatus.REVOKED, None, CardStatus.ACTIVE, "Ann")
    assert new.number in told
    with pytest.raises(NotAllowedFromHere):
        async with house.db.transaction() as tx:
            await tickets.replace(tx, house.id, old.card_id, by=make.BY, at=make.now(), reason="lost")


USE = "UPDATE ticket SET activated_at = now() WHERE organization_id = $1 AND id = $2"
CATEGORY = """
    INSERT INTO ticket_category (organization_id, id, event_id, name, price_minor, currency, quantity_total)
    VALUES ($1, gen_random_uuid(), $2, 'General', 0, 'EUR', 10)
    RETURNING id
"""


async def test_a_cards_history_is_whole_and_newest_first(house: House) -> None:
    card = await handed(house, name="Ann")
    async with house.db.transaction() as tx:
        for n in range(3):
            await tx.run(SCANNED, house.id, n, house.event_id, card.card_number, card.card_id)
        await cards.move(tx, house.id, card.card_id, CardStatus.SUSPENDED, by=make.BY, at=make.now(), reason="odd")
    async with house.db.transaction() as tx:
        whole = await tickets.history(tx, house.id, card.card_id, limit=50)
        page = await tickets.history(tx, house.id, card.card_id, before=Place(whole[1].at, whole[1].id), limit=2)
        strange = await tickets.history(tx, (await make.house(house.db)).id, card.card_id, limit=50)
    assert [moment.at for moment in whole] == sorted((moment.at for moment in whole), reverse=True)
    assert sum(moment.kind is MomentKind.SCAN for moment in whole) == 3
    assert {moment.what for moment in whole if moment.kind is MomentKind.CHANGE} == {"issued", "suspended"}
    assert page == whole[2:4]
    assert strange == []


SCANNED = """
    INSERT INTO scan (organization_id, at, id, mode, key_id, event_id, card_number, card_id, verdict, gate)
    VALUES ($1, now() - make_interval(mins => $2), gen_random_uuid(), 'live', gen_random_uuid(), $3, $4, $5,
            'already_activated', 'North')
"""
