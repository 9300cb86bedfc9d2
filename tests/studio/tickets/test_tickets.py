"""Cards and tickets over HTTP: found, shown with their history, changed with a reason, exported."""

import csv
import io
from uuid import UUID

from gatepass.domain import sandbox, tickets
from gatepass.domain.cards import CardStatus
from gatepass.domain.staff import Role
from gatepass.domain.tickets import HandedOut
from gatepass.studio.reception import Reception
from tests import make
from tests.studio.desk import Desk, sit_down


async def handed(desk: Desk, **wish: str) -> HandedOut:
    house = desk.house
    async with house.db.transaction() as tx:
        return await tickets.hand_out(
            tx, house.id, house.event_id, house.category_id, by=make.BY, at=make.now(), **wish
        )


async def leads_to(desk: Desk, q: str) -> str:
    answer = await desk.client.get(desk.url("cards"), params={"q": q})
    assert answer.status_code == 303, answer.text[:500]
    return answer.headers["location"].rpartition("/")[2]


async def test_a_card_is_found_by_anything_that_names_it(desk: Desk) -> None:
    made = await handed(desk, name="Zoë Öster", email="zoe@example.org", reference="A-77")
    bare = made.card_number.replace(" ", "").lower()
    for q in (made.card_number, bare, bare[3:], str(made.card_id), str(made.ticket_id), "A-77"):
        assert await leads_to(desk, q) == str(made.card_id)
    for q in ("zoë", "zoe@"):
        assert made.card_number in await desk.see(f"cards?q={q}")
    assert "Nothing found" in await desk.see("cards?q=nobody")
    assert "Nothing found" in await desk.see("cards?q=x%00")


async def test_names_are_for_those_who_may_see_them(desk: Desk, studio: Reception) -> None:
    made = await handed(desk, name="Zoë Öster", email="zoe@example.org")
    async with await sit_down(studio, desk.house, Role.VIEWER) as viewer:
        for rest in ("cards", f"cards/{made.card_id}", f"events/{desk.house.event_id}/tickets", "cards?q=zo"):
            assert "Öster" not in await viewer.see(rest), rest
        export = await viewer.see(f"events/{desk.house.event_id}/tickets/export")
    assert "Öster" not in export
    assert "name" not in export


async def test_lists_go_on_from_page_to_page(desk: Desk) -> None:
    for _ in range(51):
        await desk.house.card()
    for rest in ("cards", f"events/{desk.house.event_id}/tickets"):
        first = await desk.see(rest)
        assert first.count("<tr>") == 51
        after = first.partition("?before=")[2].partition('"')[0]
        assert (await desk.see(f"{rest}?before={after}")).count("<tr>") == 2


async def test_tickets_by_category_and_state(desk: Desk) -> None:
    made = await handed(desk)
    rest = f"events/{desk.house.event_id}/tickets"
    assert made.card_number in await desk.see(f"{rest}?state=issued&category={desk.house.category_id}")
    assert "No ticket fits" in await desk.see(f"{rest}?state=cancelled")
    assert made.card_number in await desk.see(f"{rest}?state=nonsense&category=nonsense&before=nonsense")


async def test_a_ticket_is_issued_on_a_new_card_or_an_old_one(desk: Desk) -> None:
    rest = f"events/{desk.house.event_id}/tickets/new"
    page = await desk.follow(await desk.send(rest, category=str(desk.house.category_id), name="Ann", reference="A-1"))
    assert "The ticket is on card SVC" in page
    card = await desk.house.card(with_ticket=False)
    await desk.send(rest, category="General", card_number=card.number)
    answer = await desk.send(rest, category="General", card_number=card.number, name="Kept", status=422)
    assert "already holds a ticket" in answer.text
    assert 'value="Kept"' in answer.text
    for field, value in (
        ("category", "Nowhere"),
        ("card_number", "SVC 0"),
        ("reference", "A-1"),
        ("reference", "x" * 101),
    ):
        fields = {"category": "General", field: value}
        assert f'id="e-{field}"' in (await desk.send(rest, status=422, **fields)).text


