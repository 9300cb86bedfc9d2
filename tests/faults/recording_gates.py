"""Gates that write down all that they ask and are told, and the tables that it has to agree with."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from gatepass.base.database import Tx
from gatepass.domain.keys import Mode
from gatepass.domain.tickets import activation
from tests import make
from tests.faults.gates import is_replayed, load, request_id
from tests.faults.records import ACTIVATED, REUSED, UNKNOWN, USED, Asked, Place, Request, Scan, Tables, Ticket, Told
from tests.faults.wire import Line
from tests.make import House
from tests.serving import Serving

# Far past every deadline of the service: who is not answered by then is not answered at all.
ANSWERED_WITHIN = 30.0
LOST = (asyncio.IncompleteReadError, ConnectionError, TimeoutError)


@dataclass
class Venue:
    """A house with a key that nothing limits, and cards that each have an unused ticket."""

    house: House
    key: str
    numbers: list[str]
    tokens_until: datetime
    tokens: dict[str, str] = field(default_factory=dict[str, str])

    def place(self, number: str) -> Place:
        return self.house.id, self.house.event_id, number

    def body(self, asked: Asked) -> dict[str, Any]:
        number = asked.place[2]
        shown = number if asked.way == "card_number" else self._token(number)
        return {"event_id": str(asked.place[1]), "gate": asked.gate, "scanner_id": asked.scanner, asked.way: shown}

    def _token(self, number: str) -> str:
        if number not in self.tokens:
            self.tokens[number] = self.house.sign(number, self.tokens_until)
        return self.tokens[number]


async def open_venue(house: House, tickets: int) -> Venue:
    key = await house.key(rate=1_000_000)
    return Venue(house, key.text, await load(house, tickets), make.now() + timedelta(days=1))


@dataclass
class Recorder:
    """All that was asked. A process whose number is in `killed` may leave us without an answer."""

    requests: list[Request] = field(default_factory=list[Request])
    killed: set[int] = field(default_factory=set[int])

    async def scan(self, line: Line, venue: Venue, asked: Asked, process: int) -> Request:
        line.key = venue.key
        started = time.monotonic()
        try:
            line.send(venue.body(asked), asked.retry_key)
            async with asyncio.timeout(ANSWERED_WITHIN):
                answer = await line.answer()
        except LOST:
            told = None
        else:
            told = Told(request_id(answer), answer.status_code, answer.content, is_replayed(answer))
        one = Request(asked, started, time.monotonic(), told, process, excused=process in self.killed)
        self.requests.append(one)
        return one

    def tally(self) -> str:
        told = [one.told for one in self.requests if one.told is not None]
        verdicts = Counter(one.verdict for one in told if not one.replayed)
        counts = {
            "requests": len(self.requests),
            "activations": verdicts[ACTIVATED],
            "conflicts": verdicts[USED],
            "replays": sum(one.replayed for one in told),
            "keys reused": verdicts[REUSED],
            "told to try again": sum(one.status == UNKNOWN for one in told),
            "not answered": len(self.requests) - len(told),
        }
        return ", ".join(f"{name} {count}" for name, count in counts.items())


async def connect(serving: Serving, venue: Venue) -> Line:
    return Line(*await asyncio.open_connection("127.0.0.1", serving.port), venue.key)


async def tables(venues: Sequence[Venue], requests: Sequence[Request]) -> Tables:
    """What the database holds of these houses."""
    # Retry keys are kept as digests; one that nobody sent keeps its digest for a name.
    names = {activation._digest(Mode.LIVE, key): key for key in {one.asked.retry_key for one in requests} if key}
    found = Tables({}, [], [], [])
    for venue in venues:
        house = venue.house
        async with house.db.reading() as tx:
            found.tickets = {**found.tickets, **await _tickets(tx, house)}
            found.scans = [*found.scans, *await _scans(tx, house)]
            kept = await tx.rows("SELECT retry_key, verdict FROM idempotency WHERE organization_id = $1", house.id)
            audit = await tx.rows(
                "SELECT id, status FROM audit WHERE organization_id = $1 AND path = '/scan'", house.id
            )
        found.kept = [
            *found.kept,
            *(((house.id, names.get(row["retry_key"], str(row["retry_key"]))), row["verdict"]) for row in kept),
        ]
        found.audit = [*found.audit, *((row["id"], row["status"]) for row in audit)]
    return found


async def _tickets(tx: Tx, house: House) -> dict[Place, Ticket]:
    return {
        (house.id, row["event_id"], row["number"]): Ticket(
            row["id"],
            row["activated_at"],
            row["activated_by"],
            row["activated_gate"],
            row["activated_scanner_id"],
        )
        for row in await tx.rows(TICKETS, house.id)
    }


async def _scans(tx: Tx, house: House) -> list[Scan]:
    return [
        Scan(
            row["id"],
            (house.id, row["event_id"], row["card_number"]),
            row["verdict"],
            row["gate"],
            row["scanner_id"],
        )
        for row in await tx.rows(SCANS, house.id)
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
