"""Guests of an event, each with a card, a ticket and an address."""

from collections.abc import Callable

from gatepass.domain import tickets
from gatepass.domain.cards import HolderDetails
from gatepass.domain.tickets import TicketRequest
from tests import factory
from tests.factory import Tenant


async def guests(tenant: Tenant, count: int, kind: Callable[[int], str] = lambda _: "guest") -> list[str]:
    """The addresses of new guests. The kind of each is the beginning of its address (`tests/mail_server.py`)."""
    made = [f"{kind(n)}-{n}@d{n % 200}.example" for n in range(count)]
    for first in range(0, count, 1_000):
        requests = [
            TicketRequest(
                tenant.event_id, tenant.category_id, holder=HolderDetails(f"Guest {address}", address, "nl-BE")
            )
            for address in made[first : first + 1_000]
        ]
        async with tenant.db.transaction() as tx:
            await tickets.issue_all(tx, tenant.id, requests, by="test", at=factory.now())
    return made
