"""A delivery as it was sent: the request of an attempt, told again from what is kept.

Signatures are not kept, and the secrets that made them may be gone. So they are told by when they were made, never by
what they were.
"""

from typing import Final

from gatepass.base.wire_name import NEXT_SIGNATURE_HEADER, SIGNATURE_HEADER
from gatepass.domain.webhooks import signature
from gatepass.domain.webhooks.deliveries import AttemptMade, Delivery
from gatepass.domain.webhooks.signature import SECRET_PREFIX, Secrets

NOT_KEPT: Final = "(not kept)"
# Signs nothing that leaves this file.
NOBODYS: Final = Secrets(SECRET_PREFIX + "AAAA")


def headers_of(delivery: Delivery, attempt: AttemptMade) -> dict[str, str]:
    """The headers of one attempt, without its signatures."""
    headers = signature.headers(
        NOBODYS,
        b"",
        event_id=delivery.event_id,
        type=delivery.type,
        delivery_id=delivery.id,
        attempt=attempt.n,
        replayed=delivery.replay_id is not None,
        at=attempt.at,
    )
    signed_at, _, _ = headers[SIGNATURE_HEADER].partition(",")
    headers[SIGNATURE_HEADER] = f"{signed_at},v1={NOT_KEPT}"
    headers["webhook-signature"] = f"v1,{NOT_KEPT}"
    headers.pop(NEXT_SIGNATURE_HEADER, None)
    return headers
