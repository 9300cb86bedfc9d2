"""The body of a scan, for the client and for the queue."""

from datetime import datetime
from typing import Any

from gatepass_sdk._arguments import format_time, without_none


def scan_body(
    event_id: str,
    card_number: str | None,
    token: str | None,
    scanner_id: str | None,
    gate: str | None,
    occurred_at: datetime | None,
) -> dict[str, Any]:
    if (card_number is None) == (token is None):
        raise ValueError("Give either card_number or token.")
    return without_none(
        event_id=event_id,
        card_number=card_number,
        token=token,
        scanner_id=scanner_id,
        gate=gate,
        occurred_at=format_time(occurred_at),
    )
