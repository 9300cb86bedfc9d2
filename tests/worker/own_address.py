"""A machine with a public address, to which its sender must not connect. Run in a network namespace of its own."""

import asyncio
import fcntl
import json
import socket
import struct
from pathlib import Path

from gatepass.domain.webhooks.ssrf_guard import UNASSIGNED, _binds_to_any_address, is_own
from gatepass.domain.webhooks.url_policy import is_public
from gatepass.worker.sender import Sender

ADDRESS = "93.184.216.34"
PORT = 8443
SET_ADDRESS, SET_FLAGS, UP = 0x8916, 0x8914, 1


def take_address() -> None:
    """Add the address to the loopback interface, the only one in a new namespace."""
    with socket.socket() as control:
        where = struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(ADDRESS))
        fcntl.ioctl(control, SET_ADDRESS, struct.pack("16s16s8x", b"lo", where))
        fcntl.ioctl(control, SET_FLAGS, struct.pack("16sH22x", b"lo", UP))


def bind_to_anything() -> None:
    for version in ("ipv4", "ipv6"):
        Path(f"/proc/sys/net/{version}/ip_nonlocal_bind").write_text("1")
    _binds_to_any_address.cache_clear()


async def main() -> None:
    accepted = 0

    async def accept(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal accepted
        accepted += 1
        writer.transport.abort()

    told: dict[str, list[object]] = {}
    server = await asyncio.start_server(accept, ADDRESS, PORT)
    for name, allows in {"guarded": None, "by the list alone": is_public}.items():
        sender = Sender(allow_private=False, allows=allows, deadline=5)
        attempt = await sender.send(f"https://{ADDRESS}:{PORT}/", dict, b"{}")
        told[name] = [attempt.error, accepted]
        await sender.close()
    server.close()
    bind_to_anything()
    told["when anything can be bound to"] = [is_own(address) for address in UNASSIGNED.values()]
    print(json.dumps(told))


if __name__ == "__main__":
    take_address()
    asyncio.run(main())
