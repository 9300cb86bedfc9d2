"""The answers of the service. New fields and new enum values never break a model: enums are strings, and `raw` has all.

Ids and enums such as `status` are strings, times are aware datetimes, prices are exact decimals in major units.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from gatepass_sdk._decode import Model, Versioned
from gatepass_sdk._models.device import Device as Device  # noqa: PLC0414  it is one of these models
from gatepass_sdk._models.device import DeviceEvent as DeviceEvent  # noqa: PLC0414  it is one of these models
from gatepass_sdk._models.device import DeviceSettings as DeviceSettings  # noqa: PLC0414  it is one of these models
from gatepass_sdk._models.device import Heartbeat as Heartbeat  # noqa: PLC0414  it is one of these models
from gatepass_sdk._models.incident import FirstAdmission as FirstAdmission  # noqa: PLC0414  it is one of these models
from gatepass_sdk._models.incident import Incident as Incident  # noqa: PLC0414  it is one of these models
from gatepass_sdk._models.incident import JournalEntryResult as JournalEntryResult  # noqa: PLC0414  it is one of these models
from gatepass_sdk._models.incident import OpenedIncident as OpenedIncident  # noqa: PLC0414  it is one of these models
from gatepass_sdk._models.incident import ScanBatch as ScanBatch  # noqa: PLC0414  it is one of these models
from gatepass_sdk.errors import APIStatusError, class_of


@dataclass(frozen=True, kw_only=True)
class TicketCategory(Versioned):
    """Its tickets open `gates`, from `valid_from` until before `valid_until`; None: all gates, always."""

    id: str
    name: str
    price: Decimal
    currency: str
    quantity_total: int
    quantity_sold: int
    tier: str = "standard"
    updated_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    gates: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Event(Versioned):
    """`status` is `draft`, `published`, `cancelled` or `ended`.

    `offline` says whom a device without a network admits: `manifest`, `signature` or `stop`.
    """

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
    codes: str = "any"
    updated_at: datetime | None = None
    doors_open_at: datetime | None = None
    offline: str = "manifest"


@dataclass(frozen=True, kw_only=True)
class Holder(Model):
    """The person who holds a card. A companion's card carries the holder who booked for both."""

    name: str
    email: str | None
    locale: str | None
    companion: bool


@dataclass(frozen=True, kw_only=True)
class Card(Versioned):
    """`status` is `active`, `suspended` or `revoked`."""

    id: str
    number: str
    status: str
    holder: Holder | None
    external_id: str | None
    issued_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class CardLink(Model):
    """The link of a card's page, which shows the holder the card and its code. Whoever has it sees the card."""

    url: str

    def __repr__(self) -> str:
        """Without the link, so that it does not get into a log."""
        return "CardLink(url=…)"


@dataclass(frozen=True, kw_only=True)
class CardToken(Model):
    """A token that the app of a participant shows as a code. Whoever has it gets in."""

    card_id: str
    token: str
    expires_at: datetime

    def __repr__(self) -> str:
        """Without the token, so that it does not get into a log."""
        return f"CardToken(card_id={self.card_id!r}, expires_at={self.expires_at!r})"


@dataclass(frozen=True, kw_only=True)
class Ticket(Model):
    """`state` is `issued`, `activated` or `cancelled`."""

    id: str
    event_id: str
    category_id: str
    tier: str
    category_name: str
    card_id: str
    card_number: str
    external_id: str | None
    state: str
    issued_at: datetime
    activated_at: datetime | None
    gate: str | None
    scanner_id: str | None
    cancelled_at: datetime | None
    cancel_reason: str | None
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class ItemResult(Model):
    """The result of one item of a batch. A refused item has `error` and `code`, and no data."""

    status: int
    error: str | None = None
    code: str | None = None
    param: str | None = None

    @property
    def refusal(self) -> APIStatusError | None:
        """The error that a call for this item alone would have raised; None if it was not refused."""
        if self.code is None:
            return None
        kind = class_of(self.status, self.code)
        return kind(self.error or "", status=self.status, code=self.code, param=self.param)


@dataclass(frozen=True, kw_only=True)
class TicketResult(ItemResult):
    """`status` is 201 for a new ticket, and 200 for one that the same request made before."""

    data: Ticket | None = None


@dataclass(frozen=True, kw_only=True)
class CardTokenResult(ItemResult):
    """A token, or why this card gets none."""

    data: CardToken | None = None


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
class RecordedScan(Model):
    """A scan and its verdict: `activated`, or the code of a refusal. Lists go on from its `cursor`."""

    id: str
    scanned_at: datetime
    event_id: str
    card_number: str
    card_id: str | None
    ticket_id: str | None
    verdict: str
    gate: str | None
    scanner_id: str | None
    occurred_at: datetime | None
    cursor: str


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
