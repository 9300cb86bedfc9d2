"""The data of a fake: cards, tickets, scans, endpoints, messages, deliveries, replays. It imports no handler.

The sandbox and the live side share nothing but the organization.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from gatepass_sdk.testing._platform.records import CardRecord, DeviceRecord, ScanRecord, TicketRecord
from gatepass_sdk.testing._signer import TokenSigner
from gatepass_sdk.testing._times import maybe_rfc3339, rfc3339

SANDBOX: Final = "sandbox"
LIVE: Final = "live"
ORGANIZATION: Final = UUID("0197a000-0000-7000-8000-0000000000a0")

# Lists are sorted by it, and their cursors hold it.
Position = tuple[datetime, UUID]


@dataclass(frozen=True)
class FakeScan:
    """A scan that was decided: its request, and the verdict, which is `activated` or the code of a refusal."""

    event_id: str
    card_number: str
    verdict: str
    replayed: bool
    gate: str | None
    scanner_id: str | None
    occurred_at: datetime | None
    idempotency_key: str | None
    at: datetime


@dataclass(frozen=True)
class Decision:
    """The verdict on a scan, and the ticket in its answer."""

    verdict: str
    ticket_id: UUID | None = None
    tier: str | None = None
    category_name: str | None = None
    details: Mapping[str, Any] | None = None
    card_id: UUID | None = None

    @property
    def data(self) -> dict[str, Any]:
        return {"ticket_id": str(self.ticket_id), "tier": self.tier, "category_name": self.category_name}


@dataclass
class EndpointRecord:
    id: UUID
    mode: str
    url: str
    types: list[str]
    description: str | None
    secret: str
    created_at: datetime
    is_paused: bool = False
    new_secret: str | None = None
    switches_at: datetime | None = None
    retires_at: datetime | None = None

    @property
    def position(self) -> Position:
        return self.created_at, self.id

    def rotation(self, at: datetime) -> dict[str, str] | None:
        """The rotation that is under way at this time."""
        if self.switches_at is None or self.retires_at is None or self.retires_at <= at:
            return None
        return {"switches_at": rfc3339(self.switches_at), "retires_at": rfc3339(self.retires_at)}

    def shown(self, at: datetime, **more: str | None) -> dict[str, Any]:
        return {
            "id": str(self.id),
            "mode": self.mode,
            "url": self.url,
            "types": self.types,
            "description": self.description,
            "status": "paused" if self.is_paused else "active",
            "paused_reason": "requested" if self.is_paused else None,
            "failing_since": None,
            "rotation": self.rotation(at),
            "created_at": rfc3339(self.created_at),
            **more,
        }


@dataclass(frozen=True)
class MessageRecord:
    """`number` is its position in the feed."""

    id: UUID
    number: int
    type: str
    at: datetime
    body: bytes


@dataclass
class DeliveryRecord:
    id: UUID
    endpoint: EndpointRecord
    message: MessageRecord
    at: datetime
    ended_at: datetime | None = None
    replay_id: UUID | None = None

    @property
    def position(self) -> Position:
        return self.at, self.id

    @property
    def status(self) -> str:
        if self.ended_at is not None:
            return "delivered"
        return "held" if self.endpoint.is_paused else "pending"

    def shown(self) -> dict[str, Any]:
        sent = self.ended_at is not None
        return {
            "id": str(self.id),
            "event_id": f"evt_{self.message.id.hex}",
            "type": self.message.type,
            "status": self.status,
            "attempts": 1 if sent else 0,
            "next_attempt_at": rfc3339(self.at) if self.status == "pending" else None,
            "last_status": 200 if sent else None,
            "last_error": None,
            "created_at": rfc3339(self.at),
            "ended_at": maybe_rfc3339(self.ended_at),
            "replay_id": None if self.replay_id is None else str(self.replay_id),
        }

    def detail(self) -> dict[str, Any]:
        attempt: dict[str, Any] = {
            "n": 1,
            "at": maybe_rfc3339(self.ended_at),
            "status": 200,
            "error": None,
            "address": None,
        }
        attempt |= {"dns_ms": None, "connect_ms": None, "answer_ms": 1.0, "total_ms": 1.0, "answer_head": ""}
        made = [] if self.ended_at is None else [attempt]
        return {**self.shown(), "attempts_made": made, "body": self.message.body.decode()}


@dataclass
class ReplayRecord:
    id: UUID
    endpoint: EndpointRecord
    since: datetime
    until: datetime
    types: list[str] | None
    statuses: list[str]
    chosen: list[DeliveryRecord]
    created_at: datetime
    ended_at: datetime | None = None

    @property
    def position(self) -> Position:
        return self.created_at, self.id

    def shown(self) -> dict[str, Any]:
        total = len(self.chosen)
        return {
            "id": str(self.id),
            "status": "running" if self.ended_at is None else "done",
            "total": total,
            "done": 0 if self.ended_at is None else total,
            "since": rfc3339(self.since),
            "until": rfc3339(self.until),
            "types": self.types,
            "statuses": self.statuses,
            "created_at": rfc3339(self.created_at),
            "ended_at": maybe_rfc3339(self.ended_at),
        }


@dataclass
class Side:
    """The data of one mode."""

    mode: str
    events: list[dict[str, Any]]
    endpoints: list[EndpointRecord] = field(default_factory=list[EndpointRecord])
    messages: list[MessageRecord] = field(default_factory=list[MessageRecord])
    deliveries: list[DeliveryRecord] = field(default_factory=list[DeliveryRecord])
    replays: list[ReplayRecord] = field(default_factory=list[ReplayRecord])
    cards: list[CardRecord] = field(default_factory=list[CardRecord])
    tickets: list[TicketRecord] = field(default_factory=list[TicketRecord])
    scans: list[ScanRecord] = field(default_factory=list[ScanRecord])
    devices: list[DeviceRecord] = field(default_factory=list[DeviceRecord])
    # By event: why it was cancelled.
    cancelled: dict[str, str] = field(default_factory=dict[str, str])
    # By event: when it ended.
    ended: dict[str, datetime] = field(default_factory=dict[str, datetime])
    # By Idempotency-Key: the fingerprint of the request, and what its answer is made of.
    answers: dict[str, tuple[object, Any]] = field(default_factory=dict[str, tuple[object, Any]])


@dataclass
class World:
    clock: Callable[[], datetime]
    new_id: Callable[[], UUID]
    allow_private: bool
    sides: Mapping[str, Side]
    signers: dict[str, TokenSigner]
    scans: list[FakeScan] = field(default_factory=list[FakeScan])
    organization_id: UUID = ORGANIZATION

    def signer(self, mode: str) -> TokenSigner:
        """The sandbox has a key of its own from its first token on."""
        return self.signers.setdefault(mode, TokenSigner())

    def now(self) -> datetime:
        return self.clock().astimezone(UTC)
