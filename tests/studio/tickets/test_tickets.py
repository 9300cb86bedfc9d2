"""Cards and tickets over HTTP: found, shown with their history, changed with a reason, exported."""

import csv
import io
from decimal import Decimal
from uuid import UUID

from gatepass.domain import events, sandbox, tickets
from gatepass.domain.cards import CardStatus, HolderDetails
from gatepass.domain.staff import Role
from gatepass.domain.tickets import IssuedTicket, TicketRequest
from gatepass.studio.middleware import Middleware
from tests import factory
from tests.domain.live.test_totals import activate, key_of, scan
from tests.studio.browser_session import BrowserSession, sign_in


async def handed(
    user: BrowserSession, name: str | None = None, email: str | None = None, external_id: str | None = None
) -> IssuedTicket:
    tenant = user.tenant
    holder = HolderDetails(name, email) if name or email else None
    request = TicketRequest(tenant.event_id, tenant.category_id, holder=holder, external_id=external_id)
    async with tenant.db.transaction() as tx:
        return await tickets.issue(tx, tenant.id, request, by=factory.BY, at=factory.now())


async def leads_to(user: BrowserSession, q: str) -> str:
    answer = await user.client.get(user.url("cards"), params={"q": q})
    assert answer.status_code == 303, answer.text[:500]
    return answer.headers["location"].rpartition("/")[2]


async def test_a_card_is_found_by_anything_that_names_it(user: BrowserSession) -> None:
    made = await handed(user, name="Zoë Öster", email="zoe@example.org", external_id="A-77")
    bare = made.card_number.replace(" ", "").lower()
    for q in (made.card_number, bare, bare[3:], str(made.card_id), str(made.ticket_id), "A-77"):
        assert await leads_to(user, q) == str(made.card_id)
    for q in ("zoë", "zoe@"):
        assert made.card_number in await user.see(f"cards?q={q}")
    assert "Nothing found" in await user.see("cards?q=nobody")
    assert "Nothing found" in await user.see("cards?q=x%00")


async def test_names_are_for_those_who_may_see_them(user: BrowserSession, studio: Middleware) -> None:
    made = await handed(user, name="Zoë Öster", email="zoe@example.org")
    async with await sign_in(studio, user.tenant, Role.VIEWER) as viewer:
        for rest in ("cards", f"cards/{made.card_id}", f"events/{user.tenant.event_id}/tickets", "cards?q=zo"):
            assert "Öster" not in await viewer.see(rest), rest
        export = await viewer.see(f"events/{user.tenant.event_id}/tickets/export")
    assert "Öster" not in export
    assert "name" not in export


async def test_lists_go_on_from_page_to_page(user: BrowserSession) -> None:
    for _ in range(51):
        await user.tenant.card()
    for rest in ("cards", f"events/{user.tenant.event_id}/tickets"):
        first = await user.see(rest)
        assert first.count("<tr>") == 51
        after = first.partition("?before=")[2].partition('"')[0]
        assert (await user.see(f"{rest}?before={after}")).count("<tr>") == 2


async def test_tickets_by_category_and_state(user: BrowserSession) -> None:
    made = await handed(user)
    rest = f"events/{user.tenant.event_id}/tickets"
    assert made.card_number in await user.see(f"{rest}?state=issued&category={user.tenant.category_id}")
    assert "No ticket fits" in await user.see(f"{rest}?state=cancelled")
    assert made.card_number in await user.see(f"{rest}?state=nonsense&category=nonsense&before=nonsense")


async def test_one_form_searches_and_filters_the_tickets(user: BrowserSession) -> None:
    made = await handed(user, name="Zoë Öster", external_id="A-77")
    rest = f"events/{user.tenant.event_id}/tickets"
    for q in ("oster", "a-7"):
        page = await user.see(f"{rest}?q={q}&state=issued&category={user.tenant.category_id}")
        assert made.card_number in page, q
        assert page.count('<form method="get"') == 1
        assert '<option value="issued" selected>' in page
        assert made.card_number not in await user.see(f"{rest}?q={q}&state=activated"), q
    assert "No ticket fits" in await user.see(f"{rest}?q=nobody")


