"""pretix's REST API, as far as the bridge needs it: orders that changed, and check-ins."""

import logging
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, Final, TypedDict

import httpx2

PAGE_SIZE: Final = 50
LEFT_OUT: Final = ("fees", "payments", "refunds", "invoice_address", "customer")

log = logging.getLogger("bridge")


class OrderPosition(TypedDict):
    id: int
    positionid: int
    item: int
    variation: int | None
    attendee_name: str | None
    attendee_email: str | None
    addon_to: int | None
    canceled: bool
    blocked: list[str] | None


class Order(TypedDict):
    code: str
    status: str
    testmode: bool
    valid_if_pending: bool
    email: str | None
    locale: str
    positions: list[OrderPosition]


class Pretix:
    """One event; `http` has its URL, and the token of a team that may read orders and check them in."""

    def __init__(self, http: httpx2.AsyncClient, checkin_list: int) -> None:
        self._http = http
        self._checkin_list = checkin_list

    async def orders(self, since: str | None) -> AsyncIterator[tuple[list[Order], str]]:
        """Orders that changed since then, in pages, each with pretix's time before it was made.

        They come in the order in which they were made. In the order of their changes, one that changes while we read
        would move to the end and push another one from a page that follows to a page that was read.
        """
        query: dict[str, Any] = {"ordering": "datetime", "page_size": PAGE_SIZE, "page": 1}
        query |= {} if since is None else {"modified_since": since}
        while True:
            answer = await self._get("orders/", query)
            page = answer.json()
            yield page["results"], answer.headers["X-Page-Generated"]
            if page["next"] is None:
                return
            query["page"] += 1

    async def order(self, code: str) -> Order:
        return (await self._get(f"orders/{code}/", {})).json()

    async def check_in(self, position_id: int, *, nonce: str, at: datetime) -> None:
        """Record that somebody was let in. It happened, so pretix is not asked whether it may; a nonce counts once."""
        body = {"force": True, "nonce": nonce, "datetime": at.isoformat(), "questions_supported": False}
        path = f"checkinlists/{self._checkin_list}/positions/{position_id}/redeem/"
        answer = await self._http.post(path, json=body)
        if answer.status_code in {400, 404}:
            log.warning("pretix refuses the check-in of position %s: %s", position_id, answer.text[:200])
            return
        answer.raise_for_status()

    async def _get(self, path: str, query: dict[str, Any]) -> httpx2.Response:
        query = {**query, "include_canceled_positions": "true", "exclude": LEFT_OUT}
        return (await self._http.get(path, params=query)).raise_for_status()
