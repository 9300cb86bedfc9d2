"""A scan of the queue, and its verdict."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from gatepass_sdk._decode import read
from gatepass_sdk.errors import APIStatusError
from gatepass_sdk.models import ScanResult

# The service keeps an answer for its key at least this long. A scan that is sent again later is a new one for it.
ANSWERS_KEPT: Final = timedelta(hours=24)
# The largest accepted difference between the clocks of a gate and of the service, as in the service.
CLOCKS_DIFFER: Final = timedelta(minutes=2)
# Refused before the service looks for an earlier answer, so they say nothing about an earlier try.
UNJUDGED: Final = frozenset({"invalid_request", "invalid_token", "request_too_large"})


@dataclass(frozen=True, kw_only=True)
class QueuedScan:
    """`sent_at` is the time of its first try; None if there was none."""

    id: int
    idempotency_key: str
    event_id: str
    card: str
    card_number: str | None
    token: str | None = field(repr=False)
    scanner_id: str | None
    gate: str | None
    occurred_at: datetime
    sent_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The answer of the service: a ticket, or a refusal with its status and code."""

    ticket: Mapping[str, Any] | None = None
    status: int
    code: str | None = None
    message: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    request_id: str | None = None
    replayed: bool = False
    probably_ours: bool = False
    outcome_unknown: bool = False

    @classmethod
    def activated(cls, ticket: ScanResult) -> "Outcome":
        return cls(ticket=ticket.raw, status=200, request_id=ticket.request_id, replayed=ticket.replayed)

    @classmethod
    def refused(cls, error: APIStatusError, scan: QueuedScan, *, at: datetime, activated_by_another: bool) -> "Outcome":
        """`activated_by_another` if another scan of this queue is known to have activated the ticket."""
        was_lost = scan.sent_at is not None
        return cls(
            status=error.status,
            code=error.code,
            message=error.message,
            details=error.details,
            request_id=error.request_id,
            replayed=error.replayed,
            probably_ours=not activated_by_another and is_own_activation(error, scan, at),
            outcome_unknown=error.outcome_unknown or (was_lost and error.code in UNJUDGED),
        )

    def as_dict(self) -> dict[str, Any]:
        return asdict(replace(self, details=dict(self.details)))


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The final answer to a scan of the queue.

    `ticket` is the ticket that it activated, or None: then `status`, `code`, `message` and `details` say why, as in an
    `APIStatusError`. `replayed` is True if an earlier try reached the service, and this is the answer to it.

    Two flags mark what cannot be known for certain. Both need an earlier try whose answer was lost.

    - `probably_ours`: refused as already activated, but probably by this scan itself: it was first sent more than 24
      hours ago, and after that its scanner and gate activated the ticket. It needs a `scanner_id`.
    - `outcome_unknown`: the scan is too old for the service (72 hours), and the lost try may have activated the
      ticket.
    """

    id: int
    idempotency_key: str
    event_id: str
    card: str
    scanner_id: str | None
    gate: str | None
    occurred_at: datetime
    answered_at: datetime
    ticket: ScanResult | None
    status: int
    code: str | None
    message: str | None
    details: Mapping[str, Any]
    request_id: str | None
    replayed: bool
    probably_ours: bool
    outcome_unknown: bool

    @classmethod
    def of(cls, scan: QueuedScan, outcome: Outcome, answered_at: datetime) -> "Verdict":
        ticket = None if outcome.ticket is None else read(ScanResult, outcome.ticket)
        return cls(
            id=scan.id,
            idempotency_key=scan.idempotency_key,
            event_id=scan.event_id,
            card=scan.card,
            scanner_id=scan.scanner_id,
            gate=scan.gate,
            occurred_at=scan.occurred_at,
            answered_at=answered_at,
            ticket=ticket
            and replace(
                ticket,
                replayed=outcome.replayed,
                request_id=outcome.request_id,
                idempotency_key=scan.idempotency_key,
            ),
            status=outcome.status,
            code=outcome.code,
            message=outcome.message,
            details=outcome.details,
            request_id=outcome.request_id,
            replayed=outcome.replayed,
            probably_ours=outcome.probably_ours,
            outcome_unknown=outcome.outcome_unknown,
        )


def is_own_activation(error: APIStatusError, scan: QueuedScan, at: datetime) -> bool:
    """Whether "already activated" means this scan itself, whose first answer was lost and is no longer kept."""
    if error.code != "already_activated" or scan.scanner_id is None:
        return False
    if scan.sent_at is None or at - scan.sent_at < ANSWERS_KEPT:
        return False
    details = error.details
    try:
        activated_at = datetime.fromisoformat(str(details.get("activated_at")))
        was_on_its_way = scan.sent_at - CLOCKS_DIFFER <= activated_at
    except (ValueError, TypeError):
        return False
    return was_on_its_way and (details.get("scanner_id"), details.get("gate")) == (scan.scanner_id, scan.gate)
