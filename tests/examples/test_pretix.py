"""The bridge to pretix without pretix: what an order means, and each step against the SDK's fake. See tests/bridge."""

import sqlite3
import tomllib
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from examples.pretix.checkins import Checkins
from examples.pretix.client import Order, OrderPosition, Pretix
from examples.pretix.cursors import Cursors
from examples.pretix.orders import Orders
from examples.pretix.positions import Position, position_id, positions_of
from gatepass_sdk import Gatepass, Ticket
from gatepass_sdk.testing import FakeGatepass

FOLDER = Path(__file__).parents[2] / "examples" / "pretix"


def a_position(id: int, **changed: Any) -> OrderPosition:
    position: OrderPosition = {
        "id": id, "positionid": id, "item": 1, "variation": None, "attendee_name": None, "attendee_email": None,
        "addon_to": None, "canceled": False, "blocked": None,
    }  # fmt: skip
    return {**position, **changed}  # pyright: ignore[reportReturnType]


def an_order(*positions: OrderPosition, **changed: Any) -> Order:
    order: Order = {
        "code": "ABC", "status": "p", "testmode": False, "valid_if_pending": False, "email": "buyer@example.org",
        "locale": "de", "positions": list(positions),
    }  # fmt: skip
    return {**order, **changed}  # pyright: ignore[reportReturnType]


CATEGORIES = {"1": "general", "2/7": "vip"}


@pytest.mark.parametrize(
    ("order", "category"),
    [
        (an_order(a_position(1)), "general"),
        (an_order(a_position(1, item=2, variation=7)), "vip"),
        (an_order(a_position(1, item=2, variation=8)), None),
        (an_order(a_position(1, item=3)), None),
        (an_order(a_position(1, canceled=True)), None),
        (an_order(a_position(1, blocked=["admin"])), None),
        (an_order(a_position(1), status="n"), None),
        (an_order(a_position(1), status="n", valid_if_pending=True), "general"),
        (an_order(a_position(1), status="e"), None),
        (an_order(a_position(1), status="c", valid_if_pending=True), None),
    ],
)
def test_a_position_has_a_ticket_if_it_is_valid(order: Order, category: str | None) -> None:
    assert [one.category_id for one in positions_of(order, CATEGORIES)] == [category]


def test_a_position_is_for_its_guest_or_else_for_the_buyer() -> None:
    guest = a_position(1, attendee_name=" Ada ", attendee_email="ada@example.org")
    found = positions_of(an_order(guest, a_position(2, addon_to=1), a_position(3)), CATEGORIES)
    assert [(one.name, one.email) for one in found] == [
        ("Ada", "ada@example.org"), ("Ada", "ada@example.org"), (None, "buyer@example.org"),
    ]  # fmt: skip
    (nobody,) = positions_of(an_order(a_position(4), email=None), CATEGORIES)
    assert (nobody.name, nobody.email) == ("ABC-4", None)


def test_a_ticket_names_its_position() -> None:
    position = Position(17, None, None, None, None)
    assert [position_id(position.external_id(number)) for number in (1, 2)] == [17, 17]
    assert [position_id(other) for other in (None, "17", "order-17")] == [None, None, None]


def test_the_settings_that_are_shipped_are_those_that_are_read() -> None:
    settings = tomllib.loads((FOLDER / "bridge.toml").read_text())
    assert {name: set(section) for name, section in settings.items() if name != "categories"} == {
        "pretix": {"url", "organizer", "event", "checkin_list"},
        "gatepass": {"event_id"},
    }


@dataclass
class Shop:
    """A pretix in memory: orders in pages of two, and check-ins, of which a nonce counts once."""

    orders: list[Order] = field(default_factory=list[Order])
    checkins: dict[str, str] = field(default_factory=dict[str, str])

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        path, body = request.url.path, request.read()
        if path == "/orders/":
            first = 2 * (int(request.url.params["page"]) - 1)
            more = "…" if len(self.orders) > first + 2 else None
            page = {"results": self.orders[first : first + 2], "next": more}
            return httpx2.Response(200, json=page, headers={"X-Page-Generated": "2026-05-01T20:00:00Z"})
        if path == "/orders/ABC/":
            return httpx2.Response(200, json=self.orders[0])
        self.checkins[httpx2.Response(200, content=body).json()["nonce"]] = path
        return httpx2.Response(201, json={"status": "ok"})


@dataclass
class Both:
    """The fake of each side, and the two steps between them."""

    fake: FakeGatepass
    client: Gatepass
    shop: Shop
    orders: Orders
    checkins: Checkins
    cursors: Cursors
    categories: dict[str, str]

    def tickets(self) -> list[Ticket]:
        return sorted(self.client.tickets.list(), key=lambda one: (one.issued_at, one.external_id))


