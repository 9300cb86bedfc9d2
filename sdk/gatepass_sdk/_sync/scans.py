# Generated from _async/scans.py by `make sdk-sync`. Change that file.
"""Scans: a card is shown at a gate, and its ticket is activated."""

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from gatepass_sdk._call import Answer, Call
from gatepass_sdk._decode import read
from gatepass_sdk._scan import scan_body
from gatepass_sdk.models import ScanResult

if TYPE_CHECKING:
    from gatepass_sdk._sync.exchange import Exchange


class Scans:
    def __init__(self, exchange: "Exchange") -> None:
        self._exchange = exchange

    def create(
        self,
        event_id: str,
        *,
        card_number: str | None = None,
        token: str | None = None,
        scanner_id: str | None = None,
        gate: str | None = None,
        occurred_at: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> ScanResult:
        """Activate the ticket of this card for this event, by the typed card number or the scanned token.

        The key is made once and sent with every try, so a lost answer never activates a ticket twice. Pass the
        `idempotency_key` of an error to repeat that scan.
        """
        key = idempotency_key or str(uuid4())
        body = scan_body(event_id, card_number, token, scanner_id, gate, occurred_at)

        def result(answer: Answer) -> ScanResult:
            found = read(ScanResult, answer.value.get("data"))
            return replace(found, replayed=answer.was_replayed, request_id=answer.request_id, idempotency_key=key)

        return self._exchange.ask(Call("POST", "/scan", result, body=body, idempotency_key=key, is_scan=True))
