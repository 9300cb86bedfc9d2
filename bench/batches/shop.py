"""A ticket shop: an organization with a key, an event, and guests without end. No guest comes twice."""

import asyncio
import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Self
from uuid import UUID

from bench.connection import connect, post, read_answer
from gatepass.base.database import Database
from gatepass.domain import events, keys, maintenance, organizations
from gatepass.domain.events import EventStatus
from gatepass.domain.keys import Mode, Scope

BY = "bench"
# As many as a batch may have.
SIZE = 1_000
# Far above every measured rate: the bench measures tickets, not the limiter.
RATE = 10_000_000
IDLE = 1.0


@dataclass(frozen=True)
class Guest:
    name: str
    email: str
    external_id: str


@dataclass
class Shop:
    organization_id: UUID
    key: str
    key_id: UUID
    event_id: UUID
    category_id: UUID
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def guests(self) -> list[Guest]:
        """The guests of the next batch."""
        numbers = itertools.islice(self.numbers, SIZE)
        return [Guest(f"Guest Number {n}", f"guest{n}@example.org", f"ORDER-{n:08}") for n in numbers]

    def request(self) -> bytes:
        """The next batch as a call of the API."""
        guests = self.guests()
        ticket = {"event_id": str(self.event_id), "category_id": str(self.category_id)}
        items = [
            {**ticket, "holder": {"name": one.name, "email": one.email}, "external_id": one.external_id}
            for one in guests
        ]
        return post("/tickets/batch", self.key, guests[0].external_id, {"tickets": items})


def open_shop(url: str, name: str) -> Shop:
    return asyncio.run(_open(url, name))


async def _open(url: str, name: str) -> Shop:
    db, now = Database(url, deadline=60), datetime.now(UTC)
    await maintenance.run_due(db, at=now)
    async with db.transaction() as tx:
        organization = await organizations.create(tx, name, at=now)
        key = await keys.issue(
            tx, organization.id, "shop", Mode.LIVE, [Scope.TICKETS_WRITE, Scope.TICKETS_ACTIVATE], cell="a", by=BY,
            at=now, rate_per_second=RATE, burst=RATE,
        )  # fmt: skip
        event_id = await events.create(tx, organization.id, name, now, now + timedelta(hours=9), by=BY, at=now)
        category_id = await events.add_category(
            tx, organization.id, event_id, "General", Decimal(9), "EUR", 10_000_000, by=BY, at=now
        )
        await events.change_status(tx, organization.id, event_id, EventStatus.PUBLISHED, by=BY, at=now)
    await db.close()
    return Shop(organization.id, key.text, key.id, event_id, category_id)


class Caller:
    """A connection of a shop to an API process. `failed` are the tickets that were not made."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._connection, self._used_at = connect(port), time.monotonic()
        self.failed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def call(self, request: bytes) -> bytes:
        """Send a batch; the answer. A connection that was idle is a new one: the server closes those."""
        if time.monotonic() - self._used_at > IDLE:
            self._connection.close()
            self._connection = connect(self._port)
        self._connection.sendall(request)
        answer = read_answer(self._connection)
        self._used_at = time.monotonic()
        self.failed += SIZE - answer.count(b'"status":201')
        return answer
