"""A bad network on loopback: a proxy between a client and the service that applies a fault to each request, or none.

`python -m tests.sdk.fault_proxy UPSTREAM_PORT SEED` prints its port, works until its input is closed, then prints how
often each fault was applied. The fault of a request depends only on the seed, the scan and the number of its try, so a
run can be repeated whatever the order of the requests.
"""

import asyncio
import contextlib
import json
import random
import sys
from collections import Counter
from dataclasses import dataclass, field

from tests.sdk.network_faults import FAULTS, ProxiedRequest, Upstream, message, passed, split


@dataclass
class FaultProxy:
    upstream_port: int
    seed: str
    done: Counter[str] = field(default_factory=Counter[str])
    tries: Counter[str] = field(default_factory=Counter[str])
    # Streams that were reset no longer hold the task that serves them.
    serving: "set[asyncio.Task[None]]" = field(default_factory=set["asyncio.Task[None]"])

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self.serve(reader, writer))
        self.serving.add(task)
        task.add_done_callback(self.serving.discard)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream = Upstream(self.upstream_port)
        # Clients may close the connection at any time.
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while await self.carry(ProxiedRequest(await message(reader), False, reader, writer, upstream)):
                pass
        upstream.close()
        writer.close()

    async def carry(self, call: ProxiedRequest) -> bool:
        body = json.loads(split(call.request)[1])
        call.trickles_headers = body["scanner_id"] == "async"
        scan = f"{body['card_number']} {body['gate']}"
        self.tries[scan] += 1
        name = self.fault_of(f"{self.seed} {scan} {self.tries[scan]}")
        self.done[name] += 1
        return await (FAULTS[name][1] if name in FAULTS else passed)(call)

    def fault_of(self, request: str) -> str:
        at = random.Random(request).uniform(0, 100)
        for name, (share, _) in FAULTS.items():
            at -= share
            if at < 0:
                return name
        return "passed"


async def main(upstream_port: int, seed: str) -> None:
    proxy = FaultProxy(upstream_port, seed)
    server = await asyncio.start_server(proxy.connected, "127.0.0.1", 0, backlog=512)
    port = server.sockets[0].getsockname()[1]
    print(port, flush=True)
    stopping = asyncio.ensure_future(asyncio.to_thread(sys.stdin.read))
    while not stopping.done():
        await asyncio.wait([stopping], timeout=0.5)
        server.close()
        proxy.done["nobody listens, for 30 ms"] += 1
        await asyncio.sleep(0.03)
        server = await asyncio.start_server(proxy.connected, "127.0.0.1", port, backlog=512)
    server.close()
    # Requests under way arrive before they are counted.
    async with asyncio.timeout(10):
        await asyncio.gather(*proxy.serving)
    print(json.dumps(proxy.done), flush=True)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
