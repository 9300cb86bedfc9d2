"""Scans: a card is shown at a gate, and its ticket is activated; every scan can be listed with its verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from gatepass_sdk._arguments import new_key
from gatepass_sdk._async.pages import AsyncPages
from gatepass_sdk._call import Answer, Call, data_as
from gatepass_sdk._decode import read
from gatepass_sdk._models.incident import ScanBatch
from gatepass_sdk._scan import scan_body
from gatepass_sdk.models import RecordedScan, ScanResult

if TYPE_CHECKING:
    from gatepass_sdk._async.exchange import AsyncExchange


class AsyncScans:
    def __init__(self, exchange: "AsyncExchange") -> None:
        self._exchange = exchange

    async def create(
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
        key = new_key(idempotency_key)
        body = scan_body(event_id, card_number, token, scanner_id, gate, occurred_at)

        def result(answer: Answer) -> ScanResult:
            found = read(ScanResult, answer.value.get("data"))
            return replace(found, replayed=answer.was_replayed, request_id=answer.request_id, idempotency_key=key)

        return await self._exchange.ask(Call("POST", "/scan", result, body=body, idempotency_key=key, is_scan=True))

    async def batch(self, entries: "Sequence[Mapping[str, Any]]") -> ScanBatch:
        """Upload a part of a device's journal, with the device's key: at most 500 entries, each signed.

        An entry is taken once, so that a part may be sent again. `Gate` keeps a journal, signs it and uploads it.
        """
        body = {"entries": [dict(entry) for entry in entries]}
        return await self._exchange.ask(Call("POST", "/scans/batch", data_as(ScanBatch), body=body))

    def list(
        self,
        *,
        event_id: str | None = None,
        ticket_id: str | None = None,
        card_id: str | None = None,
        after: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> AsyncPages[RecordedScan]:
        """Scans with their verdicts, newest first; of one event, ticket or card if that is given.

        With `after`, the `cursor` of a scan or a page's `next_cursor`, those that followed it, oldest first. The newest
        12 seconds are held back then, so that none is missed.
        """
        query = {"event_id": event_id, "ticket_id": ticket_id, "card_id": card_id}
        query |= {"after": after, "limit": None if limit is None else str(limit), "cursor": cursor}
        name = "cursor" if after is None else "after"
        return AsyncPages(self._exchange, "/scans", partial(read, RecordedScan), query, cursor_name=name)
