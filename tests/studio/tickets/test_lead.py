"""The lead's page at a gate: a guest of one event is found, seen as the record has them, and let in with a reason."""

import asyncio
from urllib.parse import quote
from uuid import UUID

import pytest

from gatepass.base.ids import new_id
from gatepass.domain import incidents, tickets
from gatepass.domain.cards import Card, CardStatus, HolderDetails
from gatepass.domain.incidents import Incident, IncidentFilter
from gatepass.domain.staff import Role
from gatepass.domain.tickets import TicketRequest
from gatepass.studio.middleware import Middleware
from tests import factory
from tests.domain.journal.device import pair
from tests.factory import Tenant
from tests.studio.browser_session import BrowserSession, sign_in

WHY = "Her card is at home; I know her"
NORTH = "North 2"


async def opened(tenant: Tenant) -> list[Incident]:
    async with tenant.db.autocommit() as tx:
        return (await incidents.list_incidents(tx, tenant.id, IncidentFilter(), limit=50))[0]


async def guest(tenant: Tenant, name: str, email: str) -> UUID:
    """The id of the card of a guest with a ticket."""
    request = TicketRequest(tenant.event_id, tenant.category_id, holder=HolderDetails(name, email))
    async with tenant.db.transaction() as tx:
        return (await tickets.issue(tx, tenant.id, request, by=factory.BY, at=factory.now())).card_id


def at(tenant: Tenant, card: Card | UUID | None = None, *, gate: str = "") -> str:
    rest = "" if card is None else f"/{card if isinstance(card, UUID) else card.id}"
    return f"events/{tenant.event_id}/lead{rest}" + (f"?gate={quote(gate)}" if gate else "")


@pytest.mark.parametrize("typed", ["Grace Hop", "hopper grace", "GRACE@example.org"])
async def test_a_guest_of_the_event_is_found_by_name_or_address(user: BrowserSession, typed: str) -> None:
    card_id = await guest(user.tenant, "Grace Hopper", "grace@example.org")
    await guest(user.tenant, "Ada Byron", "ada@example.org")
    page = await user.see(at(user.tenant) + f"?q={quote(typed)}")
    assert f"/lead/{card_id}" in page
    assert "Ada Byron" not in page


async def test_a_guest_is_found_by_the_number_of_the_card_also_without_a_ticket(user: BrowserSession) -> None:
    card, bare = await user.tenant.card(), await user.tenant.card(with_ticket=False)
    assert f"/lead/{card.id}" in await user.see(at(user.tenant) + f"?q={card.number.lower().replace(' ', '')}")
    page = await user.see(at(user.tenant) + f"?q={quote(bare.number)}")
    assert f"/lead/{bare.id}" in page
    assert "This card has no ticket for this event." in page
    assert "Nobody found" in await user.see(at(user.tenant) + "?q=nobody")


async def test_guests_of_another_event_are_not_found(user: BrowserSession) -> None:
    await guest(user.tenant, "Grace Hopper", "grace@example.org")
    other = await user.tenant.event()
    assert "Grace" not in await user.see(f"events/{other}/lead?q=grace")


async def test_an_unused_ticket_is_used_at_the_leads_gate(user: BrowserSession) -> None:
    card = await user.tenant.card()
    await pair(user.tenant, NORTH)
    assert "Let in anyway" not in await user.see(at(user.tenant, card, gate=NORTH))
    done = await user.send(at(user.tenant, card, gate=NORTH), reason=WHY, seen="issued")
    assert done.headers["location"].endswith("/lead?gate=North+2")
    assert "The ticket is used now." in await user.follow(done)
    async with user.tenant.db.autocommit() as tx:
        (ticket,) = await tickets.of_card(tx, user.tenant.id, card.id)
        scan = (await tx.rows("SELECT * FROM scan WHERE organization_id = $1", user.tenant.id))[0]
    assert (ticket.state, ticket.activated_gate) == ("activated", NORTH)
    assert (scan["gate"], scan["scanner_id"]) == (NORTH, f"person {user.person.id}")
    assert WHY in await user.see(f"cards/{card.id}")


async def test_who_was_first_is_seen_and_a_second_admission_is_an_incident(user: BrowserSession) -> None:
    card = await user.tenant.card()
    await pair(user.tenant, NORTH)
    await user.send(at(user.tenant, card, gate=NORTH), reason=WHY, seen="issued")
    page = await user.see(at(user.tenant, card))
    assert "Somebody came in with this ticket" in page
    assert f"{NORTH}, by {user.person.name}" in page
    assert "Let in anyway" in page
    done = await user.send(at(user.tenant, card), reason="Her twin has the ticket", seen="activated")
    assert "an incident is open" in await user.follow(done)
    assert sorted(one.kind for one in await opened(user.tenant)) == ["duplicate", "override"]


async def test_a_finger_that_taps_twice_opens_no_incident(user: BrowserSession) -> None:
    card = await user.tenant.card()
    await user.send(at(user.tenant, card), reason=WHY, seen="issued")
    again = await user.send(at(user.tenant, card), status=422, reason=WHY, seen="issued")
    assert "The ticket was used since you opened this page." in again.text
    assert user.person.name in again.text
    assert await opened(user.tenant) == []


async def test_ten_taps_at_once_use_the_ticket_once_and_open_no_incident(user: BrowserSession) -> None:
    card = await user.tenant.card()
    url, form = user.url(at(user.tenant, card)), {"reason": WHY, "seen": "issued"}
    answers = await asyncio.gather(*[user.client.post(url, data=form) for _ in range(10)])
    assert sorted(answer.status_code for answer in answers) == [303] + [422] * 9
    assert await opened(user.tenant) == []


