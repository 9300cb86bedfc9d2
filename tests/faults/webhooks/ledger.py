"""Commits, claims, receptions and records, and the rules by which they must agree."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from uuid import UUID

from gatepass.base.database import Database

# One claim of one delivery; every message that is sent names its claim.
Claim = tuple[UUID, int]


@dataclass(frozen=True)
class Delivery:
    event_id: UUID
    endpoint_id: UUID
    state: str
    attempts: int


@dataclass
class Ledger:
    """`activations` by the scan that made them; `received` in the order of the receiver's log, claim by claim."""

    activations: set[UUID]
    endpoints: set[UUID]
    events: list[UUID]
    deliveries: dict[UUID, Delivery]
    recorded: list[Claim]
    claims: dict[Claim, str]
    queued: int
    received: Sequence[Claim]
    killed: set[str]

    @cached_property
    def attempts_received(self) -> dict[UUID, list[int]]:
        found: defaultdict[UUID, list[int]] = defaultdict(list)
        for delivery_id, attempt in self.received:
            found[delivery_id].append(attempt)
        return dict(found)

    @cached_property
    def in_flight(self) -> dict[Claim, str]:
        """The claims of killed workers that were never recorded."""
        recorded = set(self.recorded)
        return {claim: who for claim, who in self.claims.items() if who in self.killed and claim not in recorded}

    @cached_property
    def sent_not_recorded(self) -> Counter[str]:
        """For each killed worker: the number of messages that arrived and were not recorded."""
        received = set(self.received)
        return Counter(who for claim, who in self.in_flight.items() if claim in received)

    def extra(self) -> Iterator[Claim]:
        """Receptions that were followed by another one of the same message."""
        for delivery_id, attempts in self.attempts_received.items():
            for attempt in attempts[:-1]:
                yield delivery_id, attempt

    def faults(self) -> list[str]:
        return [f"{rule.__name__}: {what}" for rule in RULES for what in rule(self)]


def every_activation_is_one_event(ledger: Ledger) -> Iterator[str]:
    written = Counter(ledger.events)
    for id in ledger.activations | written.keys():
        if written[id] != (id in ledger.activations):
            yield f"{id}: {written[id]} events"


def every_activation_reaches_every_endpoint(ledger: Ledger) -> Iterator[str]:
    received = {
        (one.event_id, one.endpoint_id) for id, one in ledger.deliveries.items() if id in ledger.attempts_received
    }
    for event_id in ledger.activations:
        for endpoint_id in ledger.endpoints:
            if (event_id, endpoint_id) not in received:
                yield f"{event_id} never came to {endpoint_id}"


def a_later_message_has_a_higher_attempt(ledger: Ledger) -> Iterator[str]:
    for id, attempts in ledger.attempts_received.items():
        if any(later <= earlier for earlier, later in pairwise(attempts)):
            yield f"{id}: {attempts}"


def only_what_was_in_flight_at_a_kill_comes_again(ledger: Ledger) -> Iterator[str]:
    """Claim by claim, so that there cannot be more of them than claims in flight at the kills."""
    for claim in ledger.extra():
        if claim not in ledger.in_flight:
            yield f"{claim}: claimed by {ledger.claims.get(claim)}, which recorded it or lives, and yet sent again"


def nothing_is_received_without_a_claim(ledger: Ledger) -> Iterator[str]:
    for claim in set(ledger.received) - ledger.claims.keys():
        yield f"{claim}"


def every_delivery_ends_delivered(ledger: Ledger) -> Iterator[str]:
    if ledger.queued:
        yield f"{ledger.queued} in the queue"
    for id, one in ledger.deliveries.items():
        if one.state != "delivered":
            yield f"{id}: {one.state}"


def no_attempt_is_forgotten(ledger: Ledger) -> Iterator[str]:
    """The last attempt that arrived ended the delivery, so the count covers all that arrived."""
    for id, attempts in ledger.attempts_received.items():
        counted = ledger.deliveries[id].attempts if id in ledger.deliveries else None
        if counted is None or counted < len(attempts) or counted != attempts[-1]:
            yield f"{id}: received {attempts}, counted {counted}"


def an_attempt_is_recorded_once(ledger: Ledger) -> Iterator[str]:
    """All are answered 200, so a second record would be of a delivery that had ended."""
    for id, times in Counter(delivery_id for delivery_id, _ in ledger.recorded).items():
        if times > 1:
            yield f"{id}: {times} records"


RULES: Sequence[Callable[[Ledger], Iterator[str]]] = (
    every_activation_is_one_event,
    every_activation_reaches_every_endpoint,
    a_later_message_has_a_higher_attempt,
    only_what_was_in_flight_at_a_kill_comes_again,
    nothing_is_received_without_a_claim,
    every_delivery_ends_delivered,
    no_attempt_is_forgotten,
    an_attempt_is_recorded_once,
)


async def read(
    db: Database, organization_id: UUID, received: Sequence[tuple[str, int, str, float]], killed: set[str]
) -> Ledger:
    """The rows of one organization, and the log of its receiver."""
    async with db.autocommit() as tx:
        activated = await tx.rows(ACTIVATIONS, organization_id)
        endpoints = await tx.rows("SELECT id FROM webhook_endpoint WHERE organization_id = $1", organization_id)
        events = await tx.rows("SELECT id FROM webhook_event WHERE organization_id = $1", organization_id)
        deliveries = await tx.rows("SELECT * FROM webhook_delivery WHERE organization_id = $1", organization_id)
        recorded = await tx.rows(
            "SELECT delivery_id, n FROM webhook_attempt WHERE organization_id = $1", organization_id
        )
        claims = await tx.rows("SELECT * FROM claim_log")
        queued = await tx.value("SELECT count(*) FROM webhook_queue WHERE organization_id = $1", organization_id)
    return Ledger(
        activations={row["activated_by"] for row in activated},
        endpoints={row["id"] for row in endpoints},
        events=[row["id"] for row in events],
        deliveries={
            row["id"]: Delivery(row["event_id"], row["endpoint_id"], row["state"], row["attempts"])
            for row in deliveries
        },
        recorded=[(row["delivery_id"], row["n"]) for row in recorded],
        claims={(row["delivery_id"], row["attempt"]): row["worker"] for row in claims},
        queued=queued,
        received=[(UUID(delivery), attempt) for _, attempt, delivery, _ in received],
        killed=killed,
    )


ACTIVATIONS = """
    SELECT activated_by
      FROM ticket
     WHERE organization_id = $1
       AND activated_at IS NOT NULL
"""
