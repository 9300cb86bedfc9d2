"""The small HTTP client of the scenarios, implemented with the SDK: each request is a call of the SDK.

Status and body are those that the SDK returned or raised. Only headers, which the SDK does not expose, are read from
the HTTP response.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2

from gatepass_sdk import APIStatusError, AsyncGatepass, Gatepass
from tests.sdk.contract.client_matrix import LoopThread


@dataclass(frozen=True)
class ApiResponse:
    status: int
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)


class Api:
    """The service for one key, through the SDK."""

    def __init__(self, client: Gatepass, responses: list[httpx2.Response]) -> None:
        self._client = client
        self._responses = responses

    def get(self, path: str, **query: str) -> ApiResponse:
        return self._answer(lambda: self._read(path, query))

    def scan(self, event_id: str, *, retry_key: str | None = None, **fields: Any) -> ApiResponse:
        if "occurred_at" in fields:
            fields["occurred_at"] = datetime.fromisoformat(fields["occurred_at"])
        scan = self._client.scans.create
        return self._answer(lambda: {"data": scan(event_id, idempotency_key=retry_key, **fields).raw})

    def call(self, method: str, path: str, body: Any = None) -> ApiResponse:
        if method == "GET":
            parts = urlsplit(path)
            return self.get(parts.path, **dict(parse_qsl(parts.query)))
        hooks = self._client.webhook_endpoints
        if (method, path) == ("POST", "/webhooks"):
            return self._answer(lambda: {"data": hooks.create(**body).raw})
        if method == "DELETE" and (found := re.fullmatch("/webhooks/([^/]+)", path)):
            return self._answer(lambda: hooks.delete(found[1]))
        raise AssertionError(f"The SDK has no call for {method} {path}.")

    def _read(self, path: str, query: dict[str, str]) -> Any:
        client = self._client
        match path.split("/")[1:]:
            case ["events"]:
                return _page(client.events.list(limit=_number(query.get("limit")), cursor=query.get("cursor")))
            case ["events", id]:
                return {"data": client.events.retrieve(id).raw}
            case ["card", "verify"]:
                return client.cards.verify(query.get("token", "")).raw
            case ["webhooks"]:
                return _page(client.webhook_endpoints.list())
            case ["webhooks", id]:
                return {"data": client.webhook_endpoints.retrieve(id).raw}
            case ["webhooks", id, "deliveries"]:
                return _page(client.webhook_endpoints.deliveries(id))
            case _:
                raise AssertionError(f"The SDK has no call for {path}.")

    def _answer(self, ask: Callable[[], Any]) -> ApiResponse:
        try:
            body, status = ask(), None
        except APIStatusError as error:
            body, status = {"error": error.message, "code": error.code, "details": dict(error.details)}, error.status
        last = self._responses[-1]
        assert last.is_success if status is None else last.status_code == status
        headers = {name.lower(): value for name, value in last.headers.items()}
        return ApiResponse(status or last.status_code, headers, json.dumps(body).encode())


def _page(pages: Any) -> dict[str, Any]:
    page = pages.first()
    return {"data": [one.raw for one in page.data], "has_more": page.has_more, "next_cursor": page.next_cursor}


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


class ApiClients:
    """A client for each key, all synchronous or all asynchronous."""

    def __init__(self, base_url: str, loop: LoopThread | None) -> None:
        self._base_url = base_url
        self._loop = loop
        self._close: list[Callable[[], Any]] = []

    def api(self, key: str) -> Api:
        responses: list[httpx2.Response] = []
        return Api(
            self._sync_client(key, responses) if self._loop is None else self._blocking_client(key, responses),
            responses,
        )

    def close(self) -> None:
        for close in self._close:
            close()

    def _sync_client(self, key: str, responses: list[httpx2.Response]) -> Gatepass:
        http = httpx2.Client(event_hooks={"response": [responses.append]}, verify=False)
        self._close.append(http.close)
        return Gatepass(key, base_url=self._base_url, http_client=http)

    def _blocking_client(self, key: str, responses: list[httpx2.Response]) -> Gatepass:
        loop = self._loop
        assert loop

        async def add_response(response: httpx2.Response) -> None:
            responses.append(response)

        http = httpx2.AsyncClient(event_hooks={"response": [add_response]}, verify=False)
        self._close.append(lambda: loop.run(http.aclose()))
        return loop.blocking(AsyncGatepass(key, base_url=self._base_url, http_client=http))
