"""What happens to an order in pretix happens to its tickets, within 5 seconds."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

from tests.bridge.gate import Bridge, Gate, eventually
from tests.bridge.shop import Sale, Shop

HOUR = timedelta(hours=1)


def follow(gate: Gate, sale: Sale, states: list[str], number: int = 0) -> None:
    """Wait until the tickets of the position, first to last, have these states."""
    eventually(lambda: [one.state for one in gate.tickets(sale.positions[number])], lambda found: found == states)


def test_an_order_from_its_payment_to_its_end(bridge: Bridge, shop: Shop, gate: Gate) -> None:
    ada, friend = {"name": "Ada", "email": "ada@example.org"}, {"name": "A friend", "email": "Ada@example.org"}
    waiting = shop.sell({"name": "Unpaid"}, paid=False)
    sale = shop.sell(ada, friend)
    follow(gate, sale, ["issued"])
    follow(gate, sale, ["issued"], 1)
    first, second = (gate.card(position) for position in sale.positions)
    holders = [gate.holder(position) for position in sale.positions]
    assert [(holder.name, holder.companion) for holder in holders] == [("Ada", False), ("A friend", True)]

    sale.change(attendee_name="Ada Lovelace")
    eventually(lambda: gate.holder(sale.positions[0]).name, lambda name: name == "Ada Lovelace")
    assert gate.card(sale.positions[0]).id == first.id

    sale.change(1, attendee_email="bo@example.org", attendee_name="Bo")
    eventually(lambda: gate.card(sale.positions[1]).id, lambda now: now != second.id)
    moved = gate.holder(sale.positions[1])
    assert (moved.name, moved.email) == ("Bo", "bo@example.org")

    sale.change(item="vip")
    follow(gate, sale, ["cancelled", "issued"])
    assert gate.valid(sale.positions[0])[0].category_id == gate.categories["vip"]
    assert gate.card(sale.positions[0]).id == first.id

    sale.cancel_position(1)
    follow(gate, sale, ["cancelled"], 1)
    sale.cancel()
    follow(gate, sale, ["cancelled", "cancelled"])
    sale.reactivate()
    follow(gate, sale, ["cancelled", "cancelled", "issued"])
    assert gate.tickets(waiting.positions[0]) == []
    waiting.pay()
    follow(gate, waiting, ["issued"])
    assert gate.holder(waiting.positions[0]).email == "buyer@example.org"


def test_a_ticket_that_the_staff_cancelled_stays_cancelled(bridge: Bridge, shop: Shop, gate: Gate) -> None:
    sale = shop.sell({"name": "Cy", "email": "cy@example.org"})
    follow(gate, sale, ["issued"])
    gate.client.tickets.cancel(gate.valid(sale.positions[0])[0].id, reason="house ban")
    sale.change(attendee_name="Cy Again")
    later = shop.sell({"name": "Di", "email": "di@example.org"})
    follow(gate, later, ["issued"])
    follow(gate, sale, ["cancelled"])


def test_a_refused_order_gets_its_ticket_when_there_is_room(bridge: Bridge, shop: Shop, gate: Gate) -> None:
    """Even if it was refused so long ago that pretix no longer lists it as changed."""
    (vip,) = [one for one in gate.client.events.retrieve(gate.event_id).ticket_categories if one.name == "vip"]
    gate.client.ticket_categories.update(vip.id, quantity_total=vip.quantity_sold + 1)
    orders = [shop.sell({"name": "Ed", "item": "vip"}) for _ in range(2)]
    eventually(lambda: bridge.log, lambda log: f"refuses order {orders[1].code}" in log)
    bridge.kill()
    with closing(sqlite3.connect(bridge.database)) as db, db:
        db.execute("UPDATE cursor SET value = ? WHERE name = 'orders'", [(datetime.now(UTC) + HOUR).isoformat()])
    gate.client.ticket_categories.update(vip.id, quantity_total=500)
    bridge.start()
    follow(gate, orders[1], ["issued"])


def test_a_lost_file_doubles_nothing(bridge: Bridge, shop: Shop, gate: Gate) -> None:
    sale = shop.sell({"name": "Flo", "email": "flo@example.org"})
    sale.change(item="vip")
    eventually(lambda: gate.valid(sale.positions[0]), lambda found: found and found[0].category_name == "vip")
    before = {one.id: one.updated_at for one in gate.client.tickets.list(event_id=gate.event_id)}
    bridge.kill()
    bridge.database.unlink()
    bridge.start()
    later = shop.sell({"name": "Gil", "email": "gil@example.org"})
    follow(gate, later, ["issued"])
    after = {one.id: one.updated_at for one in gate.client.tickets.list(event_id=gate.event_id)}
    assert {id: at for id, at in after.items() if id in before} == before
    assert len(after) == len(before) + 1
