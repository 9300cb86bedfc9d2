"""Files of cards: each usable card once, whatever happens meanwhile; sealed, and deleted after a day."""

import csv
import io
from datetime import timedelta

import pytest

from gatepass.base.encryption import VaultLocked
from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.base.ids import new_id
from gatepass.domain import card_exports, cards, maintenance, tickets
from gatepass.domain.card_exports import ExportKind, ExportNotFound, ExportState, Selection, job, requests, runner
from gatepass.domain.cards import CardStatus, HolderDetails
from gatepass.domain.cards.links import links_of
from gatepass.domain.events import EventNotFound, EventStatus
from gatepass.domain.tickets import TicketRequest
from tests import factory
from tests.domain.card_exports.conftest import Press


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


async def test_every_usable_card_is_in_the_file_once_with_a_token_until_the_day(press: Press) -> None:
    tenant = press.tenant
    good = [await tenant.card() for _ in range(3)]
    suspended, cancelled = await tenant.card(), await tenant.card(with_ticket=False)
    await tenant.move_card(suspended, CardStatus.SUSPENDED)
    ticket_id = await tenant.ticket(cancelled)
    async with tenant.db.transaction() as tx:
        await tickets.cancel(tx, tenant.id, ticket_id, by=factory.BY, at=factory.now(), reason="test")
        counted = await card_exports.count(tx, tenant.id, tenant.event_id, Selection(), most=100)
        keys = await cards.verifying_keys(tx, tenant.id)
    assert (counted.usable, counted.used, counted.cancelled, counted.out_of_use) == (3, 0, 1, 1)
    until = factory.now() + timedelta(days=3)
    made = await press.made(await press.begin(until=until))
    assert (made.state, made.total, made.done, made.share) == (ExportState.READY, 3, 3, 1.0)
    rows = rows_of(await press.content(made.id))
    assert [row["card number"] for row in rows] == [card.number for card in good]
    tokens = [cards.read_token(row["token"], keys) for row in rows]
    assert [token.card_number for token in tokens] == [card.number for card in good]
    assert {token.expires_at for token in tokens} == {int(until.timestamp())}
    async with tenant.db.transaction() as tx:
        links = await links_of(tx, tenant.id, [card.id for card in good], factory.VAULT, "a", at=factory.now())
    assert [row["link"] for row in rows] == [f"https://cards.example/c/{links[card.id]}" for card in good]


async def test_an_event_that_takes_phones_only_has_no_token_in_any_file(press: Press) -> None:
    await press.tenant.card()
    async with press.tenant.db.transaction() as tx:
        await tx.run("UPDATE event SET codes = 'phone' WHERE organization_id = $1", press.tenant.id)
    made = await press.made(await press.begin())
    (row,) = rows_of(await press.content(made.id))
    assert (row["token"], row["token until"]) == ("", "")
    assert row["link"]


async def test_a_large_file_is_made_in_parts(press: Press, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "CARDS_OF_CSV_PART", 2)
    made_cards = [await press.tenant.card() for _ in range(5)]
    export_id = await press.begin()
    shares = []
    while (await press.step()) is not None:
        shares.append(round((await press.find(export_id)).share, 1))
    assert shares == [0.4, 0.8, 1.0]
    rows = rows_of(await press.content(export_id))
    assert [row["card number"] for row in rows] == [card.number for card in made_cards]


async def test_a_category_and_chosen_tickets_narrow_it(press: Press) -> None:
    tenant = press.tenant
    first, second = await tenant.card(with_ticket=False), await tenant.card()
    ticket_id = await tenant.ticket(first)
    other = await (await factory.tenant(tenant.db)).card(with_ticket=False)
    assert other.id
    chosen = await press.made(await press.begin(selection=Selection(ticket_ids=[ticket_id, new_id()])))
    assert [row["card number"] for row in rows_of(await press.content(chosen.id))] == [first.number]
    of_category = await press.made(await press.begin(selection=Selection(category_id=tenant.category_id)))
    assert {row["card number"] for row in rows_of(await press.content(of_category.id))} == {first.number, second.number}
    with pytest.raises(InvalidRequest):
        await press.begin(selection=Selection(category_id=new_id()))


