"""Webhooks: messages about changes, delivered to subscribed endpoints at least once, in order, signed."""

from gatepass.domain.webhooks.deliveries import (
    AttemptMade,
    Delivery,
    DeliveryNotFound,
    DeliveryStatus,
    attempts_of,
    body_of,
    deliveries_of,
    find_delivery,
    headers_of,
)
from gatepass.domain.webhooks.endpoint_editing import change_endpoint, delete_endpoint
from gatepass.domain.webhooks.endpoints import (
    Endpoint,
    EndpointStatus,
    PausedReason,
    Rotation,
    TooManyEndpoints,
    WebhookNotFound,
    create_endpoint,
    endpoints_of,
    find_endpoint,
)
from gatepass.domain.webhooks.feed import FeedCursor, FeedPage, open_feed, read_feed
from gatepass.domain.webhooks.health import EndpointHealth, health_of, healths_of
from gatepass.domain.webhooks.message import SUBSCRIBABLE, Message, MessageType, written_id
from gatepass.domain.webhooks.outbox import emit, ping, subscribed_types
from gatepass.domain.webhooks.replay_requests import (
    Selection,
    begin_replay,
    count_selected,
    replay_one,
    resent_id,
    select,
    select_one,
)
from gatepass.domain.webhooks.replays import (
    Replay,
    ReplayNotFound,
    ReplayStatus,
    advance_some,
    find_replay,
    replays_of,
    stop_replay,
)
from gatepass.domain.webhooks.rotation import rotate_secret, switch_secret
from gatepass.domain.webhooks.signature import secret_context

__all__ = [
    "SUBSCRIBABLE",
    "AttemptMade",
    "Delivery",
    "DeliveryNotFound",
    "DeliveryStatus",
    "Endpoint",
    "EndpointHealth",
    "EndpointStatus",
    "FeedCursor",
    "FeedPage",
    "Message",
    "MessageType",
    "PausedReason",
    "Replay",
    "ReplayNotFound",
    "ReplayStatus",
    "Rotation",
    "Selection",
    "TooManyEndpoints",
    "WebhookNotFound",
    "advance_some",
    "attempts_of",
    "begin_replay",
    "body_of",
    "change_endpoint",
    "count_selected",
    "create_endpoint",
    "delete_endpoint",
    "deliveries_of",
    "emit",
    "endpoints_of",
    "find_delivery",
    "find_endpoint",
    "find_replay",
    "headers_of",
    "health_of",
    "healths_of",
    "open_feed",
    "ping",
    "read_feed",
    "replay_one",
    "replays_of",
    "resent_id",
    "rotate_secret",
    "secret_context",
    "select",
    "select_one",
    "stop_replay",
    "subscribed_types",
    "switch_secret",
    "written_id",
]
