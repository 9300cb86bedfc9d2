"""The bridge is killed 20 times, and pretix and Gatepass are stopped in turn: nothing is lost, nothing is doubled."""

import random
import time
from dataclasses import dataclass, field

from tests.bridge.gate import Bridge, Gate, eventually
from tests.bridge.shop import Sale, Shop
from tests.size import dice

KILLS = 20
# The bridge is killed within this time after a round of changes: as it starts, as it reads, as it writes.
LONGEST_LIFE = 1.5
PRETIX_STOPPED = (6, 7)
GATEPASS_STOPPED = (12, 13)


@dataclass
class Guest:
    """One order with one position, as it is in pretix, and whether its guest was let in."""

    sale: Sale
    name: str
    email: str
    item: str = "general"
    is_valid: bool = True
    is_used: bool = False

    @property
    def position(self) -> int:
        return self.sale.positions[0]


@dataclass
class Evening:
    shop: Shop
    gate: Gate
    draw: random.Random
    guests: list[Guest] = field(default_factory=list[Guest])

    def sell(self) -> None:
        number = len(self.guests)
        name, email = f"Guest {number}", f"guest-{number}@example.org"
        self.guests.append(Guest(self.shop.sell({"name": name, "email": email}), name, email))

    def change(self) -> None:
        """Something that can happen to an order, to a random one."""
        guest = self.draw.choice(self.guests)
        if not guest.is_valid:
            guest.sale.reactivate()
            guest.is_valid = True
            return
        match self.draw.choice(("name", "email", "item", "cancel")):
            case "name":
                guest.name += "+"
                guest.sale.change(attendee_name=guest.name)
            case "email":
                guest.email = f"again-{guest.email}"
                guest.sale.change(attendee_email=guest.email)
            case "item":
                guest.item = "vip" if guest.item == "general" else "general"
                guest.sale.change(item=guest.item)
            case _:
                guest.sale.cancel()
                guest.is_valid = False

    def scan(self) -> None:
        """A random guest who was not let in yet; one whose ticket is not there, or no longer, stays outside."""
        guest = self.draw.choice([guest for guest in self.guests if not guest.is_used])
        if self.gate.valid(guest.position):
            self.gate.scan(guest.position)
            guest.is_used = True

    def differences(self) -> list[str]:
        """What Gatepass or pretix has, and should not have, or lacks."""
        return [found for guest in self.guests if (found := self._difference(guest))]

    def _difference(self, guest: Guest) -> str | None:
        tickets, entries = self.gate.tickets(guest.position), self.shop.checkins(guest.position)
        valid = [one for one in tickets if one.state != "cancelled"]
        used = [one for one in tickets if one.activated_at is not None]
        if len(used) != guest.is_used or len(entries) != guest.is_used:
            return f"{guest} was let in {len(used)} times, and checked in {len(entries)} times"
        if guest.is_used:  # cancelled after it was used, and bought back: there is no other
            return None if all(one in used for one in valid) else f"{guest} has another ticket: {valid}"
        if len(valid) != guest.is_valid:
            return f"{guest} has {valid}"
        if not valid:
            return None
        holder = self.gate.holder(guest.position)
        found = (valid[0].category_id, holder.name, holder.email)
        wanted = (self.gate.categories[guest.item], guest.name, guest.email)
        return None if found == wanted else f"{guest} has {found}, not {wanted}"


def test_nothing_is_lost_and_nothing_doubled(bridge: Bridge, shop: Shop, gate: Gate) -> None:
    evening = Evening(shop, gate, dice())
    let_in_the_first(evening)
    bridge.kill()
    for kill in range(KILLS):
        bridge.start()
        if kill == PRETIX_STOPPED[0]:
            shop.stop()
        if kill == GATEPASS_STOPPED[0]:
            gate.service.stop()
        if kill not in PRETIX_STOPPED:
            for act in (evening.sell, evening.sell, evening.change, evening.change):
                act()
        if kill not in GATEPASS_STOPPED:
            evening.scan()
        time.sleep(evening.draw.uniform(0, LONGEST_LIFE))
        bridge.kill()
        if kill == PRETIX_STOPPED[1]:
            shop.start()
        if kill == GATEPASS_STOPPED[1]:
            gate.service.start()
    bridge.start()
    eventually(evening.differences, lambda found: not found, within=60)
    used = sum(guest.is_used for guest in evening.guests)
    print(f"{len(evening.guests)} orders, {used} let in")
    assert used >= KILLS / 2


def let_in_the_first(evening: Evening) -> None:
    """One after the other: the third is read from the feed after the place behind the second was stored.

    A first start, which looks for all who are inside already, takes longer than the bridge lives from now on.
    """
    for _ in range(3):
        evening.sell()
        position = evening.guests[-1].position
        eventually(lambda position=position: evening.gate.valid(position), len)
        evening.scan()
        eventually(lambda position=position: evening.shop.checkins(position), len, within=60)