async def test_names_are_in_it_only_if_wished_and_are_no_formulas(press: Press) -> None:
    tenant = press.tenant
    request = TicketRequest(tenant.event_id, tenant.category_id, holder=HolderDetails("=HYPERLINK(1)", None))
    async with tenant.db.transaction() as tx:
        await tickets.issue(tx, tenant.id, request, by=factory.BY, at=factory.now())
    named = await press.made(await press.begin())
    assert [row["name"] for row in rows_of(await press.content(named.id))] == ["'=HYPERLINK(1)"]
    nameless = await press.made(await press.begin(with_names=False))
    assert [row["name"] for row in rows_of(await press.content(nameless.id))] == [""]


async def test_a_form_that_is_sent_twice_makes_one_file(press: Press) -> None:
    await press.tenant.card()
    key = new_id()
    assert await press.begin(key=key) == await press.begin(key=key)


async def test_a_worker_that_died_is_replaced_after_its_lease_and_comes_too_late(press: Press) -> None:
    await press.tenant.card()
    export_id = await press.begin()
    async with press.tenant.db.transaction() as tx:
        claimed = await card_exports.claim(tx, at=factory.now())
    assert claimed is not None
    assert await press.step() is None
    later = factory.now() + runner.LEASE
    assert await press.step(at=later) is not None
    assert (await press.find(export_id)).state is ExportState.READY
    assert not await press.make_part(claimed)
    assert len(rows_of(await press.content(export_id))) == 1


async def test_a_stopped_export_leaves_nothing_and_takes_no_late_part(press: Press) -> None:
    await press.tenant.card()
    export_id = await press.begin()
    async with press.tenant.db.transaction() as tx:
        claimed = await card_exports.claim(tx, at=factory.now())
        await card_exports.stop(tx, press.tenant.id, export_id, by=factory.BY, at=factory.now())
    assert claimed is not None
    assert not await press.make_part(claimed)
    assert await press.parts_kept() == 0
    with pytest.raises(NotAllowedFromHere):
        await press.content(export_id)
    async with press.tenant.db.transaction() as tx:
        with pytest.raises(NotAllowedFromHere):
            await card_exports.stop(tx, press.tenant.id, export_id, by=factory.BY, at=factory.now())


async def test_a_file_is_deleted_after_a_day_or_by_hand(press: Press) -> None:
    await press.tenant.card()
    first, second = [await press.made(await press.begin()) for _ in range(2)]
    async with press.tenant.db.transaction() as tx:
        await card_exports.delete(tx, press.tenant.id, first.id, by=factory.BY, at=factory.now())
    assert (await press.find(first.id)).state is ExportState.DELETED
    assert await press.parts_kept() == 1
    await maintenance.run_due(press.tenant.db, at=factory.now() + job.KEPT_FOR - timedelta(minutes=1))
    assert await press.parts_kept() == 1
    done = await maintenance.run_due(press.tenant.db, at=factory.now() + job.KEPT_FOR)
    assert done.card_exports_deleted >= 1
    assert (await press.find(second.id)).state is ExportState.DELETED
    assert await press.parts_kept() == 0
    for gone in (first, second):
        with pytest.raises(NotAllowedFromHere):
            await press.content(gone.id)


async def test_nothing_is_left_to_print_when_the_tickets_were_used_meanwhile(press: Press) -> None:
    card = await press.tenant.card()
    for kind in ExportKind:
        export_id = await press.begin(kind)
        await press.tenant.move_card(card, CardStatus.SUSPENDED)
        made = await press.made(export_id)
        assert (made.state, made.problem) == (ExportState.FAILED, runner.NONE_LEFT)
        assert await press.parts_kept() == 0
        await press.tenant.move_card(card, CardStatus.ACTIVE)


async def test_an_export_that_keeps_failing_is_given_up(press: Press) -> None:
    await press.tenant.card()
    export_id = await press.begin()
    at = factory.now()
    for _ in range(runner.MOST_FAILURES):
        async with press.tenant.db.transaction() as tx:
            claimed = await card_exports.claim(tx, at=at)
            assert claimed is not None
            await card_exports.put_off(tx, claimed, at=at)
        at += runner.LATER
    found = await press.find(export_id)
    assert (found.state, found.problem) == (ExportState.FAILED, runner.FAILED)


