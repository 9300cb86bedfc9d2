"""Everything that a fake remembers. The sandbox and the live side share nothing but the organization."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from gatepass_sdk.testing._cards import FakeCard, Signer
from gatepass_sdk.testing._deliveries import Delivery
from gatepass_sdk.testing._endpoint import Endpoint
from gatepass_sdk.testing._messages import Message
from gatepass_sdk.testing._replays import Replay
from gatepass_sdk.testing._scans import FakeScan, Verdict

SANDBOX: Final = "sandbox"
LIVE: Final = "live"
ORGANIZATION: Final = UUID("0197a000-0000-7000-8000-0000000000a0")


@dataclass
class Side:
    """What there is in one mode."""

    mode: str
    events: list[dict[str, Any]]
    endpoints: list[Endpoint] = field(default_factory=list[Endpoint])
    messages: list[Message] = field(default_factory=list[Message])
    deliveries: list[Delivery] = field(default_factory=list[Delivery])
    replays: list[Replay] = field(default_factory=list[Replay])
    # By their Idempotency-Key: what was asked, and what was answered.
    kept: dict[str, tuple[object, Verdict]] = field(default_factory=dict[str, tuple[object, Verdict]])


@dataclass
class World:
    clock: Callable[[], datetime]
    new_id: Callable[[], UUID]
    allow_private: bool
    sides: Mapping[str, Side]
    signer: Signer
    cards: list[FakeCard] = field(default_factory=list[FakeCard])
    scans: list[FakeScan] = field(default_factory=list[FakeScan])
    organization_id: UUID = ORGANIZATION

    def now(self) -> datetime:
        return self.clock().astimezone(UTC)
