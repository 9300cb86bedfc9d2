"""Files of cards over HTTP: counted, made, downloaded by the right person; one card printed at once."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from PIL import Image

from gatepass.base.ids import new_id
from gatepass.domain import card_exports, cards
from gatepass.domain.staff import Role
from gatepass.studio.middleware import Middleware
from tests import factory
from tests.domain.card_exports.printed_pages import codes_on, rendered
from tests.studio.browser_session import BrowserSession, sign_in
from tests.studio.samples.tickets import made_file
from tests.studio.tickets.test_tickets import handed


def order(**changed: str) -> dict[str, str]:
    until = (factory.now() + timedelta(days=2)).date()
    return {"form_key": str(new_id()), "format": "csv", "until": str(until), "names": "true"} | changed


async def test_cards_are_counted_and_a_file_is_ordered(user: BrowserSession) -> None:
    here = f"events/{user.tenant.event_id}/cards"
    await handed(user, name="Zoë")
    await handed(user)
    assert '<strong class="num">2 cards</strong>' in await user.see(here)
    page = await user.follow(await user.send(here, **order(format="badge")))
    assert "PDF, badges" in page
    assert "0 of 2 cards" in page
    (job,) = await files_of(user)
    await user.send(f"{here}/{job}/stop")
    assert "Stopped" in await user.see(here)


async def files_of(user: BrowserSession) -> list[UUID]:
    async with user.tenant.db.autocommit() as tx:
        found = await card_exports.of_event(tx, user.tenant.id, user.tenant.event_id, limit=10)
    return [one.id for one in found]


async def test_chosen_tickets_alone_go_into_the_file(user: BrowserSession) -> None:
    chosen, _ = await handed(user), await handed(user)
    here = f"events/{user.tenant.event_id}/cards"
    assert f'name="ticket" value="{chosen.ticket_id}"' in await user.see(f"events/{user.tenant.event_id}/tickets")
    page = await user.see(f"{here}?ticket={chosen.ticket_id}")
    assert "1 chosen ticket" in page
    assert '<strong class="num">1 card</strong>' in page
    await user.send(here, **order(ticket=str(chosen.ticket_id)))
    async with user.tenant.db.autocommit() as tx:
        job = await card_exports.find(tx, user.tenant.id, (await files_of(user))[0])
    assert (job.total, job.ticket_ids) == (1, [chosen.ticket_id])


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"until": "2019-01-01"}, "within the next 400 days"),
        ({"until": "9999-12-31"}, "not a date"),
        ({"until": "2026-99-99"}, "not a date"),
        ({"format": "exe"}, "Correct what is marked"),
        ({"category": str(new_id())}, "unused ticket"),
    ],
)
async def test_an_impossible_order_is_refused_beside_its_field(
    user: BrowserSession, changed: dict[str, str], says: str
) -> None:
    await handed(user)
    answer = await user.send(f"events/{user.tenant.event_id}/cards", status=422, **order(**changed))
    assert says in answer.text


async def test_a_file_is_downloaded_with_a_fresh_confirmation_and_audited(
    studio: Middleware, user: BrowserSession
) -> None:
    made = await handed(user, name="=1+1")
    export_id = await made_file(user.tenant)
    rest = f"events/{user.tenant.event_id}/cards/{export_id}/file"
    async with await sign_in(studio, user.tenant, confirmed=False) as stale:
        answer = await stale.client.get(stale.url(rest))
        assert answer.status_code == 303
        assert "/studio/confirm" in answer.headers["location"]
        assert "Confirm that it is you" in await stale.see(f"events/{user.tenant.event_id}/cards")
    answer = await user.client.get(user.url(rest))
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert answer.headers["cache-control"] == "no-store"
    assert made.card_number in answer.text
    assert ",'=1+1," in answer.text
    assert "downloaded" in await user.see("audit?subject=card_export")


async def test_a_deleted_file_is_gone(user: BrowserSession) -> None:
    await handed(user)
    export_id = await made_file(user.tenant)
    here = f"events/{user.tenant.event_id}/cards"
    await user.send(f"{here}/{export_id}/delete")
    await user.see(f"{here}/{export_id}/file", status=409)
    assert "Deleted" in await user.see(here)


@pytest.mark.parametrize(("layout", "millimetres"), [("page", (210, 297)), ("badge", (90, 130)), ("card", (85.6, 54))])
async def test_one_card_is_printed_at_once(
    user: BrowserSession, layout: str, millimetres: tuple[float, float], tmp_path: Path
) -> None:
    made = await handed(user, name="Zoë Öster")
    answer = await user.send(f"tickets/{made.ticket_id}/print", status=200, layout=layout, days="2")
    assert answer.headers["content-type"] == "application/pdf"
    (tmp_path / "card.pdf").write_bytes(answer.content)
    (page,) = rendered(tmp_path / "card.pdf", tmp_path)
    assert size_of(page) == pytest.approx(millimetres, abs=0.3)
    async with user.tenant.db.autocommit() as tx:
        keys = await cards.verifying_keys(tx, user.tenant.id)
    (code,) = codes_on(page)
    token = cards.read_token(code, keys)
    assert token.card_number == made.card_number
    assert timedelta(days=1) < timedelta(seconds=token.expires_at - factory.now().timestamp()) <= timedelta(days=2)


def size_of(page: Image.Image) -> tuple[float, float]:
    return page.width * 25.4 / 150, page.height * 25.4 / 150


async def test_a_used_ticket_is_not_printed(user: BrowserSession) -> None:
    made = await handed(user)
    await user.send(f"tickets/{made.ticket_id}/cancel", reason="test")
    await user.send(f"tickets/{made.ticket_id}/print", status=409, layout="card")


async def test_a_gate_lead_prints_one_card_and_no_file(studio: Middleware, user: BrowserSession) -> None:
    made = await handed(user)
    async with await sign_in(studio, user.tenant, Role.GATE_LEAD) as lead:
        await lead.send(f"tickets/{made.ticket_id}/print", status=200, layout="card")
        await lead.see(f"events/{user.tenant.event_id}/cards", status=403)
        assert "Print or export the chosen" not in await lead.see(f"events/{user.tenant.event_id}/tickets")


async def test_an_event_of_phones_is_warned_about(user: BrowserSession) -> None:
    await handed(user)
    async with user.tenant.db.transaction() as tx:
        await tx.run("UPDATE event SET codes = 'phone' WHERE organization_id = $1", user.tenant.id)
    assert "Printed cards have no code to scan" in await user.see(f"events/{user.tenant.event_id}/cards")
