"""Activating a ticket: a card is shown at a gate and its ticket is used up.

Scans come in batches, and each has its own outcome. `activation.sql` beside this file does all of it in one transaction
and one round trip: idempotency keys, event, card, ticket, rules, the conditional UPDATE that decides the race, the rows
of the scan and of the request log, the webhook messages.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import asyncpg
import msgspec

from gatepass.base.clock import rfc3339
from gatepass.base.database import Tx
from gatepass.base.errors import Refusal
from gatepass.base.ids import digest_of
from gatepass.domain import twin
from gatepass.domain.cards import CardNotFound, CardRevoked, CardSuspended, Expired
from gatepass.domain.events import DoorsClosed, EventNotActive, EventNotFound
from gatepass.domain.idempotency import IdempotencyKeyReused, key_digest
from gatepass.domain.keys import Address, Mode
from gatepass.domain.sandbox import SandboxVerdict
from gatepass.domain.tickets.ticket import (
    AlreadyActivated,
    OutsideWindow,
    StaticCodeRefused,
    TicketCancelled,
    TicketNotFound,
    WrongGate,
)

ACTIVATED: Final = "activated"

REFUSALS: Final[dict[str, type[Refusal]]] = {
    refusal.code: refusal
    for refusal in (
        IdempotencyKeyReused,
        EventNotFound,
        EventNotActive,
        DoorsClosed,
        Expired,
        StaticCodeRefused,
        CardNotFound,
        CardSuspended,
        CardRevoked,
        TicketNotFound,
        TicketCancelled,
        AlreadyActivated,
        OutsideWindow,
        WrongGate,
    )
}
# The details of refusals that are moments; PostgreSQL writes them with the offset of its session.
MOMENTS: Final = frozenset({"doors_open_at", "valid_from", "valid_until"})

# A row rarely changes between two statements of a batch; three times in a row is a fault of ours.
ATTEMPTS: Final = 3


class Scan(msgspec.Struct, frozen=True):
    """One card shown at one gate.

    `signing_key` signed the token that was shown, or the certificate of the phone that made the code. `phone` is that
    phone's number, and `fresh` a token that ends so soon that nobody can lend it. `given` is the verdict on a scan for
    the sandbox's fictional event. A device's scan is stored with `assigned_gate`, the gate that it works for, whatever
    `gate` it wrote; a retry is known by the gate that was written.
    """

    request_id: UUID
    organization_id: UUID
    mode: Mode
    key_id: UUID
    address: Address | None
    elapsed_us: int
    idempotency_key: str | None
    event_id: UUID
    card_number: str
    shown: str
    expired: bool
    gate: str | None
    scanner_id: str | None
    occurred_at: datetime | None
    given: SandboxVerdict | None = None
    signing_key: UUID | None = None
    received_at: datetime | None = None
    phone: int | None = None
    fresh: bool = False
    assigned_gate: str | None = None

    def idempotency_digest(self) -> UUID | None:
        """The idempotency key within its organization. Live and sandbox keys are apart."""
        return None if self.idempotency_key is None else key_digest(self.mode, self.idempotency_key)

    def facts(self) -> str | None:
        """What few scans have: the phone that made the code; of the sandbox, whose data it is about and the verdict."""
        if self.mode is Mode.LIVE and self.phone is None and not self.fresh:
            return None
        facts: dict[str, object] = self.given.facts() if self.given else {}
        if self.mode is not Mode.LIVE:
            facts["twin"] = twin.twin_id(self.organization_id)
        if self.phone is not None:
            facts["phone"] = self.phone
        if self.fresh:
            facts["fresh"] = True
        return msgspec.json.encode(facts).decode()

    def fingerprint(self) -> UUID:
        """A digest of what the request asks for. A retry may be spelled differently, but not ask for something else."""
        occurred_at = rfc3339(self.occurred_at) if self.occurred_at else None
        return digest_of(self.event_id, self.shown, self.gate, self.scanner_id, occurred_at)


class ScanOutcome(msgspec.Struct, frozen=True):
    """The outcome of a scan: `activated`, or the code of a refusal."""

    request_id: UUID
    verdict: str
    replayed: bool
    ticket_id: UUID | None
    tier: str | None
    category_name: str | None
    first_at: datetime | None
    first_gate: str | None
    first_scanner_id: str | None
    details: str | None = None

    def refusal(self) -> Refusal | None:
        if self.verdict == ACTIVATED:
            return None
        if self.verdict == AlreadyActivated.code:
            return AlreadyActivated(
                activated_at=rfc3339(self.first_at) if self.first_at else None,
                gate=self.first_gate,
                scanner_id=self.first_scanner_id,
            )
        return REFUSALS[self.verdict](**self._rule())

    def _rule(self) -> dict[str, Any]:
        """What the rule says that refused it."""
        found: dict[str, Any] = msgspec.json.decode(self.details) if self.details else {}
        for name in MOMENTS & found.keys():
            found[name] = found[name] and rfc3339(datetime.fromisoformat(found[name]))
        return found


async def activate(
    tx: Tx, scans: Sequence[Scan], *, at: datetime, statuses: Mapping[Mode, Mapping[str, int]]
) -> list[ScanOutcome | None]:
    """Activate the tickets of these scans; an outcome for each, in their order.

    The outcome is None if the API key, or the key that signed the token, has ended: such a scan was not judged.

    `statuses` has the HTTP status of each verdict, for the request log. The statement is a transaction of its own, so
    `tx` must not be inside one.
    """
    arguments = _columns(scans, at, statuses)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            outcomes = [ScanOutcome(*row) for row in await tx.rows(ACTIVATE, *arguments)]
        except (asyncpg.SerializationError, asyncpg.DeadlockDetectedError):
            if attempt == ATTEMPTS:
                raise
        else:
            return _in_order(scans, outcomes)
    raise AssertionError


def _columns(scans: Sequence[Scan], at: datetime, statuses: Mapping[Mode, Mapping[str, int]]) -> list[object]:
    return [
        at,
        msgspec.json.encode(statuses).decode(),
        [scan.request_id for scan in scans],
        [scan.organization_id for scan in scans],
        [scan.mode.value for scan in scans],
        [scan.key_id for scan in scans],
        [scan.address and str(scan.address) for scan in scans],
        [scan.received_at for scan in scans],
        [scan.elapsed_us for scan in scans],
        [scan.idempotency_digest() for scan in scans],
        [scan.fingerprint() for scan in scans],
        [scan.event_id for scan in scans],
        [scan.card_number for scan in scans],
        [scan.signing_key for scan in scans],
        [scan.expired for scan in scans],
        [scan.gate if scan.assigned_gate is None else scan.assigned_gate for scan in scans],
        [scan.scanner_id for scan in scans],
        [scan.occurred_at for scan in scans],
        [scan.facts() for scan in scans],
    ]


def _in_order(scans: Sequence[Scan], outcomes: Sequence[ScanOutcome]) -> list[ScanOutcome | None]:
    by_request = {outcome.request_id: outcome for outcome in outcomes}
    return [by_request.get(scan.request_id) for scan in scans]


# In the order of ScanOutcome's fields.
ACTIVATE: Final = """
    SELECT request_id, verdict, replayed, ticket_id, tier, category_name, first_at, first_gate, first_scanner_id,
           details
      FROM judge_scans($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
"""
