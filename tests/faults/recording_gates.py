"""Gates that record every request and answer, and the tables that must agree with them."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from gatepass.base.database import Tx
from gatepass.domain import idempotency
from gatepass.domain.keys import Mode
from tests import factory
from tests.factory import Tenant
from tests.faults.gates import is_replayed, load, request_id
from tests.faults.http_client import Connection
from tests.faults.records import (
    ACTIVATED,
    REUSED,
    UNKNOWN,
    USED,
    Exchange,
    Scan,
    ScanAnswer,
    ScanRequest,
    Tables,
    Ticket,
    TicketKey,
)
from tests.processes import GatepassProcess

# Far past every deadline of the service: a request without an answer by then gets none.
ANSWERED_WITHIN = 60.0
LOST = (asyncio.IncompleteReadError, ConnectionError, TimeoutError)


@dataclass
class Venue:
    """An organization with a key without a rate limit, and cards that each have an unused ticket."""

    tenant: Tenant
    key: str
    numbers: list[str]
    tokens_until: datetime
    tokens: dict[str, str] = field(default_factory=dict[str, str])

    def ticket_key(self, number: str) -> TicketKey:
        return self.tenant.id, self.tenant.event_id, number

    def body(self, request: ScanRequest) -> dict[str, Any]:
        number = request.ticket_key[2]
        shown = number if request.way == "card_number" else self._token(number)
        return {
            "event_id": str(request.ticket_key[1]),
            "gate": request.gate,
            "scanner_id": request.scanner,
            request.way: shown,
        }

    def _token(self, number: str) -> str:
        if number not in self.tokens:
            self.tokens[number] = self.tenant.sign(number, self.tokens_until)
        return self.tokens[number]


async def open_venue(tenant: Tenant, tickets: int) -> Venue:
    key = await tenant.key(rate=1_000_000)
    return Venue(tenant, key.text, await load(tenant, tickets), factory.now() + timedelta(days=1))


@dataclass
class Recorder:
    """Every exchange. A process whose number is in `killed` may leave a request without an answer."""

    exchanges: list[Exchange] = field(default_factory=list[Exchange])
    killed: set[int] = field(default_factory=set[int])

    async def scan(self, connection: Connection, venue: Venue, request: ScanRequest, process: int) -> Exchange:
        connection.key = venue.key
        started = time.monotonic()
        try:
            connection.send(venue.body(request), request.idempotency_key)
            async with asyncio.timeout(ANSWERED_WITHIN):
                raw = await connection.answer()
        except LOST:
            answer = None
        else:
            answer = ScanAnswer(request_id(raw), raw.status_code, raw.content, is_replayed(raw))
        one = Exchange(request, started, time.monotonic(), answer, process, excused=process in self.killed)
        self.exchanges.append(one)
        return one

    def summary(self) -> str:
        answers = [one.answer for one in self.exchanges if one.answer is not None]
        verdicts = Counter(one.verdict for one in answers if not one.replayed)
        counts = {
            "requests": len(self.exchanges),
            "activations": verdicts[ACTIVATED],
            "conflicts": verdicts[USED],
            "replays": sum(one.replayed for one in answers),
            "keys reused": verdicts[REUSED],
            "answered 503": sum(one.status == UNKNOWN for one in answers),
            "not answered": len(self.exchanges) - len(answers),
        }
        return ", ".join(f"{name} {count}" for name, count in counts.items())


async def connect(server: GatepassProcess, venue: Venue) -> Connection:
    return Connection(*await asyncio.open_connection("127.0.0.1", server.port), venue.key)


async def tables(venues: Sequence[Venue], exchanges: Sequence[Exchange]) -> Tables:
    """The rows of these organizations."""
    # Idempotency keys are stored as digests; a key that no gate has sent is named by its digest.
    names = {
        idempotency.key_digest(Mode.LIVE, key): key for key in {one.request.idempotency_key for one in exchanges} if key
    }
    found = Tables({}, [], [], [])
    for venue in venues:
        tenant = venue.tenant
        async with tenant.db.autocommit() as tx:
            found.tickets = {**found.tickets, **await _tickets(tx, tenant)}
            found.scans = [*found.scans, *await _scans(tx, tenant)]
            stored = await tx.rows(
                "SELECT idempotency_key, verdict FROM idempotency WHERE organization_id = $1", tenant.id
            )
            logged = await tx.rows(
                "SELECT id, status FROM logged_call WHERE organization_id = $1 AND path = '/scan'", tenant.id
            )
        found.stored = [
            *found.stored,
            *(
                ((tenant.id, names.get(row["idempotency_key"], str(row["idempotency_key"]))), row["verdict"])
                for row in stored
            ),
        ]
        found.request_log = [*found.request_log, *((row["id"], row["status"]) for row in logged)]
    return found


async def _tickets(tx: Tx, tenant: Tenant) -> dict[TicketKey, Ticket]:
    return {
        (tenant.id, row["event_id"], row["number"]): Ticket(
            row["id"],
            row["activated_at"],
            row["activated_by"],
            row["activated_gate"],
            row["activated_scanner_id"],
        )
        for row in await tx.rows(TICKETS, tenant.id)
    }


async def _scans(tx: Tx, tenant: Tenant) -> list[Scan]:
    return [
        Scan(
            row["id"],
            (tenant.id, row["event_id"], row["card_number"]),
            row["verdict"],
            row["gate"],
            row["scanner_id"],
        )
        for row in await tx.rows(SCANS, tenant.id)
    ]


TICKETS = """
    SELECT t.*, c.number
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
     WHERE t.organization_id = $1
"""

SCANS = """
    SELECT id, event_id, card_number, verdict, gate, scanner_id
      FROM scan
     WHERE organization_id = $1
"""
