"""Records of a run: what the gates asked and were told, and what the database holds in the end."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID

# Organization, event, number of the card: at most one ticket that can be used.
Place = tuple[UUID, UUID, str]
RetryKey = tuple[UUID, str]
# A card at a gate and a scanner: what a row of `scan` knows of a request.
Name = tuple[Place, str | None, str | None]

ACTIVATED, USED, REUSED = "activated", "already_activated", "idempotency_key_reused"
UNKNOWN = 503


@dataclass(frozen=True, slots=True)
class Asked:
    """What a gate asks for. A retry asks the same again; another body under the same key is not equal."""

    place: Place
    gate: str
    scanner: str
    retry_key: str | None = None
    way: str = "card_number"

    @property
    def key(self) -> RetryKey | None:
        return None if self.retry_key is None else (self.place[0], self.retry_key)

    @property
    def name(self) -> Name:
        return self.place, self.gate, self.scanner


@dataclass(frozen=True)
class Told:
    request: UUID
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
class Request:
    """One request, by the clock of the gates. `told` is None if no answer came; `excused`, if that was our doing."""

    asked: Asked
    started: float
    ended: float
    told: Told | None
    process: int = 0
    excused: bool = False

    def is_definite(self) -> bool:
        return self.told is not None and self.told.is_definite()


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
    place: Place
    verdict: str
    gate: str | None
    scanner: str | None

    @property
    def name(self) -> Name:
        return self.place, self.gate, self.scanner


@dataclass
class Tables:
    tickets: Mapping[Place, Ticket]
    scans: Sequence[Scan]
    kept: Sequence[tuple[RetryKey, str]]
    audit: Sequence[tuple[UUID, int]]
