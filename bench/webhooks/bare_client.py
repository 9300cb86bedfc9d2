"""The bare loop: posts the same bytes and headers to one URL, 64 at a time, until it is killed.

    python -m bench.webhooks.bare_client URL AUTHORITY

It is the upper bound of a Python sender with this HTTP client: no queue, no signatures, nothing recorded.
"""

import asyncio
import ssl
import sys
from datetime import UTC, datetime
from uuid import UUID

import aiohttp
import uvloop

from gatepass.domain.webhooks import signature
from gatepass.domain.webhooks.signature import Secrets

IN_FLIGHT = 64
ID = UUID("00000000-0000-7000-8000-000000000000")
# As long as the message of an activation.
BODY = b"x" * 350


async def keep_posting(session: aiohttp.ClientSession, url: str, headers: dict[str, str]) -> None:
    while True:
        async with session.post(url, data=BODY, headers=headers) as answer:
            await answer.read()
            assert answer.status == 200


async def main(url: str, authority: str) -> None:
    headers = signature.headers(
        Secrets(signature.new_secret()), BODY, event_id=ID, type="ticket.activated", delivery_id=ID, attempt=1,
        replayed=False, at=datetime.now(UTC),
    )  # fmt: skip
    connector = aiohttp.TCPConnector(limit=IN_FLIGHT, ssl=ssl.create_default_context(cafile=authority))
    async with aiohttp.ClientSession(connector=connector) as session:
        await asyncio.gather(*(keep_posting(session, url, headers) for _ in range(IN_FLIGHT)))


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))
