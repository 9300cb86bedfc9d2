"""Texts of the pages on webhooks: message types, errors, statuses, pauses, and a fix for each failure."""

from dataclasses import dataclass
from typing import Final

from gatepass.domain.webhooks import MessageType, PausedReason
from gatepass.domain.webhooks.deliveries import AttemptMade
from gatepass.domain.webhooks.preflight import PreflightStep
from gatepass.domain.webhooks.queue import AttemptError


@dataclass(frozen=True, slots=True)
class FailureHelp:
    """The failure in words, and its fix."""

    what: str
    fix: str


# In the order and under the headings in which a form shows them.
GROUPS: Final[dict[str, dict[MessageType, str]]] = {
    "Tickets": {
        MessageType.TICKET_ACTIVATED: "Somebody was let in: a scan used up a ticket.",
        MessageType.TICKET_CANCELLED: "A ticket was taken out of use, by itself or with its event.",
        MessageType.TICKET_ISSUED: "A ticket was issued, by the API, here or by an import.",
        MessageType.TICKET_TRANSFERRED: "A ticket moved to another card.",
        MessageType.TICKET_ACTIVATION_UNDONE: "An activation was undone: the ticket can be used again.",
    },
    "Events": {
        MessageType.EVENT_CANCELLED: "A whole event was cancelled.",
        MessageType.EVENT_PUBLISHED: "An event was published.",
        MessageType.EVENT_UPDATED: "An event or one of its categories was made or changed.",
        MessageType.EVENT_ENDED: "An event has ended.",
        MessageType.EVENT_DELETED: "A draft was deleted.",
    },
    "Cards": {
        MessageType.CARD_STATUS_CHANGED: "A card was suspended, resumed or revoked.",
        MessageType.CARD_ISSUED: "A card was made.",
        MessageType.CARD_REPLACED: "A new card took the place of a lost one.",
        MessageType.CARD_UPDATED: "A card got an external id, or another holder, whom the message does not name.",
    },
    "Gates": {
        MessageType.SCAN_CONFLICT: "Somebody was let in against the record, such as twice with one ticket.",
        MessageType.SCAN_DENIED: "A scan was refused. There may be many of these: ask for them only if you use them.",
    },
}
TYPES: Final[dict[MessageType, str]] = {type: text for group in GROUPS.values() for type, text in group.items()}

PAUSED: Final[dict[str, str]] = {
    PausedReason.REQUESTED: "Somebody paused it.",
    PausedReason.GONE: "The receiver answered 410 Gone, which asks us to stop.",
    PausedReason.FAILING: "Nothing got through for 72 hours.",
    PausedReason.SUSPENDED: "The organization is suspended.",
}

STEPS: Final[dict[PreflightStep, str]] = {
    PreflightStep.URL: "URL",
    PreflightStep.NAME: "DNS",
    PreflightStep.CONNECTION: "Connection",
    PreflightStep.TLS: "TLS",
}

ERRORS: Final[dict[str, FailureHelp]] = {
    AttemptError.TIMEOUT: FailureHelp(
        "No whole answer within 15 seconds.", "Put the message away, answer with 2xx, and work on it afterwards."
    ),
    AttemptError.DNS_FAILED: FailureHelp(
        "The name in the URL could not be found.", "Check the name, and its records with your DNS provider."
    ),
    AttemptError.ADDRESS_NOT_ALLOWED: FailureHelp(
        "The name leads to an address that is not public.", "Give the receiver a public address; we send to no other."
    ),
    AttemptError.CONNECT_FAILED: FailureHelp(
        "The connection was refused.", "Check that the receiver runs, and that its firewall lets us in."
    ),
    AttemptError.TLS_FAILED: FailureHelp(
        "The certificate could not be verified.", "Renew it, send the whole chain, and use TLS 1.2 or newer."
    ),
    AttemptError.CONNECTION_LOST: FailureHelp(
        "The connection broke off before the answer was whole.", "Look for crashes or limits in your proxy and server."
    ),
    AttemptError.BAD_ANSWER: FailureHelp(
        "The answer was not HTTP/1.1 as we take it.", "Answer with a plain status and few, short headers."
    ),
    AttemptError.INTERNAL: FailureHelp("A fault of ours.", "Nothing for you to do. We try again."),
    "expired": FailureHelp("The body is no longer kept.", "Messages are kept for 30 days. Nothing is left to send."),
    "secret_locked": FailureHelp(
        "We could not open the secret of this endpoint.", "A fault of ours. Rotate the secret if it stays."
    ),
}

REDIRECT: Final = FailureHelp("It redirected.", "We follow no redirects. Save the URL that it leads to.")
UNSIGNED: Final = FailureHelp(
    "It refused the message.", "If it checks signatures, try the message in the signature playground."
)
NOT_THERE: Final = FailureHelp("There is nothing at this path.", "Check the path of the URL.")
GONE: Final = FailureHelp("It said 410 Gone, so the endpoint was paused.", "Resume it once the receiver is back.")
TOO_MANY: Final = FailureHelp(
    "It asked for fewer messages.", "We wait as long as its Retry-After says, 12 hours at most."
)
BUSY: Final = FailureHelp("The receiver is not available.", "We try again, later if it sends a Retry-After.")
REFUSED: Final = FailureHelp("It refused the message.", "Answer with 2xx once you have the message.")
BROKEN: Final = FailureHelp("The receiver failed.", "Look into its log at this time.")

STATUSES: Final[dict[int, FailureHelp]] = {
    400: UNSIGNED,
    401: UNSIGNED,
    403: UNSIGNED,
    404: NOT_THERE,
    405: NOT_THERE,
    410: GONE,
    429: TOO_MANY,
    503: BUSY,
}


def explain(status: int | None, error: str | None) -> FailureHelp | None:
    """Why an attempt failed; None if it did not."""
    if error is not None:
        return ERRORS.get(error, ERRORS[AttemptError.INTERNAL])
    if status is None or 200 <= status < 300:
        return None
    if status in STATUSES:
        return STATUSES[status]
    return REDIRECT if status < 400 else REFUSED if status < 500 else BROKEN


def succeeded(attempt: AttemptMade) -> bool:
    return attempt.status is not None and explain(attempt.status, attempt.error) is None


def outcome(status: int | None, error: str | None) -> str:
    """The status, or the error if there was no response."""
    if error is not None:
        return error.replace("_", " ")
    return "" if status is None else str(status)
