"""An event of the demo's organization with cards, and devices that are paired without a screen to confirm on."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import psycopg

from gatepass.base.database import Tx
from gatepass.domain import devices
from gatepass.domain.keys import Mode
from gatepass_sdk import Gate, Gatepass, HolderDetails, NewTicket
from gatepass_sdk._gate.device import Device
from gatepass_sdk._gate.storage.store import GateStore
from tests import factory
from tests.sdk.stack import Stack

T = TypeVar("T")

BY = "test"
# The service is up to 2 s behind; a busy machine more.
WAIT_SECONDS = 60.0
HOLDER: HolderDetails = {"name": "Ada Lovelace", "email": "ada@example.com"}


@dataclass(frozen=True)
class Guest:
    """A guest with a ticket."""

    ticket_id: str
    card_id: str
    number: str
    token: str


@dataclass
class Venue:
    stack: Stack
    client: Gatepass
    event_id: str
    category_id: str

    @classmethod
    def open(cls, stack: Stack) -> "Venue":
        """An event that is going on, with one category."""
        client = Gatepass(stack.key("live"), base_url=stack.base_url)
        now = datetime.now(UTC)
        event = client.events.create(
            title="Night", starts_at=now + timedelta(minutes=5), ends_at=now + timedelta(hours=5)
        )
        category = client.ticket_categories.create(
            event.id, name="General", price=25, currency="EUR", quantity_total=10_000, tier="vip"
        )
        client.events.publish(event.id)
        return cls(stack, client, event.id, category.id)

    @property
    def organization_id(self) -> UUID:
        return UUID(self.stack.demo["organization_id"])

    @property
    def port(self) -> int:
        port = urlsplit(self.stack.base_url).port
        assert port is not None
        return port

    def guest(self) -> Guest:
        holder: HolderDetails = {**HOLDER, "email": f"{uuid4().hex}@example.com"}
        ticket = self.client.tickets.create(event_id=self.event_id, category_id=self.category_id, holder=holder)
        token = self.client.card_tokens.create(ticket.card_id).token
        return Guest(ticket.id, ticket.card_id, ticket.card_number, token)

    def guests(self, count: int) -> list[Guest]:
        """Many guests, in a few calls."""
        orders: list[NewTicket] = [
            {
                "event_id": self.event_id,
                "category_id": self.category_id,
                "holder": {**HOLDER, "email": f"{uuid4().hex}@example.com"},
            }
            for _ in range(count)
        ]
        issued = [result.data for _, result in self.client.tickets.create_all(orders)]
        tickets = [ticket for ticket in issued if ticket is not None]
        made = self.client.card_tokens.create_all([ticket.card_id for ticket in tickets])
        tokens = {card_id: result.data.token for card_id, result in made if result.data is not None}
        assert len(tokens) == count
        return [Guest(one.id, one.card_id, one.card_number, tokens[one.card_id]) for one in tickets]

    def change_event(self, **columns: Any) -> None:
        sets = ", ".join(f"{name} = %s" for name in columns)
        self.execute(f"UPDATE event SET {sets} WHERE id = %s", *columns.values(), self.event_id)

    def execute(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.stack.database_url, autocommit=True) as connection:
            found = connection.execute(sql, values)  # type: ignore[arg-type]
            return found.fetchall() if found.description else []

    def do(self, verb: Callable[[Tx], Awaitable[T]]) -> T:
        """A verb of the service, in a transaction of its own."""

        async def run() -> T:
            db = factory.database(self.stack.database_url, connections=1)
            try:
                async with db.transaction() as tx:
                    return await verb(tx)
            finally:
                await db.close()

        return asyncio.run(run())

    def pair(self, directory: Path, url: str, *, gate: str = "North", name: str = "North 2") -> str:
        """Pair the device of this directory, as a confirmed pairing does. Returns its id."""
        store = GateStore(directory, None)
        try:
            public_key = store.device_key.public_key

            async def pair_now(tx: Tx) -> tuple[devices.Device, str]:
                return await devices.pair_now(
                    tx,
                    self.organization_id,
                    Mode.LIVE,
                    name,
                    public_key,
                    UUID(self.event_id),
                    gate,
                    cell="a",
                    by=BY,
                    at=datetime.now(UTC),
                )

            device, key = self.do(pair_now)
            known = {"id": str(device.id), "name": name, "event_id": self.event_id, "gate": gate}
            store.keep_device(Device.of(known, url=url, api_key=key))
        finally:
            store.close()
        return str(device.id)

    def gate(self, directory: Path, url: str, **options: Any) -> Gate:
        """A gate that is paired and has the manifest."""
        self.pair(directory, url)
        gate = Gate(directory, **options)
        gate.refresh()
        return gate

    def known(self, gate: Gate, *guests: Guest, **fields: Any) -> None:
        """Wait until the gate's manifest knows these guests, and this of its event."""

        def is_known() -> bool:
            manifest = gate._paired.manifests.current
            if manifest is None or not all(manifest.find(guest.number) for guest in guests):
                return False
            return all(getattr(manifest.header.event, name) == value for name, value in fields.items())

        ends = time.monotonic() + WAIT_SECONDS
        while not is_known():
            assert time.monotonic() < ends
            if not gate.refresh():
                time.sleep(0.05)

    def activations(self, guest: Guest) -> list[tuple[Any, ...]]:
        """The gate and the scanner of each activation of this guest's ticket. There must be only one."""
        return self.execute(ACTIVATIONS, guest.ticket_id)

    def entries(self, device_id: str) -> list[tuple[Any, ...]]:
        """What the service has of this device's journal."""
        return self.execute(ENTRIES, device_id)

    def incidents(self) -> list[tuple[Any, ...]]:
        return self.execute("SELECT kind FROM incident WHERE event_id = %s ORDER BY kind", self.event_id)


ACTIVATIONS = "SELECT gate, scanner_id FROM scan WHERE ticket_id = %s AND verdict = 'activated'"
ENTRIES = "SELECT sequence, admitted, outcome, code FROM journal_entry WHERE device_id = %s ORDER BY sequence"
