"""Guests of an import: a known address finds the card, and who has a ticket is left out or brings a companion."""

import pytest

from gatepass.domain import cards
from gatepass.domain.cards import CardStatus
from gatepass.domain.imports import dry_run
from tests import factory
from tests.domain.imports.conftest import Desk
from tests.domain.imports.test_imports import HEADER, row


async def test_a_guest_who_has_a_ticket_is_left_out(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dry_run, "BATCH", 2)
    await desk.applied(HEADER + row(email="ann@example.org"))
    rows = [row(email=email) for email in ("ANN@example.org", "bob@example.org", "Bob@Example.org", "cid@example.org")]
    job = await desk.checked(HEADER + "".join(rows) + row(email="cid@EXAMPLE.org"))
    left_out = {2: "guest_has_ticket", 4: "guest_has_ticket", 6: "guest_has_ticket"}
    assert await desk.codes(job.id) == left_out
    done = await desk.apply(job.id)
    assert (done.tickets_made, done.cards_made, await desk.codes(job.id)) == (2, 2, left_out)
    assert await desk.cards() == await desk.tickets() == 3


async def test_a_guest_who_has_a_ticket_brings_a_companion_if_that_was_chosen(desk: Desk) -> None:
    await desk.applied(HEADER + row(email="ann@example.org"))
    job = await desk.stage(HEADER + row(name="Bob", email="ann@example.org") * 2)
    await desk.name(job, companions=True)
    await desk.worked(job)
    done = await desk.apply(job)
    assert (done.faulty, done.tickets_made, done.cards_made) == (0, 2, 2)
    companions = "SELECT count(*) FROM holder_email WHERE organization_id = $1 AND companion"
    assert await desk.value(companions) == 2


async def test_a_known_guest_gets_the_ticket_on_their_card(desk: Desk) -> None:
    async with desk.tenant.db.transaction() as tx:
        card = await cards.issue(
            tx, desk.tenant.id, by=factory.BY, at=factory.now(), holder_name="Ann", holder_email="ann@example.org"
        )
    job = await desk.applied(HEADER + row(name="Anna", email=" Ann@Example.ORG "))
    assert (job.tickets_made, job.cards_made, await desk.cards()) == (1, 0, 1)
    undone = await desk.undone(job.id)
    assert (undone.tickets_removed, await desk.cards()) == (1, 1)
    await desk.tenant.move_card(card, CardStatus.SUSPENDED)
    again = await desk.checked(HEADER + row(email="ann@example.org"))
    assert await desk.codes(again.id) == {2: "card_suspended"}
