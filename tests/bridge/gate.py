"""A running Gatepass with an event for the bridge, and the bridge itself as a process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from gatepass_sdk import Card, Gatepass, Holder, Ticket
from tests.bridge.shop import Shop
from tests.processes import GatepassProcess, serve

ROOT = Path(__file__).parents[2]
# The bound of the design: what happens on one side is on the other.
WITHIN = 60.0
T = TypeVar("T")


@dataclass
class Service:
    """A `gatepass serve` that comes back at the same port."""

    environment: dict[str, str]
    process: GatepassProcess

    def stop(self) -> None:
        self.process.stop()

    def start(self) -> None:
        self.process = serve(self.environment, self.process.port)


@dataclass
class Gate:
    """One event with two categories."""

    service: Service
    client: Gatepass
    bridge_key: str
    event_id: str
    categories: dict[str, str]

    def tickets(self, position: int) -> list[Ticket]:
        """All tickets that a position ever had, the first one first."""
        listed = self.client.tickets.list(event_id=self.event_id)
        of = [one for one in listed if (one.external_id or "").split(":")[:2] == ["pretix", str(position)]]
        return sorted(of, key=lambda one: (one.issued_at, one.external_id))

    def valid(self, position: int) -> list[Ticket]:
        return [one for one in self.tickets(position) if one.state != "cancelled"]

    def card(self, position: int) -> Card:
        (ticket,) = self.valid(position)
        return self.client.cards.retrieve(ticket.card_id)

    def holder(self, position: int) -> Holder:
        holder = self.card(position).holder
        assert holder is not None
        return holder

    def scan(self, position: int) -> None:
        (ticket,) = self.valid(position)
        self.client.scans.create(self.event_id, card_number=ticket.card_number, gate="Quay")


def open_gate(service: Service, key: str, bridge_key: str) -> Gate:
    client = Gatepass(key, base_url=service.process.base_url)
    now = datetime.now(UTC)
    event = client.events.create(title="Harbour Night", starts_at=now, ends_at=now + timedelta(hours=8))
    categories = {
        name: client.ticket_categories.create(event.id, name=name, price=25, currency="EUR", quantity_total=500).id
        for name in ("general", "vip")
    }
    client.events.publish(event.id)
    return Gate(service, client, bridge_key, event.id, categories)


@dataclass
class Bridge:
    """The bridge between them, with settings and a database of its own in a folder."""

    shop: Shop
    gate: Gate
    folder: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def database(self) -> Path:
        return self.folder / "bridge.db"

    @property
    def log(self) -> str:
        return (self.folder / "bridge.log").read_text()

    def start(self) -> None:
        (self.folder / "bridge.toml").write_text(self._settings())
        environment = {
            "GATEPASS_API_KEY": self.gate.bridge_key,
            "GATEPASS_BASE_URL": self.gate.service.process.base_url,
            "PRETIX_TOKEN": self.shop.facts["bridge_token"],
        }
        with (self.folder / "bridge.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "examples.pretix", str(self.folder / "bridge.toml")],
                cwd=ROOT, env={**os.environ, **environment}, stdout=log, stderr=log,
            )  # fmt: skip

    def kill(self) -> None:
        assert self.process is not None
        assert self.process.poll() is None, f"the bridge ended by itself:\n{self.log}"
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def _settings(self) -> str:
        facts = self.shop.facts
        categories = [f'{facts["items"][name]} = "{id}"' for name, id in self.gate.categories.items()]
        return "\n".join(
            [
                "[pretix]",
                f'url = "{self.shop.url}"',
                f'organizer = "{facts["organizer"]}"',
                f'event = "{facts["event"]}"',
                f"checkin_list = {facts['checkin_list']}",
                "[gatepass]",
                f'event_id = "{self.gate.event_id}"',
                "[categories]",
                *categories,
            ]
        )


def eventually(found: Callable[[], T], holds: Callable[[T], object], within: float = WITHIN) -> T:
    """Look until it holds, at most this long; what was found then."""
    deadline = time.monotonic() + within
    while True:
        last = found()
        if holds(last):
            return last
        assert time.monotonic() < deadline, f"after {within} s it is still {last!r}"
        time.sleep(0.1)