async def test_a_card_is_suspended_resumed_and_revoked_with_a_reason(desk: Desk) -> None:
    made = await handed(desk)
    place = f"cards/{made.card_id}"
    assert "say why" in (await desk.send(f"{place}/suspend", status=422)).text
    assert "Gates refuse it" in await desk.follow(await desk.send(f"{place}/suspend", reason="found on the floor"))
    assert "found on the floor" in await desk.see(place)
    assert made.card_number in await desk.see("cards?status=suspended")
    await desk.send(f"{place}/resume", reason="claimed")
    await desk.send(f"{place}/revoke", reason="stolen")
    await desk.send(f"{place}/resume", reason="too late", status=409)
    page = await desk.see(place)
    assert "The owner" in page
    assert "/replace" not in page


async def test_a_replaced_card_and_its_successor_link_to_each_other(desk: Desk) -> None:
    made = await handed(desk, name="Ann")
    new = (await desk.send(f"cards/{made.card_id}/replace", reason="lost")).headers["location"].rpartition("/")[2]
    page = await desk.see(f"cards/{new}")
    assert made.card_number in page
    assert "Ann" in page
    assert await leads_to(desk, made.card_number) == str(made.card_id)
    old = await desk.see(f"cards/{made.card_id}")
    assert "Revoked" in old
    assert "replaced by" in " ".join(old.split())


async def test_a_ticket_is_cancelled_and_an_activation_undone_with_a_reason(desk: Desk) -> None:
    made = await handed(desk)
    async with desk.house.db.transaction() as tx:
        await tx.run("UPDATE ticket SET activated_at = now() WHERE id = $1", made.ticket_id)
    assert (
        (await desk.client.get(desk.url(f"tickets/{made.ticket_id}"))).headers["location"].endswith(str(made.card_id))
    )
    assert "Say why" in (await desk.send(f"tickets/{made.ticket_id}/undo", status=422)).text
    await desk.send(f"tickets/{made.ticket_id}/undo", reason="by mistake")
    await desk.send(f"tickets/{made.ticket_id}/cancel", reason="refunded")
    await desk.send(f"tickets/{made.ticket_id}/cancel", reason="again", status=409)
    assert "refunded" in await desk.see(f"cards/{made.card_id}")


async def test_an_export_is_whole_and_safe_to_open(desk: Desk) -> None:
    made = [await handed(desk, name=name, email="x@example.org") for name in ("=1+1", "@x", "Ann, Mrs")]
    text = await desk.see(f"events/{desk.house.event_id}/tickets/export")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert [UUID(row["ticket"]) for row in rows] == [one.ticket_id for one in made]
    assert [row["name"] for row in rows] == ["'=1+1", "'@x", "Ann, Mrs"]
    assert {row["state"] for row in rows} == {"issued"}


async def test_the_sandbox_has_its_five_cards_and_changes_nothing(desk: Desk) -> None:
    made = await handed(desk)
    desk.mode = "sandbox"
    for rest in ("cards", f"events/{sandbox.EVENT_ID}/tickets"):
        page = await desk.see(rest)
        assert all(name in page for name in sandbox.CARDS)
        assert made.card_number not in page
    await desk.see(f"cards/{made.card_id}", status=404)
    await desk.send(f"cards/{made.card_id}/suspend", reason="x", status=404)
    await desk.see(f"events/{desk.house.event_id}/tickets", status=404)
    desk.mode = "live"
    assert CardStatus.ACTIVE.capitalize() in await desk.see(f"cards/{made.card_id}")


async def test_a_card_is_printed_with_a_token_that_gates_take(desk: Desk) -> None:
    made = await handed(desk, name="Ann")
    page = (await desk.send(f"cards/{made.card_id}/print", status=200, days="1")).text
    assert "data:image/svg+xml" in page
    assert made.card_number in page
    assert "printed" in await desk.see(f"cards/{made.card_id}")
    await desk.send(f"cards/{made.card_id}/suspend", reason="lost")
    await desk.send(f"cards/{made.card_id}/print", status=409)
