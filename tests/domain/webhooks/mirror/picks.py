"""An organization in which things are picked at random: what there is, and what could be new."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Final, TypedDict, TypeVar
from uuid import UUID

from gatepass.base.errors import Refusal
from gatepass.base.ids import new_id
from gatepass.domain.cards import HolderDetails
from gatepass.domain.keys import Mode
from gatepass.domain.tickets import IssuedTicket, Scan, TicketRequest
from tests.factory import BY, Tenant, now

T = TypeVar("T")

# Changes are about the newest things, so that many of them meet.
NEWEST: Final = 150
# In the data of every holder, and of nothing else.
NAME: Final = "Hildegard"
ADDRESS: Final = "@hildegard.example"


class By(TypedDict):
    by: str
    at: datetime


@dataclass
class Picks:
    tenant: Tenant
    key_id: UUID
    random: Random
    events: list[UUID] = field(default_factory=list[UUID])
    categories: list[tuple[UUID, UUID]] = field(default_factory=list[tuple[UUID, UUID]])
    cards: list[tuple[UUID, str]] = field(default_factory=list[tuple[UUID, str]])
    tickets: list[UUID] = field(default_factory=list[UUID])
    imports: list[UUID] = field(default_factory=list[UUID])

    async def load(self) -> None:
        """Read the ids of all that is there, oldest first."""
        async with self.tenant.db.autocommit() as tx:
            self.events = [row["id"] for row in await tx.rows(EVENTS, self.tenant.id)]
            self.categories = [(row["event_id"], row["id"]) for row in await tx.rows(CATEGORIES, self.tenant.id)]
            self.cards = [(row["id"], row["number"]) for row in await tx.rows(CARDS, self.tenant.id)]
            self.tickets = [row["id"] for row in await tx.rows(TICKETS, self.tenant.id)]

    def request(self) -> TicketRequest:
        event_id, category_id = self.pick(self.categories)
        external_id = f"order-{self.random.randrange(10**9)}" if self.random.random() < 0.5 else None
        kind = self.random.randrange(4)
        card = self.pick(self.cards)
        return TicketRequest(
            event_id,
            category_id,
            card_id=card[0] if kind == 0 else None,
            card_number=card[1] if kind == 1 else None,
            holder=self.holder() if kind == 2 else None,
            external_id=external_id,
        )

    def keep(self, *made: IssuedTicket) -> None:
        if not made:
            raise Refusal("nothing was made")
        self.tickets += [one.ticket_id for one in made]
        self.cards += [(one.card_id, one.card_number) for one in made if one.made_card]

    def shown(self, event_id: UUID, number: str) -> Scan:
        occurred_at = now() - timedelta(minutes=3) if self.random.random() < 0.3 else None
        gate = self.random.choice([None, "North 2", 'the "other" one'])
        return Scan(
            new_id(), self.tenant.id, Mode.LIVE, self.key_id, None, 1, None, event_id, number, number,
            expired=False, gate=gate, scanner_id=self.random.choice([None, "handheld\\17"]), occurred_at=occurred_at,
        )  # fmt: skip

    def pick(self, among: Sequence[T]) -> T:
        if not among:
            raise Refusal("there is none")
        return self.random.choice(among[-NEWEST:])

    def holder(self) -> HolderDetails:
        return HolderDetails(self.name(), self.email())

    def email(self) -> str:
        return f"{self.random.randrange(400)}{ADDRESS}"

    def name(self) -> str:
        return f"{NAME} {self.random.randrange(10**6)}"

    def word(self) -> str:
        return f"Hall {self.random.randrange(10**6)}"

    def by(self) -> By:
        return {"by": BY, "at": now()}


EVENTS: Final = "SELECT id FROM event WHERE organization_id = $1 ORDER BY created_at, id"

CATEGORIES: Final = """
    SELECT event_id, id FROM ticket_category WHERE organization_id = $1 AND removed_at IS NULL ORDER BY id
"""

CARDS: Final = "SELECT id, number FROM card WHERE organization_id = $1 ORDER BY issued_at, id"

TICKETS: Final = "SELECT id FROM ticket WHERE organization_id = $1 ORDER BY issued_at, id"
