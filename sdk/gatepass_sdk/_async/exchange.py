"""The exchange: it sends a call, and retries it while that can help and there is time."""

import json
import random
import time
from collections.abc import AsyncIterator, Mapping
from typing import Self, TypeVar

import httpx2

from gatepass_sdk._call import Call
from gatepass_sdk._decode import Unreadable
from gatepass_sdk._retry import RetryPolicy, Tries
from gatepass_sdk._settings import Settings
from gatepass_sdk._transport import DIRECT, async_events, async_send, async_sleep

T = TypeVar("T")


class AsyncExchange:
    """Sends the calls of all resources."""

    def __init__(self, http: httpx2.AsyncClient, settings: Settings, policy: RetryPolicy) -> None:
        self.http = http
        self.settings = settings
        self.policy = policy

    @classmethod
    def create(cls, http: httpx2.AsyncClient | None, settings: Settings) -> Self:
        """With these connections, or with new ones."""
        return cls(http or httpx2.AsyncClient(mounts=DIRECT), settings, RetryPolicy())

    def with_policy(self, **changes: float | None) -> Self:
        """The same exchange with another retry policy."""
        return type(self)(self.http, self.settings, self.policy.with_changes(**changes))

    async def ask(self, call: Call[T]) -> T:
        """The answer to a call, or the error that says why there is none."""
        tries = Tries(call, self.policy, clock=time.monotonic, jitter=random.random)
        while True:
            try:
                answer = await async_send(self.http, self._request(call), tries.time_for_this_try)
            except httpx2.TransportError as failure:
                wait = tries.after_failure(failure)
            else:
                if not answer.is_from_service:
                    wait = tries.after_foreign_answer(answer)
                elif answer.is_refusal:
                    wait = tries.after_refusal(answer)
                else:
                    try:
                        return call.read(answer)
                    except Unreadable:
                        wait = tries.after_foreign_answer(answer)
            await self.pause(wait)

    async def pause(self, seconds: float) -> None:
        """Wait between two tries."""
        await async_sleep(seconds)

    def following(self, path: str, query: Mapping[str, str]) -> AsyncIterator[tuple[str, str]]:
        """The names and the data of server-sent events, until the connection ends."""
        url = self.settings.base_url + path
        headers = {**self.settings.headers, "Accept": "text/event-stream"}
        return async_events(self.http, self.http.build_request("GET", url, params=query, headers=headers))

    def _request(self, call: Call[T]) -> httpx2.Request:
        headers = self.settings.headers
        content = None
        if call.body is not None:
            content = json.dumps(call.body).encode()
            headers["Content-Type"] = "application/json"
        if call.idempotency_key is not None:
            headers["Idempotency-Key"] = call.idempotency_key
        if call.if_match is not None:
            headers["If-Match"] = call.if_match
        if call.if_none_match is not None:
            headers["If-None-Match"] = call.if_none_match
        url = self.settings.base_url + call.path
        return self.http.build_request(call.method, url, params=call.query or None, content=content, headers=headers)
