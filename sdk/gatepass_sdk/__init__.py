"""Gatepass for Python.

from gatepass_sdk import Gatepass

client = Gatepass()  # GATEPASS_API_KEY and GATEPASS_BASE_URL
ticket = client.scans.create("00000000-0000-0000-0000-00000000e7e7", card_number="TEST_VALID", gate="North 2")
"""

from gatepass_sdk._async.client import AsyncGatepass
from gatepass_sdk._async.pages import AsyncPage, AsyncPages
from gatepass_sdk._sync.client import Gatepass
from gatepass_sdk._sync.pages import Page, Pages
from gatepass_sdk._version import __version__
from gatepass_sdk.errors import (
    AlreadyUsed,
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AuthenticationError,
    BadRequest,
    ConfigurationError,
    Conflict,
    Expired,
    GatepassError,
    NotFound,
    PermissionDenied,
    QueueError,
    QueueInUse,
    RateLimited,
    ServerError,
    ValidationError,
    WebhookVerificationError,
)
from gatepass_sdk.models import (
    CardVerification,
    Delivery,
    DeliveryAttempt,
    DeliveryDetail,
    Event,
    Replay,
    ScanResult,
    SecretRotation,
    TicketCategory,
    WebhookEndpoint,
)
from gatepass_sdk.queue import Drained, Resent, ScanQueue, Verdict, resend_scans
from gatepass_sdk.tokens import CardKeys, TokenReading
from gatepass_sdk.webhooks import (
    ActivatedTicket,
    CancelledEvent,
    CancelledTicket,
    EventCancelled,
    OtherEvent,
    TicketActivated,
    TicketCancelled,
    WebhookEvent,
)

# The only event of the sandbox.
SANDBOX_EVENT_ID = "00000000-0000-0000-0000-00000000e7e7"

__all__ = [
    "SANDBOX_EVENT_ID",
    "APIConnectionError",
    "APIStatusError",
    "APITimeoutError",
    "ActivatedTicket",
    "AlreadyUsed",
    "AsyncGatepass",
    "AsyncPage",
    "AsyncPages",
    "AuthenticationError",
    "BadRequest",
    "CancelledEvent",
    "CancelledTicket",
    "CardKeys",
    "CardVerification",
    "ConfigurationError",
    "Conflict",
    "Delivery",
    "DeliveryAttempt",
    "DeliveryDetail",
    "Drained",
    "Event",
    "EventCancelled",
    "Expired",
    "Gatepass",
    "GatepassError",
    "NotFound",
    "OtherEvent",
    "Page",
    "Pages",
    "PermissionDenied",
    "QueueError",
    "QueueInUse",
    "RateLimited",
    "Replay",
    "Resent",
    "ScanQueue",
    "ScanResult",
    "SecretRotation",
    "ServerError",
    "TicketActivated",
    "TicketCancelled",
    "TicketCategory",
    "TokenReading",
    "ValidationError",
    "Verdict",
    "WebhookEndpoint",
    "WebhookEvent",
    "WebhookVerificationError",
    "__version__",
    "resend_scans",
]