@pytest.fixture
def both(tmp_path: Path) -> Generator[Both]:
    with FakeGatepass() as fake, closing(Cursors(tmp_path / "bridge.db")) as cursors:
        client, shop = fake.client(live=True), Shop()
        event = client.events.retrieve(fake.event_id)
        made = client.ticket_categories.create(event.id, name="VIP", price=50, currency="EUR", quantity_total=1)
        categories = {"1": event.ticket_categories[0].id, "2": made.id}
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(shop.answer), base_url="https://pretix.test/")
        pretix, gatepass = Pretix(http, 5), fake.async_client(live=True)
        orders = Orders(pretix, gatepass, cursors, event.id, categories)
        checkins = Checkins(pretix, gatepass, cursors, event.id)
        yield Both(fake, client, shop, orders, checkins, cursors, categories)


async def test_every_page_of_orders_is_followed_and_a_lost_answer_doubles_nothing(both: Both) -> None:
    both.shop.orders = [an_order(a_position(n), code=f"A{n}", email=f"{n}@example.org") for n in range(5)]
    both.shop.orders.append(an_order(a_position(9), code="TEST", testmode=True))
    both.fake.lose_next_answer()
    await both.orders.step()
    await both.orders.step()
    assert [one.external_id for one in both.tickets()] == [f"pretix:{n}" for n in range(5)]
    assert both.cursors.read("orders") == "2026-05-01T19:59:00+00:00"


async def test_a_changed_position_gets_another_ticket_unless_it_was_used(both: Both) -> None:
    both.client.ticket_categories.update(both.categories["2"], quantity_total=9)
    both.shop.orders = [an_order(a_position(1), a_position(2, attendee_email="bo@example.org"))]
    await both.orders.step()
    used = both.tickets()[1]
    both.client.scans.create(used.event_id, card_number=used.card_number)
    for position in both.shop.orders[0]["positions"]:
        position["item"] = 2
    await both.orders.step()
    found = [(one.external_id, one.state, one.category_id == both.categories["2"]) for one in both.tickets()]
    assert found == [
        ("pretix:1", "cancelled", False), ("pretix:2", "activated", False), ("pretix:1:2", "issued", True),
    ]  # fmt: skip
    for status in ("c", "p"):
        both.shop.orders[0]["status"] = status
        await both.orders.step()
    assert [(one.external_id, one.state) for one in both.tickets()] == [
        ("pretix:1", "cancelled"), ("pretix:2", "cancelled"), ("pretix:1:2", "cancelled"), ("pretix:1:3", "issued"),
    ]  # fmt: skip


async def test_a_refused_order_is_remembered_until_it_succeeds(both: Both) -> None:
    both.shop.orders = [an_order(a_position(1, item=2), a_position(2, item=2))]
    await both.orders.step()
    assert (len(both.tickets()), both.cursors.refused()) == (1, {"ABC"})
    both.client.ticket_categories.update(both.categories["2"], quantity_total=2)
    await both.orders.step()
    assert (len(both.tickets()), both.cursors.refused()) == (2, set())


async def test_a_change_that_failed_halfway_and_is_taken_back(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("examples.pretix.orders.SETTLED", -1)
    first, second = a_position(1), a_position(2)
    both.shop.orders = [an_order(first, second)]
    await both.orders.step()
    both.shop.orders = [an_order({**first, "item": 2}, {**second, "item": 2})]
    await both.orders.step()
    assert (both.cursors.refused(), len(both.tickets())) == ({"ABC"}, 3)
    both.shop.orders = [an_order(first, second)]
    await both.orders.step()
    valid = [(one.external_id, one.category_id) for one in both.tickets() if one.state == "issued"]
    assert valid == [("pretix:1:3", both.categories["1"]), ("pretix:2:2", both.categories["1"])]
    assert both.cursors.refused() == set()


async def test_an_activation_is_one_check_in_however_often_it_is_told(both: Both) -> None:
    both.shop.orders = [an_order(a_position(1))]
    await both.orders.step()
    beginning = both.client.webhook_events.list(limit=1).first().next_cursor
    (ticket,) = both.tickets()
    both.client.scans.create(ticket.event_id, card_number=ticket.card_number)
    for _ in range(2):
        both.cursors.write("messages", beginning or "")
        await both.checkins.step()
    assert list(both.shop.checkins.values()) == ["/checkinlists/5/positions/1/redeem/"]
    assert both.cursors.read("messages") != beginning


def test_a_second_bridge_on_the_same_file_does_not_start(tmp_path: Path) -> None:
    file = tmp_path / "bridge.db"
    Cursors(file).close()
    with closing(Cursors(file)), pytest.raises(sqlite3.OperationalError, match="locked"):
        Cursors(file)
