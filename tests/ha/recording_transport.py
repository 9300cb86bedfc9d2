"""An HTTP transport that writes every request of the SDK to the journal, with its answer or why there was none."""

import asyncio
import json

import httpx2

from tests.ha.journal import Attempt, JournalWriter, clock

# Far more than gates: a gate never waits for a connection of another.
CONNECTIONS = 1000


class RecordingTransport(httpx2.AsyncBaseTransport):
    def __init__(self, url: str, journal: JournalWriter) -> None:
        """`url` is the name of the API in the journal."""
        self._url = url
        self._journal = journal
        limits = httpx2.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS)
        self._network = httpx2.AsyncHTTPTransport(limits=limits)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        begin = clock()
        try:
            response = await self._network.handle_async_request(request)
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            try:
                raw = b"".join([part async for part in response.stream])
            finally:
                await response.aclose()
        except (httpx2.TransportError, asyncio.CancelledError) as failure:
            # The SDK cancels a request whose time has passed.
            is_over = isinstance(failure, asyncio.CancelledError)
            self._record(request, begin, error="timeout" if is_over else type(failure).__name__)
            raise
        answer = httpx2.Response(response.status_code, headers=response.headers, stream=httpx2.ByteStream(raw))
        self._record(request, begin, answer=await _read(answer))
        return httpx2.Response(
            response.status_code, headers=response.headers, stream=httpx2.ByteStream(raw), request=request
        )

    async def aclose(self) -> None:
        await self._network.aclose()

    def _record(
        self, request: httpx2.Request, begin: float, *, answer: httpx2.Response | None = None, error: str | None = None
    ) -> None:
        key = request.headers.get("idempotency-key")
        path = request.url.path
        if answer is None:
            self._journal.write(Attempt(self._url, path, begin, clock(), key, error=error))
            return
        self._journal.write(
            Attempt(
                self._url,
                path,
                begin,
                clock(),
                key,
                answer.status_code,
                _code(answer.content),
                answer.headers.get("x-request-id"),
                answer.headers.get("idempotent-replayed") == "true",
                # Only the answers to scans are compared.
                answer.text if key is not None or answer.status_code >= 400 else "",
            )
        )


async def _read(answer: httpx2.Response) -> httpx2.Response:
    await answer.aread()
    return answer


def _code(body: bytes) -> str | None:
    try:
        value = json.loads(body)
    except ValueError:
        return None
    code = value.get("code") if isinstance(value, dict) else None
    return code if isinstance(code, str) else None
