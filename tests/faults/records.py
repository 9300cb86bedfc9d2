"""Records of a run: the scans of the gates, their answers, and the rows in the database at the end."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID

# Organization, event, card number: at most one ticket that can be used.
TicketKey = tuple[UUID, UUID, str]
IdempotencyKey = tuple[UUID, str]
# A card at a gate and a scanner: the columns of `scan` that identify a request.
Name = tuple[TicketKey, str | None, str | None]

ACTIVATED, USED, REUSED = "activated", "already_activated", "idempotency_key_reused"
UNKNOWN = 503


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """One scan as a gate sends it. A retry is equal; another body under the same key is not."""

    ticket_key: TicketKey
    gate: str
    scanner: str
    idempotency_key: str | None = None
    way: str = "card_number"

    @property
    def key(self) -> IdempotencyKey | None:
        return None if self.idempotency_key is None else (self.ticket_key[0], self.idempotency_key)

    @property
    def name(self) -> Name:
        return self.ticket_key, self.gate, self.scanner


@dataclass(frozen=True)
class ScanAnswer:
    request_id: UUID
    status: int
    body: bytes
    replayed: bool = False

    @cached_property
    def json(self) -> Any:
        return json.loads(self.body)

    @cached_property
    def verdict(self) -> str:
        return ACTIVATED if self.status == 200 else str(self.json.get("code"))

    def is_definite(self) -> bool:
        return self.status != UNKNOWN


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its answer, timed by the clock of the gates.

    `answer` is None if none came; `excused` says that we had killed the process.
    """

    request: ScanRequest
    started: float
    ended: float
    answer: ScanAnswer | None
    process: int = 0
    excused: bool = False

    def is_definite(self) -> bool:
        return self.answer is not None and self.answer.is_definite()


@dataclass(frozen=True, slots=True)
class Ticket:
    id: UUID
    activated_at: datetime | None = None
    activated_by: UUID | None = None
    gate: str | None = None
    scanner: str | None = None


@dataclass(frozen=True, slots=True)
class Scan:
    id: UUID
    ticket_key: TicketKey
    verdict: str
    gate: str | None
    scanner: str | None

    @property
    def name(self) -> Name:
        return self.ticket_key, self.gate, self.scanner


@dataclass
class Tables:
    tickets: Mapping[TicketKey, Ticket]
    scans: Sequence[Scan]
    stored: Sequence[tuple[IdempotencyKey, str]]
    request_log: Sequence[tuple[UUID, int]]
