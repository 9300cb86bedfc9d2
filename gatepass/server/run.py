"""Run a server: bind its socket, announce that it is ready, and stop it on a signal.

The socket is bound before anything slow begins, so that a port in use is reported at once.
"""

import asyncio
import errno
import gc
import os
import signal
import socket
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any, Final, cast

import uvicorn

from gatepass.server.connections import Connections
from gatepass.server.errors import CannotListen
from gatepass.server.http_protocol import HttpProtocol

# Seconds that answers under way may take after the signal to stop.
GRACE_SECONDS: Final = 10
# Bytes that the kernel takes for a caller that does not read. It would take up to 4 MB, beyond any deadline of ours.
SEND_BUFFER: Final = 128 * 1024
LOOPBACK_OF: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  compared with, not bound to
NOTIFY_SOCKET: Final = "NOTIFY_SOCKET"


class Server(uvicorn.Server):
    """uvicorn's server, which calls `ready` when it answers and `stopping` before it shuts down."""

    def __init__(
        self, app: Any, connections: Connections, ready: Callable[[], None], stopping: Callable[[], None]
    ) -> None:
        super().__init__(config(app, connections))
        self._connections = connections
        self._sweep_at = time.monotonic()
        self._ready = ready
        self._stopping = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._connections.raise_file_limit()
        await super().startup(sockets=sockets)
        # These objects live until the process ends, so the garbage collector need not traverse them again. Less than a
        # thousand of them are garbage: to find those would take a twentieth of the start.
        gc.freeze()
        gc.enable()
        self._ready()

    async def on_tick(self, counter: int) -> bool:
        """Sweep once a second; uvicorn calls this ten times a second."""
        now = time.monotonic()
        if now >= self._sweep_at:
            self._sweep_at = max(self._sweep_at + 1, now)
            self._connections.sweep(self.server_state.connections)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stopping()  # ends the streams, which the shutdown would otherwise wait for
        # Two turns of the event loop read what has arrived. uvicorn closes a connection whose request was not read yet.
        for _ in range(2):
            await asyncio.sleep(0)
        await super().shutdown(sockets=sockets)
        if self.force_exit:
            # uvicorn leaves the application as it is then, and logs a traceback when the event loop cancels it.
            await self.lifespan.shutdown()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A second Ctrl-C ends the wait for answers. uvicorn would raise it again, before everything has ended."""
        super().handle_exit(sig, frame)
        del self._captured_signals[1:]


def bind(host: str, port: int) -> socket.socket:
    """A socket at this address; port 0 takes any that is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise CannotListen(_reason(error, host, port)) from None
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    try:
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise CannotListen(_reason(error, host, port)) from None
    return bound


def require_free(host: str, port: int, variable: str) -> None:
    """Refuse a port in use that the application will bind by itself later."""
    try:
        bind(host, port).close()
    except CannotListen:
        raise CannotListen(f"{variable}: port {port} is taken. Choose another; 0 turns it off.") from None


def _reason(error: OSError, host: str, port: int) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return f"Port {port} is taken. Stop what listens there, or choose another, such as --port {port + 1}."
        case errno.EACCES:
            return f"Port {port} needs more rights than this user has. Choose one above 1023 with --port."
        case _:
            return f"This machine cannot listen at {host} port {port}: {error.strerror}."


def url_of(host: str, bound: socket.socket) -> str:
    """The URL by which this machine reaches the socket."""
    port: int = bound.getsockname()[1]
    reachable = LOOPBACK_OF.get(host, host)
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


def config(app: Any, connections: Connections, **more: Any) -> uvicorn.Config:
    """No access log (the request log has every call), no proxy headers (`trusted_proxies` decides), no server name."""
    return uvicorn.Config(
        app,
        loop="uvloop",
        http=cast("Any", partial(HttpProtocol, limits=connections)),
        ws="none",
        lifespan="on",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        log_config=None,
        timeout_graceful_shutdown=GRACE_SECONDS,
        **more,
    )


def run(server: uvicorn.Server, bound: socket.socket) -> None:
    with until_stopped():
        server.run(sockets=[bound])


def announce_ready(line: str) -> None:
    """Print the line, and notify systemd (sd_notify).

    With `Type=notify`, `systemctl restart` waits for this, so that processes can be restarted one after another.
    """
    print(line, flush=True)
    if address := os.environ.get(NOTIFY_SOCKET):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
            # An address that begins with @ is in the abstract namespace, which the kernel writes with a NUL.
            systemd.sendto(b"READY=1", address.replace("@", "\0", 1) if address.startswith("@") else address)


@contextmanager
def until_stopped() -> Generator[None]:
    """Run the block until it ends or a signal stops the process: that is its normal end, not an error."""
    stop_on_sigterm()
    with suppress(KeyboardInterrupt):
        yield


def stop_on_sigterm() -> None:
    """Let SIGTERM unwind the stack as Ctrl-C does, so that everything that was started is stopped."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
