"""Imports: each row becomes a ticket once, whatever fails, and each faulty row has its fault."""

from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from gatepass.base.errors import NotAllowedFromHere
from gatepass.base.ids import new_id
from gatepass.domain import events, imports, tickets
from gatepass.domain.cards import CardStatus
from gatepass.domain.events import EventStatus
from gatepass.domain.imports import Import, ImportNotFound, ImportState, apply, dry_run, undo
from gatepass.domain.imports.job import Made, made_id
from tests import factory
from tests.domain.imports.conftest import Desk

HEADER = "Card number,Name,E-mail,Category,Reference\n"


def row(number: str = "", name: str = "Ann", email: str = "", category: str = "General", reference: str = "") -> str:
    return f"{number},{name},{email},{category},{reference}\n"


async def test_rows_become_cards_holders_and_tickets(desk: Desk) -> None:
    job = await desk.applied(
        HEADER + row(name="Zoë Ö", email="zoe@example.org", reference="A-1") + row(category="VIP") + row(name="")
    )
    assert (job.state, job.tickets_made, job.cards_made, job.faulty) == (ImportState.DONE, 3, 3, 0)
    assert (await desk.tickets(), await desk.cards(), await desk.sold()) == (3, 3, 3)
    async with desk.tenant.db.autocommit() as tx:
        held = await tx.rows("SELECT name, email FROM card_holder WHERE organization_id = $1", desk.tenant.id)
        refers = await tx.rows("SELECT reference FROM ticket_reference WHERE organization_id = $1", desk.tenant.id)
    assert {tuple(one) for one in held} == {("Zoë Ö", "zoe@example.org"), ("Ann", None)}
    assert [one["reference"] for one in refers] == ["A-1"]
    assert await desk.value("SELECT count(*) FROM import_row WHERE organization_id = $1") == 0


async def test_a_card_that_exists_gets_the_ticket_and_keeps_its_holder(desk: Desk) -> None:
    card = await desk.tenant.card(with_ticket=False)
    job = await desk.applied(HEADER + row(card.number.lower().replace(" ", "-")))
    assert (job.tickets_made, job.cards_made, await desk.cards()) == (1, 0, 1)
    assert await desk.value("SELECT count(*) FROM card_holder WHERE organization_id = $1") == 0


async def test_every_fault_is_told_by_its_row(desk: Desk) -> None:
    has_ticket, free, revoked = [await desk.tenant.card(with_ticket=n == 0) for n in range(3)]
    await desk.tenant.move_card(revoked, CardStatus.REVOKED)
    other = await (await factory.tenant(desk.tenant.db)).card(with_ticket=False)
    await desk.applied(HEADER + row(reference="taken"))
    mistyped = free.number[:-1] + str((int(free.number[-1]) + 1) % 10)
    job = await desk.checked(
        HEADER
        + row()
        + row(category="Balcony")
        + row(category="")
        + row(mistyped)
        + row("nonsense")
        + row(other.number)
        + row(has_ticket.number)
        + row(revoked.number)
        + row(free.number)
        + row(free.number)
        + row(reference="taken")
        + row(reference="twice")
        + row(reference="twice")
        + row(name="x" * 201)
        + row(email="nobody")
        + row(reference="x" * 129)
        + "a,b,c,d,e,f\n"
        + row(name="\0")
    )
    assert await desk.codes(job.id) == {
        3: "unknown_category",
        4: "no_category",
        5: "bad_card_number",
        6: "bad_card_number",
        7: "unknown_card",
        8: "card_has_ticket",
        9: "card_revoked",
        11: "duplicate_card",
        12: "reference_taken",
        14: "duplicate_reference",
        15: "name_too_long",
        16: "email_invalid",
        17: "reference_too_long",
        18: "too_many_cells",
        19: "unreadable",
    }
    assert (job.state, job.row_count, job.faulty, job.good) == (ImportState.CHECKED, 18, 15, 3)
    before = await desk.tickets()
    done = await desk.apply(job.id)
    assert (done.tickets_made, done.faulty, await desk.tickets()) == (3, 15, before + 3)
    assert len(await desk.faults(job.id)) == 15


