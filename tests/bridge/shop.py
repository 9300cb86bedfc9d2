"""A running pretix, and what its organizer and its customers do there, through its own API."""

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from bench.pretix.install import install, migrate, seed
from bench.pretix.server import Instance, configure, gunicorn, is_healthy, redis_server, running_process, wait_for
from tests.postgres import Cluster

# Shared with `make bench-peer`: the installation and the dump of the migrated database.
RESULTS = Path(__file__).parents[2] / "bench" / "results"
SEED = Path(__file__).with_name("shop_seed.py")


@dataclass
class Shop:
    programs: Path
    instance: Instance
    facts: dict[str, Any]
    _running: ExitStack = field(default_factory=ExitStack)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.instance.port}"

    def start(self) -> None:
        command = gunicorn(self.programs, self.instance)
        self._running.enter_context(running_process("gunicorn", command, self.instance))
        wait_for(lambda: is_healthy(self.instance.port), "pretix")

    def stop(self) -> None:
        self._running.close()

    def call(self, method: str, path: str, body: object = None, **query: str) -> Any:
        base = f"{self.url}/api/v1/organizers/{self.facts['organizer']}/events/{self.facts['event']}/"
        headers = {"Authorization": f"Token {self.facts['token']}"}
        answer = httpx2.request(method, base + path, json=body, params=query, headers=headers, timeout=60)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        return answer.json() if answer.content else None

    def sell(self, *people: dict[str, Any], paid: bool = True, email: str = "buyer@example.org") -> "Sale":
        """An order with a position for each: `name`, `email` and `item`."""
        positions = [
            {
                "positionid": number,
                "item": self.facts["items"][person.get("item", "general")],
                "price": "25.00",
                "attendee_name": person.get("name"),
                "attendee_email": person.get("email"),
                "answers": [],
            }
            for number, person in enumerate(people, 1)
        ]
        body = {"email": email, "locale": "en", "sales_channel": "web", "status": "n", "payment_provider": "manual"}
        order = self.call("POST", "orders/", {**body, "positions": positions})
        sale = Sale(self, order["code"], [position["id"] for position in order["positions"]])
        if paid:
            sale.pay()
        return sale

    def checkins(self, position: int) -> list[dict[str, Any]]:
        found = self.call("GET", f"orderpositions/{position}/", include_canceled_positions="true")
        return found["checkins"]


@dataclass
class Sale:
    """An order, and the ids of its positions."""

    shop: Shop = field(repr=False)
    code: str
    positions: list[int]

    def pay(self) -> None:
        self.shop.call("POST", f"orders/{self.code}/mark_paid/", {"send_email": False})

    def cancel(self) -> None:
        self.shop.call("POST", f"orders/{self.code}/mark_canceled/", {"send_email": False})

    def reactivate(self) -> None:
        self.shop.call("POST", f"orders/{self.code}/reactivate/")

    def cancel_position(self, number: int = 0) -> None:
        self.shop.call("DELETE", f"orderpositions/{self.positions[number]}/")

    def change(self, number: int = 0, **fields: object) -> None:
        """`attendee_name`, `attendee_email`, or `item` by its name."""
        if "item" in fields:
            fields["item"] = self.shop.facts["items"][fields["item"]]
        self.shop.call("PATCH", f"orderpositions/{self.positions[number]}/", fields)


@contextmanager
def running_shop(cluster: Cluster) -> Generator[Shop]:
    RESULTS.mkdir(exist_ok=True)
    programs = install(RESULTS)
    instance = configure(RESULTS, cluster)
    with redis_server(instance):
        migrate(cluster, RESULTS, programs, instance.env)
        shop = Shop(programs, instance, seed(SEED, programs, instance.env))
        shop.start()
        try:
            yield shop
        finally:
            shop.stop()
