"""An activation is a check-in in pretix, once, whether the bridge was there or came later."""

from tests.bridge.gate import Bridge, Gate, eventually
from tests.bridge.shop import Sale, Shop


def sold(shop: Shop, gate: Gate, name: str) -> Sale:
    sale = shop.sell({"name": name, "email": f"{name.lower()}@example.org"})
    eventually(lambda: gate.valid(sale.positions[0]), len)
    return sale


def checked_in(shop: Shop, sale: Sale, within: float = 60.0) -> None:
    (entry,) = eventually(lambda: shop.checkins(sale.positions[0]), len, within)
    assert (entry["list"], entry["type"]) == (shop.facts["checkin_list"], "entry")


def test_an_activation_is_a_check_in(bridge: Bridge, shop: Shop, gate: Gate) -> None:
    first, second = sold(shop, gate, "Hal"), sold(shop, gate, "Ida")
    gate.scan(first.positions[0])
    # The first start waits some seconds before it reads the feed.
    checked_in(shop, first, within=60)
    gate.scan(second.positions[0])
    checked_in(shop, second)

    # A ticket that was used is not exchanged, and its guest is not let in again.
    second.change(item="vip")
    third = sold(shop, gate, "Jo")
    assert [one.state for one in gate.tickets(second.positions[0])] == ["activated"]
    second.cancel()
    eventually(lambda: gate.tickets(second.positions[0])[0].state, lambda state: state == "cancelled")
    second.reactivate()
    gate.scan(third.positions[0])
    checked_in(shop, third)
    assert len(gate.tickets(second.positions[0])) == 1


def test_a_bridge_that_comes_later_checks_in_once(bridge: Bridge, shop: Shop, gate: Gate) -> None:
    """Before the feed was ever read; and again, when its place in the feed is lost."""
    sale = sold(shop, gate, "Kai")
    bridge.kill()
    bridge.database.unlink()
    gate.scan(sale.positions[0])
    for name in ("Lea", "Mia"):
        bridge.start()
        checked_in(shop, sale, within=60)
        later = sold(shop, gate, name)
        gate.scan(later.positions[0])
        checked_in(shop, later, within=60)
        bridge.kill()
        bridge.database.unlink()
    assert len(shop.checkins(sale.positions[0])) == 1
    bridge.start()