async def test_no_category_is_sold_beyond_its_places(desk: Desk) -> None:
    job = await desk.checked(HEADER + row(category="vip") * 5)
    assert await desk.codes(job.id) == {5: "sold_out", 6: "sold_out"}
    first = await desk.applied(HEADER + row(category="backstage") * 2)
    assert first.tickets_made == 2
    late = await desk.apply(job.id)
    assert (late.tickets_made, late.faulty) == (1, 4)
    assert await desk.sold() == 3


async def test_a_tier_of_two_categories_is_ambiguous(desk: Desk) -> None:
    async with desk.tenant.db.transaction() as tx:
        await events.add_category(
            tx,
            desk.tenant.id,
            desk.tenant.event_id,
            "Box",
            Decimal(9),
            "EUR",
            3,
            tier="vip",
            by=factory.BY,
            at=factory.now(),
        )
    job = await desk.checked(HEADER + row(category="VIP") + row(category="box"))
    assert await desk.codes(job.id) == {2: "ambiguous_category"}


async def test_duplicates_are_found_across_batches(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dry_run, "BATCH", 2)
    card = await desk.tenant.card(with_ticket=False)
    lines = row(reference="a") + row(card.number) + row(reference="b") + row(card.number) + row(reference="a")
    job = await desk.checked(HEADER + lines)
    assert await desk.codes(job.id) == {5: "duplicate_card", 6: "duplicate_reference"}


async def test_one_form_makes_one_import(desk: Desk) -> None:
    key = new_id()
    assert await desk.stage("name\nAnn\n", key=key) == await desk.stage("name\nAnn\n", key=key)


async def test_an_import_is_applied_once(desk: Desk) -> None:
    job = await desk.applied(HEADER + row())
    with pytest.raises(NotAllowedFromHere):
        await desk.apply(job.id)
    assert await desk.tickets() == 1


async def test_a_step_that_fails_leaves_nothing_and_is_done_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apply, "BATCH", 2)
    job = await desk.checked(HEADER + row(reference="a") + row() * 4)
    async with desk.tenant.db.transaction() as tx:
        await imports.begin_applying(tx, desk.tenant.id, job.id, by=factory.BY, at=factory.now())
    await desk.step()
    with pytest.raises(ZeroDivisionError):
        await stumble(desk)
    assert await desk.tickets() == 2
    done = await desk.worked(job.id)
    assert (done.tickets_made, await desk.tickets(), await desk.cards(), await desk.sold()) == (5, 5, 5, 5)


async def stumble(desk: Desk) -> None:
    async with desk.tenant.db.transaction() as tx:
        job = await imports.next_under_way(tx)
        assert job
        await imports.advance(tx, job, at=factory.now())
        raise ZeroDivisionError


async def test_an_event_that_closes_meanwhile(desk: Desk) -> None:
    job = await desk.checked(HEADER + row())
    await desk.tenant.move_event(desk.tenant.event_id, EventStatus.ENDED)
    done = await desk.apply(job.id)
    assert (done.tickets_made, await desk.codes(job.id)) == (0, {2: "event_closed"})
    with pytest.raises(NotAllowedFromHere):
        await desk.stage(HEADER + row())


async def test_undo_removes_what_nobody_has_used(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo, "BATCH", 2)
    old = await desk.tenant.card(with_ticket=False)
    kept = await desk.applied(HEADER + row(reference="before"))
    job = await desk.applied(HEADER + row(old.number) + row(reference="x") * 1 + row() * 4)
    ids = await ticket_ids(desk, job)
    async with desk.tenant.db.transaction() as tx:
        use = "UPDATE ticket SET activated_at = now() WHERE organization_id = $1 AND id = $2"
        await tx.run(use, desk.tenant.id, ids[2])
        await tickets.cancel(tx, desk.tenant.id, ids[3], by=factory.BY, at=factory.now(), reason="lost")
    undone = await desk.undone(job.id)
    assert (undone.state, undone.tickets_removed, undone.tickets_kept) == (ImportState.UNDONE, 4, 2)
    assert await ticket_ids(desk, job) == [ids[2], ids[3]]
    assert len(await ticket_ids(desk, kept)) == 1
    # The old card, the one of the earlier import, and those whose tickets stay.
    assert (await desk.cards(), await desk.sold()) == (4, 2)
    assert await desk.value("SELECT count(*) FROM ticket_reference WHERE organization_id = $1") == 1