async def test_bounds_of_an_order(press: Press, monkeypatch: pytest.MonkeyPatch) -> None:
    await press.tenant.card()
    now = factory.now()
    for until in (now - timedelta(seconds=1), now + job.LONGEST_TOKEN + timedelta(days=1)):
        with pytest.raises(InvalidRequest, match="400 days"):
            await press.begin(until=until)
    for chosen in ([], [new_id() for _ in range(job.MOST_CHOSEN + 1)]):
        with pytest.raises(InvalidRequest, match="1 to 200"):
            await press.begin(selection=Selection(ticket_ids=chosen))
    with pytest.raises(EventNotFound):
        await press.begin(event_id=new_id())
    ended = await press.tenant.event(status=EventStatus.ENDED)
    with pytest.raises(NotAllowedFromHere):
        await press.begin(event_id=ended)
    await press.tenant.card()
    monkeypatch.setattr(requests, "MOST_CARDS", 1)
    with pytest.raises(InvalidRequest, match="more than 1 tickets"):
        await press.begin()


async def test_an_organization_has_a_bounded_number_of_files(press: Press, monkeypatch: pytest.MonkeyPatch) -> None:
    await press.tenant.card()
    begun = [await press.begin() for _ in range(job.MOST_UNDER_WAY)]
    with pytest.raises(NotAllowedFromHere, match="being made already"):
        await press.begin()
    await press.made(begun[0])
    monkeypatch.setattr(requests, "MOST_KEPT", job.MOST_UNDER_WAY)
    with pytest.raises(NotAllowedFromHere, match="kept already"):
        await press.begin()


async def test_another_organization_finds_nothing(press: Press) -> None:
    await press.tenant.card()
    export_id = (await press.made(await press.begin())).id
    other = Press(await factory.tenant(press.tenant.db))
    for attempt in (other.find(export_id), other.content(export_id)):
        with pytest.raises(ExportNotFound):
            await attempt
    async with other.tenant.db.transaction() as tx:
        with pytest.raises(ExportNotFound):
            await card_exports.read_part(tx, other.tenant.id, export_id, 0, factory.VAULT)
        with pytest.raises(ExportNotFound):
            await card_exports.delete(tx, other.tenant.id, export_id, by=factory.BY, at=factory.now())


async def test_a_part_is_sealed_and_opens_in_its_own_row_alone(press: Press) -> None:
    card = await press.tenant.card()
    ids = [(await press.made(await press.begin())).id for _ in range(2)]
    async with press.tenant.db.transaction() as tx:
        boxes = await tx.rows("SELECT sealed_content FROM card_export_part WHERE organization_id = $1", press.tenant.id)
        assert len(boxes) == 2
        assert not any(card.number.encode() in box["sealed_content"] for box in boxes)
        await tx.run(
            "UPDATE card_export_part p SET sealed_content = (SELECT o.sealed_content FROM card_export_part o"
            " WHERE o.organization_id = $1 AND o.export_id = $3) WHERE p.organization_id = $1 AND p.export_id = $2",
            press.tenant.id, ids[0], ids[1],
        )  # fmt: skip
    with pytest.raises(VaultLocked):
        await press.content(ids[0])


async def test_begin_stop_delete_and_download_are_in_the_audit_log(press: Press) -> None:
    await press.tenant.card()
    export_id = (await press.made(await press.begin())).id
    await press.content(export_id)
    async with press.tenant.db.transaction() as tx:
        await card_exports.delete(tx, press.tenant.id, export_id, by=factory.BY, at=factory.now())
        entries = await tx.rows(
            "SELECT action, becomes FROM audit_log WHERE organization_id = $1 AND subject = 'card_export' ORDER BY id",
            press.tenant.id,
        )
    assert [entry["action"] for entry in entries] == ["begun", "downloaded", "deleted"]
    assert entries[1]["becomes"] == "CSV of 1 cards"
