"""A receiver of webhooks that writes down each message before it answers.

    python -m tests.ha.receiver HOST PORT WORLD.json OUT.jsonl

It prints its port. A message whose signature is not good is written too, with `"verified": false`, and refused.
"""

import asyncio
import json
import os
import signal
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from aiohttp import web

from gatepass_sdk import WebhookVerificationError
from gatepass_sdk.webhooks import TicketActivated, unwrap
from tests.ha.world import World

LONGEST_ID = 100


@dataclass(frozen=True, slots=True)
class Received:
    """One message as it came. It may come more than once."""

    at: float
    id: str
    type: str | None
    ticket_id: str | None
    verified: bool


def read_received(path: Path) -> list[Received]:
    """The whole lines, in their order; none if nothing has come yet."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [Received(**json.loads(line)) for line in lines if line.endswith("\n")]


class Receiver:
    def __init__(self, secret: str, out: Path) -> None:
        self._secret = secret
        self._file = os.open(out, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        message_id = request.headers.get("webhook-id", "")[:LONGEST_ID]
        try:
            message = unwrap(body, request.headers, self._secret)
        except WebhookVerificationError:
            self._write(Received(time.time(), message_id, None, None, verified=False))
            return web.Response(status=400)
        ticket_id = message.data.ticket_id if isinstance(message, TicketActivated) else None
        self._write(Received(time.time(), message.id, message.type, ticket_id, verified=True))
        return web.Response(status=204)

    def _write(self, received: Received) -> None:
        os.write(self._file, (json.dumps(asdict(received)) + "\n").encode())

    def close(self) -> None:
        os.close(self._file)


async def main(host: str, port: int, world: World, out: Path) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    receiver = Receiver(world.secret, out)
    app = web.Application()
    app.router.add_post("/{path:.*}", receiver.take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, host, port)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await stop.wait()
    await runner.cleanup()
    receiver.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), World.read(Path(sys.argv[3])), Path(sys.argv[4])))