async def ticket_ids(desk: Desk, job: Import) -> list[UUID]:
    async with desk.tenant.db.autocommit() as tx:
        rows = await tx.rows(
            "SELECT id FROM ticket WHERE organization_id = $1 AND id BETWEEN $2 AND $3 ORDER BY id",
            desk.tenant.id, made_id(job.id, Made.TICKET, 0), made_id(job.id, Made.TICKET, 10**6),
        )  # fmt: skip
    return [one["id"] for one in rows]


async def test_a_ticket_knows_its_import(desk: Desk) -> None:
    job = await desk.applied(HEADER + row())
    (ticket_id,) = await ticket_ids(desk, job)
    async with desk.tenant.db.autocommit() as tx:
        maker = await imports.maker_of(tx, desk.tenant.id, ticket_id)
        assert maker is not None
        assert maker.id == job.id
        assert await imports.maker_of(tx, desk.tenant.id, new_id()) is None


async def test_the_external_id_of_a_cancelled_ticket_stays_taken(desk: Desk) -> None:
    job = await desk.applied(HEADER + row(reference="a"))
    (ticket_id,) = await ticket_ids(desk, job)
    async with desk.tenant.db.transaction() as tx:
        await tickets.cancel(tx, desk.tenant.id, ticket_id, by=factory.BY, at=factory.now(), reason="x")
    again = await desk.applied(HEADER + row(reference="a"))
    assert (again.tickets_made, await desk.codes(again.id)) == (0, {2: "reference_taken"})


async def test_imports_take_turns(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dry_run, "BATCH", 1)
    one, other = await desk.stage("name\nA\nB\nC\n"), await desk.stage("name\nA\nB\nC\n")
    for import_id in (one, other):
        await desk.name(import_id, category_id=desk.tenant.category_id)
    await desk.step()
    await desk.step()
    assert [(await desk.find(id)).reached for id in (one, other)] == [2, 2]
    await desk.worked(one)


async def test_what_is_given_up_is_swept(desk: Desk) -> None:
    import_id = await desk.stage("name\nA\n")
    async with desk.tenant.db.transaction() as tx:
        await imports.discard(tx, desk.tenant.id, import_id, by=factory.BY, at=factory.now())
    done = await desk.applied(HEADER + row(category="?"))
    await sweep(desk)
    assert await desk.value("SELECT count(*) FROM import_row WHERE organization_id = $1") == 1
    await sweep(desk, timedelta(days=31))
    assert await desk.value("SELECT count(*) FROM import_row WHERE organization_id = $1") == 0
    assert (await desk.find(done.id)).state is ImportState.DONE


async def sweep(desk: Desk, later: timedelta = timedelta()) -> None:
    at = factory.now() + later
    while True:
        async with desk.tenant.db.transaction() as tx:
            if not await imports.sweep_some(tx, at=at):
                return


async def test_another_organization_finds_nothing(desk: Desk) -> None:
    import_id = await desk.stage("name\nA\n")
    stranger = await factory.tenant(desk.tenant.db)
    async with desk.tenant.db.autocommit() as tx:
        with pytest.raises(ImportNotFound):
            await imports.find(tx, stranger.id, import_id)
        assert await imports.faulty_rows(tx, stranger.id, import_id, limit=10) == []
    with pytest.raises(NotAllowedFromHere):
        async with desk.tenant.db.transaction() as tx:
            await imports.discard(tx, stranger.id, import_id, by=factory.BY, at=factory.now())