async def test_a_ticket_is_issued_on_a_new_card_or_an_old_one(user: BrowserSession) -> None:
    rest = f"events/{user.tenant.event_id}/tickets/new"
    page = await user.follow(
        await user.send(rest, category=str(user.tenant.category_id), name="Ann", external_id="A-1")
    )
    assert "The ticket is on card SVC" in page
    card = await user.tenant.card(with_ticket=False)
    await user.send(rest, category="General", card_number=card.number)
    answer = await user.send(rest, category="General", card_number=card.number, name="Kept", status=422)
    assert "already holds a ticket" in answer.text
    assert 'value="Kept"' in answer.text
    for field, value in (
        ("category", "Nowhere"),
        ("card_number", "SVC 0"),
        ("external_id", "A-1"),
        ("external_id", "x" * 129),
    ):
        fields = {"category": "General", field: value}
        assert f'id="e-{field}"' in (await user.send(rest, status=422, **fields)).text


async def test_nobody_gets_a_second_card_unnoticed(user: BrowserSession) -> None:
    rest = f"events/{user.tenant.event_id}/tickets/new"
    elsewhere = await user.tenant.event()
    async with user.tenant.db.transaction() as tx:
        await events.add_category(
            tx, user.tenant.id, elsewhere, "Floor", Decimal(9), "EUR", 5, by=factory.BY, at=factory.now()
        )
    first = await user.send(rest, category="General", name="Ann", email="ann@example.org")
    same = await user.send(f"events/{elsewhere}/tickets/new", category="Floor", name="Ann", email="Ann@Example.org")
    assert same.headers["location"] == first.headers["location"]
    page = await user.follow(await user.send(rest, category="General", name="Ann", email="ann@example.org"))
    assert "The ticket is for a companion, on a card of its own" in page
    assert "A companion</span>" in page


async def test_a_card_is_suspended_resumed_and_revoked_with_a_reason(user: BrowserSession) -> None:
    made = await handed(user)
    place = f"cards/{made.card_id}"
    assert "say why" in (await user.send(f"{place}/suspend", status=422)).text
    assert "Gates refuse it" in await user.follow(await user.send(f"{place}/suspend", reason="found on the floor"))
    assert "found on the floor" in await user.see(place)
    assert made.card_number in await user.see("cards?status=suspended")
    await user.send(f"{place}/resume", reason="claimed")
    await user.send(f"{place}/revoke", reason="stolen")
    await user.send(f"{place}/resume", reason="too late", status=409)
    page = await user.see(place)
    assert "The owner" in page
    assert "/replace" not in page


async def test_a_replaced_card_and_its_successor_link_to_each_other(user: BrowserSession) -> None:
    made = await handed(user, name="Ann")
    new = (await user.send(f"cards/{made.card_id}/replace", reason="lost")).headers["location"].rpartition("/")[2]
    page = await user.see(f"cards/{new}")
    assert made.card_number in page
    assert "Ann" in page
    assert await leads_to(user, made.card_number) == str(made.card_id)
    old = await user.see(f"cards/{made.card_id}")
    assert "Revoked" in old
    assert "replaced by" in " ".join(old.split())


async def test_a_holder_is_corrected(user: BrowserSession) -> None:
    made, other = await handed(user, "Ane", "ane@example.org"), await handed(user, "Bob", "bob@example.org")
    place = f"cards/{made.card_id}"
    version = (await user.see(f"{place}/holder")).partition('name="version" value="')[2].partition('"')[0]
    assert "not an e-mail address" in (await user.send(f"{place}/holder", status=422, name="Ann", email="ann")).text
    assert "Write a name" in (await user.send(f"{place}/holder", status=422, name=" ")).text
    await user.send(f"{place}/holder", name="Ann", email="ann@example.org", version=version)
    page = await user.see(place)
    assert "ann@example.org" in page
    assert "holder corrected" in page
    late = await user.send(f"{place}/holder", status=412, name="Anne", version=version)
    assert "Somebody else changed this" in late.text
    taken = await user.send(f"{place}/holder", status=422, name="Ann", email="BOB@example.org")
    assert f"cards/{made.card_id}/merge?into={other.card_id}" in taken.text


