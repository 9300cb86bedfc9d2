"""The calls of a gate, over HTTP. A connection is kept for the next call, as gates do."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import aiohttp

from gatepass.base.settings import BASE_PATH

# More than any call needs on a busy machine. A call that hangs fails its seed.
BUSY_SECONDS: Final = 0.2
DEADLINE: Final = aiohttp.ClientTimeout(total=60)


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any

    @property
    def verdict(self) -> str:
        """`activated`, or the code of the refusal."""
        return "activated" if self.status == 200 else str(self.body["code"])


@dataclass
class Calls:
    """`key` is an API key: that of a device, or one that reads incidents."""

    session: aiohttp.ClientSession
    url: str
    # How often the service was too busy.
    refused: int = 0

    async def scan(self, key: str, idempotency_key: str, body: dict[str, Any]) -> Answer:
        return await self._post("/scan", key, body, {"Idempotency-Key": idempotency_key})

    async def batch(self, key: str, entries: Sequence[dict[str, Any]]) -> Answer:
        return await self._post("/scans/batch", key, {"entries": list(entries)})

    async def heartbeat(self, key: str, at: str, queued: int) -> Answer:
        return await self._post("/devices/heartbeat", key, {"at": at, "queued": queued, "app": "simulator/1"})

    async def manifest(self, key: str, event_id: UUID, cursor: str | None) -> bytes | None:
        """The manifest, or its changes since the cursor; None if there are none."""
        params = {"after": cursor} if cursor else {}
        async with self.session.get(
            f"{self.url}{BASE_PATH}/events/{event_id}/manifest", params=params, headers=_bearer(key)
        ) as answer:
            body = await answer.read()
        if answer.status == 304:
            return None
        if answer.status == 503:
            await asyncio.sleep(BUSY_SECONDS)
            return await self.manifest(key, event_id, cursor)
        assert answer.status == 200, body
        return body

    async def incidents(self, key: str, event_id: UUID) -> list[dict[str, Any]]:
        """All of them, page by page."""
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            params = {"event_id": str(event_id)} | ({"cursor": cursor} if cursor else {})
            async with self.session.get(
                f"{self.url}{BASE_PATH}/incidents", params=params, headers=_bearer(key)
            ) as answer:
                page = await answer.json()
                assert answer.status == 200, page
            found += page["data"]
            cursor = page["next_cursor"]
            if cursor is None:
                return found

    async def _post(self, path: str, key: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> Answer:
        """Sent again while the service is too busy, or too much was sent, as the SDK does. Each may be repeated."""
        while True:
            try:
                async with self.session.post(
                    f"{self.url}{BASE_PATH}{path}", json=body, headers=_bearer(key) | (headers or {})
                ) as answer:
                    found = Answer(answer.status, await answer.json())
                    wait = (
                        float(answer.headers.get("Retry-After", BUSY_SECONDS)) if found.status == 429 else BUSY_SECONDS
                    )
            except aiohttp.ClientConnectorError:
                raise  # nobody listens
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                continue  # the service closed a connection that had rested; every call here may be repeated
            if found.status not in (429, 503):
                return found
            self.refused += 1
            await asyncio.sleep(wait)


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def open_session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(timeout=DEADLINE, connector=aiohttp.TCPConnector(limit=0))