@pytest.mark.parametrize("status", [CardStatus.SUSPENDED, CardStatus.REVOKED])
async def test_a_card_out_of_use_uses_nothing(user: BrowserSession, status: CardStatus) -> None:
    card = await user.tenant.card()
    await user.tenant.move_card(card, status)
    page = await user.see(at(user.tenant, card))
    assert f"The card is {status}." in page
    await user.send(at(user.tenant, card), reason=WHY, seen="issued")
    assert [one.kind for one in await opened(user.tenant)] == ["override"]


async def test_a_ticket_for_another_gate_names_the_right_one(user: BrowserSession) -> None:
    card = await user.tenant.card()
    async with user.tenant.db.transaction() as tx:
        await tx.run(GATES, user.tenant.id, user.tenant.category_id, ["South 1", "South 2"])
    await pair(user.tenant, NORTH)
    told = "This ticket is for another gate: South 1, South 2."
    assert told in await user.see(at(user.tenant, card, gate=NORTH))
    assert told not in await user.see(at(user.tenant, card, gate="South 1"))
    search = await user.see(at(user.tenant))
    assert all(f"<option>{gate}</option>" in search for gate in (NORTH, "South 1", "South 2"))


async def test_a_gate_that_the_event_has_not_is_not_taken(user: BrowserSession) -> None:
    card = await user.tenant.card()
    elsewhere = await factory.tenant(user.tenant.db)
    await pair(elsewhere, "Their gate")
    assert "No gate chosen" in await user.see(at(user.tenant, gate="Their gate"))
    await user.send(at(user.tenant, card, gate="Their gate"), reason=WHY)
    async with user.tenant.db.autocommit() as tx:
        (ticket,) = await tickets.of_card(tx, user.tenant.id, card.id)
    assert (ticket.state, ticket.activated_gate) == ("activated", None)


async def test_without_a_reason_nobody_is_let_in(user: BrowserSession) -> None:
    card = await user.tenant.card()
    asked = await user.send(at(user.tenant, card), status=422, reason=" ")
    assert 'aria-invalid="true"' in asked.text
    async with user.tenant.db.autocommit() as tx:
        (ticket,) = await tickets.of_card(tx, user.tenant.id, card.id)
    assert ticket.state == "issued"


async def test_a_gate_lead_may_and_a_viewer_may_not(user: BrowserSession, studio: Middleware) -> None:
    card = await user.tenant.card()
    async with await sign_in(studio, user.tenant, Role.VIEWER) as viewer:
        await viewer.see(at(user.tenant), status=403)
        led = await viewer.client.get(f"/studio/lead?event={user.tenant.event_id}", follow_redirects=True)
        assert led.status_code == 403
        await viewer.send(at(user.tenant, card), status=403, reason=WHY)
        assert "Find a guest" not in await viewer.see(f"events/{user.tenant.event_id}/live")
    async with await sign_in(studio, user.tenant, Role.GATE_LEAD) as lead:
        assert "Find a guest" in await lead.see(f"events/{user.tenant.event_id}/live")
        await lead.send(at(user.tenant, card), reason=WHY, seen="issued")


async def test_nothing_of_it_is_kept_by_the_phone(user: BrowserSession) -> None:
    for rest in (at(user.tenant), at(user.tenant, await user.tenant.card())):
        answer = await user.client.get(user.url(rest))
        assert answer.headers["cache-control"] == "no-store"
        assert 'href="/gate"' in answer.text


# The way from the scanner, which knows its event and its gate.


async def test_the_scanner_leads_to_the_page_of_its_event_in_either_mode(user: BrowserSession) -> None:
    rehearsal = await factory.sandbox_twin(user.tenant)
    for event_id, mode in ((user.tenant.event_id, "live"), (rehearsal.event_id, "sandbox")):
        answer = await user.client.get(f"/studio/lead?event={event_id}&gate=North%202")
        assert answer.status_code == 303
        assert answer.headers["location"] == f"{user.root(mode)}events/{event_id}/lead?gate=North+2"
        assert "Find a guest" in await user.see(answer.headers["location"])


async def test_a_rehearsed_guest_is_let_in_in_the_sandbox(user: BrowserSession) -> None:
    rehearsal = await factory.sandbox_twin(user.tenant)
    card = await rehearsal.card()
    user.mode = "sandbox"
    done = await user.send(at(rehearsal, card), reason=WHY, seen="issued")
    assert "The ticket is used now." in await user.follow(done)


async def test_an_event_of_others_is_not_here(user: BrowserSession) -> None:
    theirs = await factory.tenant(user.tenant.db)
    for event in (theirs.event_id, new_id()):
        await user.see(f"/studio/lead?event={event}", status=404)
    await user.see("/studio/lead?event=nonsense", status=303)
    await user.see(f"events/{user.tenant.event_id}/lead/{(await theirs.card()).id}", status=404)


async def test_who_is_not_signed_in_comes_back_after_it(user: BrowserSession) -> None:
    user.client.cookies.clear()
    path = f"/studio/lead?event={user.tenant.event_id}&gate=North%202"
    answer = await user.client.get(path)
    assert answer.headers["location"] == f"/studio/sign-in?next={quote(path)}"


GATES = "UPDATE ticket_category SET gates = $3 WHERE organization_id = $1 AND id = $2"