async def test_two_cards_of_one_person_are_merged(user: BrowserSession) -> None:
    kept, made = await user.tenant.card(with_ticket=False), await handed(user, "Ann", "ann@example.org")
    place = f"cards/{made.card_id}/merge"
    assert "no card with this number" in (await user.send(place, status=422, number="77", reason="twice")).text
    assert "This is needed" in (await user.send(place, status=422, number=kept.number)).text
    page = await user.follow(await user.send(place, number=kept.number.lower(), reason="twice"))
    assert f"has the tickets of {made.card_number}" in page
    assert "took over the tickets of" in " ".join(page.split())
    assert "merged into" in " ".join((await user.see(f"cards/{made.card_id}")).split())
    await user.send(place, number=kept.number, reason="again", status=409)


async def test_a_ticket_is_cancelled_and_an_activation_undone_with_a_reason(user: BrowserSession) -> None:
    made = await handed(user)
    async with user.tenant.db.transaction() as tx:
        await tx.run("UPDATE ticket SET activated_at = now() WHERE id = $1", made.ticket_id)
    assert (
        (await user.client.get(user.url(f"tickets/{made.ticket_id}"))).headers["location"].endswith(str(made.card_id))
    )
    assert "Say why" in (await user.send(f"tickets/{made.ticket_id}/undo", status=422)).text
    await user.send(f"tickets/{made.ticket_id}/undo", reason="by mistake")
    await user.send(f"tickets/{made.ticket_id}/cancel", reason="refunded")
    await user.send(f"tickets/{made.ticket_id}/cancel", reason="again", status=409)
    assert "refunded" in await user.see(f"cards/{made.card_id}")


async def test_a_card_that_was_let_in_says_so_after_the_activation_is_undone(user: BrowserSession) -> None:
    made, key_id = await handed(user), await key_of(user.tenant)
    for gate in ("North", "South"):
        async with user.tenant.db.transaction() as tx:
            await activate(tx, [scan(user.tenant, key_id, made.card_number, gate=gate)])
        await user.send(f"tickets/{made.ticket_id}/undo", reason="by mistake")
    page = await user.see(f"cards/{made.card_id}")
    assert page.count(">Let in<") == 2
    assert page.index("Gate South") < page.index("Gate North")
    assert page.count("activation taken back") == 2


async def test_an_export_is_whole_and_safe_to_open(user: BrowserSession) -> None:
    made = [await handed(user, name=name, email="x@example.org") for name in ("=1+1", "@x", "Ann, Mrs")]
    text = await user.see(f"events/{user.tenant.event_id}/tickets/export")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert [UUID(row["ticket"]) for row in rows] == [one.ticket_id for one in made]
    assert [row["name"] for row in rows] == ["'=1+1", "'@x", "Ann, Mrs"]
    assert {row["state"] for row in rows} == {"issued"}


async def test_the_sandbox_has_its_test_cards_and_none_of_the_others(user: BrowserSession) -> None:
    made = await handed(user)
    user.mode = "sandbox"
    page = await user.see(f"events/{sandbox.EVENT_ID}/tickets")
    assert all(name in page for name in sandbox.CARDS)
    assert made.card_number not in page + await user.see("cards")
    await user.see(f"cards/{made.card_id}", status=404)
    await user.send(f"cards/{made.card_id}/suspend", reason="x", status=404)
    await user.see(f"events/{user.tenant.event_id}/tickets", status=404)
    user.mode = "live"
    assert CardStatus.ACTIVE.capitalize() in await user.see(f"cards/{made.card_id}")


async def test_a_card_is_printed_with_a_token_that_gates_take(user: BrowserSession) -> None:
    made = await handed(user, name="Ann")
    page = (await user.send(f"cards/{made.card_id}/print", status=200, days="1")).text
    assert "data:image/svg+xml" in page
    assert made.card_number in page
    assert "printed" in await user.see(f"cards/{made.card_id}")
    await user.send(f"cards/{made.card_id}/suspend", reason="lost")
    await user.send(f"cards/{made.card_id}/print", status=409)
