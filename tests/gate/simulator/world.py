"""What a scenario needs in the service: an event, its cards and tickets, 20 devices; and what people change."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from secrets import token_bytes
from typing import Any, Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import cards, devices, events, incidents, tickets
from gatepass.domain.cards import CardStatus, format_number
from gatepass.domain.events import CategoryDetails, EventStatus, OfflineAdmission
from gatepass.domain.idempotency import key_digest
from gatepass.domain.keys import Mode
from gatepass.domain.tickets import TicketRequest
from gatepass_sdk._gate.signing import DeviceKey
from tests import factory
from tests.factory import BY, Tenant
from tests.gate.simulator.generator import HOUR, UNKNOWN
from tests.gate.simulator.scenario import Category, Change, Scenario, Show, Way

# The doormen opened this long ago: the scans of a scenario fit in between, also those of clocks that are ahead.
OPENED: Final = timedelta(minutes=100)
PAIRED_BEFORE: Final = timedelta(minutes=30)
LASTS: Final = timedelta(hours=5)
PLACES: Final = 1_000
# A token that ends while gates are open; the others last.
EXPIRY: Final = {Way.TOKEN: 24 * HOUR, Way.FORGED: 24 * HOUR, Way.SHORT_TOKEN: HOUR // 4, Way.NUMBER: None}


@dataclass
class Device:
    """`id` and `key` are what the service gave it. The seed is that of its own signing key."""

    id: UUID
    key: str
    seed: bytes


@dataclass(frozen=True)
class ReadCode:
    """What a code says: the card that it names, the card that it is good for (None: forged), and when it ends."""

    named: int
    card: int | None
    expires: int | None


@dataclass
class World:
    tenant: Tenant
    scenario: Scenario
    opening: datetime
    event_id: UUID
    category_ids: list[UUID]
    numbers: dict[int, str]
    card_ids: dict[int, UUID]
    ticket_ids: dict[int, list[UUID]]
    public_keys: list[bytes]
    devices: list[Device] = field(default_factory=list[Device])
    codes: dict[tuple[int, Way], str] = field(default_factory=dict[tuple[int, Way], str])
    readings: dict[str, ReadCode] = field(default_factory=dict[str, ReadCode])

    def time(self, milliseconds: int) -> datetime:
        return self.opening + timedelta(milliseconds=milliseconds)

    def written(self, milliseconds: int) -> str:
        return self.time(milliseconds).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"

    def since_opening(self, moment: datetime) -> int:
        return round((moment - self.opening) / timedelta(milliseconds=1))

    def code(self, show: Show) -> str:
        """What the reader reads, or somebody types. A forged token has the signature of another card."""
        number = self.numbers[show.card]
        if (show.card, show.way) not in self.codes:
            expires_at = self.time(EXPIRY[show.way] or 0)
            code = number if show.way is Way.NUMBER else self.tenant.sign(number, expires_at)
            if show.way is Way.FORGED:
                code = code.rpartition(".")[0] + "." + self.tenant.sign("SVC 0", expires_at).rpartition(".")[2]
            self.codes[show.card, show.way] = code
            card = None if show.way is Way.FORGED else show.card
            self.readings[code] = ReadCode(show.card, card, EXPIRY[show.way])
        return self.codes[show.card, show.way]

    def read(self, body: Mapping[str, Any]) -> ReadCode:
        """What the code in the body of a scan says."""
        return self.readings[body.get("token") or body["card_number"]]

    def read_code(self, show: Show) -> ReadCode:
        return self.readings[self.code(show)]

    async def pair(self, n: int, at: datetime, seed: bytes) -> Device:
        """By the verb that a confirmed pairing uses. A known seed continues the same device."""
        gate = self.scenario.gates[n].name
        async with self.tenant.db.transaction() as tx:
            device, key = await devices.pair_now(
                tx,
                self.tenant.id,
                Mode.LIVE,
                f"Device {n + 1}",
                DeviceKey(seed).public_key,
                self.event_id,
                gate,
                cell=self.tenant.cell,
                by=BY,
                at=at,
            )
        return Device(device.id, key, seed)

    async def retire(self, n: int) -> None:
        async with self.tenant.db.transaction() as tx:
            await devices.retire(tx, self.tenant.id, Mode.LIVE, self.devices[n].id, by=BY, at=factory.now())

    async def revoke(self, n: int) -> None:
        async with self.tenant.db.transaction() as tx:
            await devices.revoke(tx, self.tenant.id, Mode.LIVE, self.devices[n].id, by=BY, at=factory.now())

    async def forget_last_seen(self, n: int) -> None:
        """Heartbeats are written at most every five seconds. Nobody waits here."""
        async with self.tenant.db.autocommit() as tx:
            await tx.run(FORGET_LAST_SEEN, self.tenant.id, self.devices[n].id)

    async def forget_answers(self, keys: Iterable[str]) -> None:
        """As the service does itself when they are old."""
        digests = [key_digest(Mode.LIVE, key) for key in keys]
        async with self.tenant.db.autocommit() as tx:
            await tx.run(FORGET_ANSWERS, self.tenant.id, digests)

    async def alter(self, change: Change, card: int) -> bool:
        """Changes that the model has found to be possible. Whether it used the ticket."""
        match change:
            case Change.SUSPEND:
                await self._move(card, CardStatus.SUSPENDED)
            case Change.REACTIVATE:
                await self._move(card, CardStatus.ACTIVE)
            case Change.REVOKE:
                await self._move(card, CardStatus.REVOKED)
            case Change.CANCEL:
                async with self.tenant.db.transaction() as tx:
                    ticket_id = self.ticket_ids[card][-1]
                    await tickets.cancel(tx, self.tenant.id, ticket_id, by=BY, at=factory.now(), reason="test")
            case Change.ISSUE:
                request = TicketRequest(self.event_id, self.category_ids[0], card_id=self.card_ids[card])
                async with self.tenant.db.transaction() as tx:
                    issued = await tickets.issue(tx, self.tenant.id, request, by=BY, at=factory.now())
                self.ticket_ids.setdefault(card, []).append(issued.ticket_id)
            case Change.LET_IN:
                async with self.tenant.db.transaction() as tx:
                    done = await incidents.let_in(
                        tx, self.tenant.id, self.card_ids[card], self.event_id, reason="test", by=BY, at=factory.now()
                    )
                return done.activated
        return False

    async def _move(self, card: int, to: CardStatus) -> None:
        async with self.tenant.db.transaction() as tx:
            await cards.change_status(
                tx, self.tenant.id, self.card_ids[card], to, by=BY, at=factory.now(), reason="test"
            )

    async def change_rules(self, n: int, rules: Category) -> None:
        details = CategoryDetails(rules.name, Decimal(25), "EUR", PLACES, **rules_of(rules, self.opening))
        async with self.tenant.db.transaction() as tx:
            await events.edit_category(
                tx, self.tenant.id, self.event_id, self.category_ids[n], details, by=BY, at=factory.now()
            )

    async def end(self, at: int) -> None:
        async with self.tenant.db.transaction() as tx:
            await events.change_status(tx, self.tenant.id, self.event_id, EventStatus.ENDED, by=BY, at=self.time(at))


async def furnish(tenant: Tenant, scenario: Scenario) -> World:
    """An event of its own for each scenario, in an organization that they share."""
    opening = (factory.now() - OPENED).replace(microsecond=0)
    async with tenant.db.transaction() as tx:
        event_id, category_ids = await _event(tx, tenant, scenario, opening)
        made = await tickets.load(
            tx,
            tenant.id,
            event_id,
            category_ids,
            sum(category is not None for category in scenario.cards),
            prefix=tenant.organization.card_prefix,
            at=opening,
        )
        found = {n: (one.card_id, one.card_number) for n, one in enumerate(made)}
        for n in range(len(made), len(scenario.cards)):
            card = await cards.issue(tx, tenant.id, by=BY, at=opening)
            found[n] = (card.id, card.number)
        ids: dict[UUID, UUID] = {row["card_id"]: row["id"] for row in await tx.rows(TICKET_IDS, tenant.id, event_id)}
        keys = await cards.verifying_keys(tx, tenant.id)
    world = World(
        tenant,
        scenario,
        opening,
        event_id,
        category_ids,
        numbers={n: number for n, (_, number) in found.items()}
        | {-n: format_number("SVC", n) for n in range(1, UNKNOWN + 1)},
        card_ids={n: card_id for n, (card_id, _) in found.items()},
        ticket_ids={n: [ids[card_id]] for n, (card_id, _) in found.items() if card_id in ids},
        public_keys=[key.public_key for key in keys],
    )
    for n in range(len(scenario.gates)):
        world.devices.append(await world.pair(n, opening - PAIRED_BEFORE, token_bytes(32)))
    return world


async def _event(tx: Tx, tenant: Tenant, scenario: Scenario, opening: datetime) -> tuple[UUID, list[UUID]]:
    doormen = scenario.doors_open
    event_id = await events.create(
        tx,
        tenant.id,
        f"Seed {scenario.seed}",
        opening,
        opening + LASTS,
        by=BY,
        at=opening,
        doors_open_at=None if doormen is None else opening + timedelta(milliseconds=doormen),
        offline=OfflineAdmission(scenario.policy),
    )
    category_ids = [
        await events.add_category(
            tx, tenant.id, event_id, one.name, Decimal(25), "EUR", PLACES, by=BY, at=opening, **rules_of(one, opening)
        )
        for one in scenario.categories
    ]
    await events.change_status(tx, tenant.id, event_id, EventStatus.PUBLISHED, by=BY, at=opening)
    return event_id, category_ids


def rules_of(category: Category, opening: datetime) -> dict[str, Any]:
    def time(milliseconds: int | None) -> datetime | None:
        return None if milliseconds is None else opening + timedelta(milliseconds=milliseconds)

    return {
        "valid_from": time(category.valid_from),
        "valid_until": time(category.valid_until),
        "gates": None if category.gates is None else list(category.gates),
    }


TICKET_IDS: Final = """
    SELECT card_id, id
      FROM ticket
     WHERE organization_id = $1
       AND event_id = $2
"""

FORGET_ANSWERS: Final = """
    DELETE FROM idempotency
     WHERE organization_id = $1
       AND idempotency_key = ANY ($2)
"""

FORGET_LAST_SEEN: Final = """
    UPDATE device
       SET last_seen_at = NULL
     WHERE organization_id = $1
       AND id = $2
"""
