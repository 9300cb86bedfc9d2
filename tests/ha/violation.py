"""What the judge can find."""

from typing import Final, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal[
    # An acknowledged activation is not in the database, or another scan has its ticket.
    "lost",
    # Two scans of one ticket were acknowledged or recorded as activations.
    "double",
    # An answer that is not true of this card, or that no gate should get.
    "wrong_verdict",
    # A status of 500 or above other than 503, or a 503 that is not ours.
    "http_500",
    # The load ended without a definite answer to a scan.
    "unresolved",
    # Two answers to one idempotency key.
    "replay_differs",
    # A 409 without a winner, with another one than the database has, or before the winner was sent.
    "not_linearizable",
    # The rows that a scan leaves beside its ticket.
    "stored_answer",
    "scan_record",
    "request_log",
    # The SDK told the gate something else than the service, or was certain and wrong.
    "sdk_outcome",
    # Messages: not written in the activation's transaction, not delivered, not in the feed, of nothing, in disorder.
    "outbox",
    "missing_webhook",
    "missing_feed",
    "untrue_message",
    "feed_order",
    "bad_signature",
    # An answer past the deadline of the service.
    "late_answer",
    # /readyz: green while no scan succeeds, red while they do.
    "not_ready_late",
    "ready_late",
]

# What depends on the speed of the machine. All others are promises that hold on any.
TIMINGS: Final = frozenset({"late_answer", "not_ready_late", "ready_late"})


class Violation(NamedTuple):
    kind: Kind
    what: str
