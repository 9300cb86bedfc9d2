"""The answers of the service. New fields and new enum values never break a model: enums are strings, and `raw` has all.

Ids and enums such as `status` are strings, times are aware datetimes, prices are exact decimals in major units.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from gatepass_sdk._decode import Model


@dataclass(frozen=True, kw_only=True)
class TicketCategory(Model):
    id: str
    name: str
    price: Decimal
    currency: str
    quantity_total: int
    quantity_sold: int
    tier: str = "standard"
    updated_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Event(Model):
    """`status` is `draft`, `published`, `cancelled` or `ended`."""

    id: str
    title: str
    description: str | None
    venue: str | None
    city: str | None
    country: str | None
    starts_at: datetime
    ends_at: datetime
    cover_url: str | None
    status: str
    ticket_categories: tuple[TicketCategory, ...]
    time_zone: str = "UTC"
    updated_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class CardVerification(Model):
    """The result of verifying a card token.

    `status` is `active`, `suspended` or `revoked`. `reason` says why a token is not valid: `invalid_token`, `expired`,
    `card_suspended` or `card_revoked`. It is None for a valid token.
    """

    valid: bool
    expired: bool
    status: str | None
    card_number: str | None
    issued_at: datetime | None
    card_id: str | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class ScanResult(Model):
    """The ticket that was activated. `replayed` is True if an earlier try of this scan did it."""

    ticket_id: str
    tier: str
    category_name: str
    replayed: bool = False
    request_id: str | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True, kw_only=True)
class SecretRotation(Model):
    switches_at: datetime
    retires_at: datetime


@dataclass(frozen=True, kw_only=True)
class WebhookEndpoint(Model):
    """`status` is `active` or `paused`. `secret` is set when the endpoint was just created or its secret rotated."""

    id: str
    mode: str
    url: str
    types: tuple[str, ...]
    description: str | None
    status: str
    paused_reason: str | None
    failing_since: datetime | None
    rotation: SecretRotation | None
    created_at: datetime
    secret: str | None = None

    def __repr__(self) -> str:
        """Without the secret, so that it does not get into a log."""
        return f"WebhookEndpoint(id={self.id!r}, url={self.url!r}, status={self.status!r})"


@dataclass(frozen=True, kw_only=True)
class Delivery(Model):
    """`status` is `pending`, `delivered`, `held` or `failed`."""

    id: str
    event_id: str
    type: str
    status: str
    attempts: int
    next_attempt_at: datetime | None
    last_status: int | None
    last_error: str | None
    created_at: datetime
    ended_at: datetime | None
    replay_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class DeliveryAttempt(Model):
    n: int
    at: datetime
    status: int | None
    error: str | None
    total_ms: float
    answer_head: str | None
    address: str | None = None
    dns_ms: float | None = None
    connect_ms: float | None = None
    answer_ms: float | None = None


@dataclass(frozen=True, kw_only=True)
class DeliveryDetail(Delivery):
    """A delivery with its message and all its attempts."""

    attempts_made: tuple[DeliveryAttempt, ...]
    body: str | None


@dataclass(frozen=True, kw_only=True)
class Replay(Model):
    id: str
    status: str
    total: int
    done: int
    since: datetime
    until: datetime
    types: tuple[str, ...] | None
    statuses: tuple[str, ...]
    created_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class ReplayCount(Model):
    total: int
