"""Devices that follow an event: each reads its stream, and keeps the last message.

python -m bench.manifest.devices URL PATH KEYS STATES     says when all follow; at the end of stdin, writes their states
"""

import asyncio
import json
import struct
import sys
from base64 import b64decode
from pathlib import Path
from urllib.parse import urlsplit

LARGEST_MESSAGE = 2**24


def state_of(body: bytes) -> str:
    (length,) = struct.unpack_from(">I", body, 4)
    return json.loads(body[8 : 8 + length])["state"]


def cursor_of(body: bytes) -> str:
    (length,) = struct.unpack_from(">I", body, 4)
    return json.loads(body[8 : 8 + length])["cursor"]


class Device:
    def __init__(self, url: str, key: str) -> None:
        self._target, self._key = urlsplit(url), key
        self.last: bytes | None = None
        self.messages = 0

    async def open(self, path: str) -> None:
        target = self._target
        self._reader, self._writer = await asyncio.open_connection(target.hostname, target.port, limit=LARGEST_MESSAGE)
        lines = (f"GET {path} HTTP/1.1", f"Host: {target.netloc}", f"Authorization: Bearer {self._key}", "", "")
        self._writer.write("\r\n".join(lines).encode())
        status = await self._reader.readline()
        if b" 200 " not in status:
            sys.exit(f"a call was refused: {status.decode()}")

    async def whole(self, path: str) -> bytes:
        await self.open(path)
        size = 0
        while (line := await self._reader.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        body = await self._reader.readexactly(size)
        self._writer.close()
        return body

    async def follow(self) -> None:
        while line := await self._reader.readline():
            if line.startswith(b"data: "):
                self.last = line
                self.messages += 1

    def state(self, first: str) -> str:
        return first if self.last is None else state_of(b64decode(self.last[6:]))


async def follow(url: str, path: str, keys: list[str]) -> str:
    """Follow until a line comes in; what the devices have then, as JSON."""
    devices = [Device(url, key) for key in keys]
    first = await devices[0].whole(path)
    stream = f"{path}/stream?after={cursor_of(first)}"
    for start in range(0, len(devices), 50):
        await asyncio.gather(*(device.open(stream) for device in devices[start : start + 50]))
    following = [asyncio.create_task(device.follow()) for device in devices]
    print(f"{len(devices)} follow", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    ended = sum(task.done() for task in following)
    found = {"states": sorted({device.state(state_of(first)) for device in devices}), "ended": ended,
             "messages": sum(device.messages for device in devices)}  # fmt: skip
    return json.dumps(found)


if __name__ == "__main__":
    url, path, keys, states = sys.argv[1:]
    Path(states).write_text(asyncio.run(follow(url, path, Path(keys).read_text().split())))
