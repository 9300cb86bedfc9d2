"""Listening: the socket is bound before anything slow begins, so that a port that is taken is told at once."""

import errno
import gc
import socket
from collections.abc import Callable
from typing import Any, Final

import uvicorn

from gatepass.cli.protocol import Protocol
from gatepass.cli.stopping import until_told_to_stop
from gatepass.cli.trouble import Trouble

# How long answers under way may take when the process is told to stop.
GRACE_SECONDS: Final = 10
EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  compared with, not bound to


class Server(uvicorn.Server):
    """uvicorn's server, which says when it answers."""

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], None], stopping: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._stopping = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        # What is there now stays until the end; the collector need not walk through it again and again.
        gc.collect()
        gc.freeze()
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stopping()  # what streams for ever must know, or the goodbye would wait for it
        await super().shutdown(sockets=sockets)


def bind(host: str, port: int) -> socket.socket:
    """A socket at this address; port 0 takes any that is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise Trouble(_told(error, host, port)) from None
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise Trouble(_told(error, host, port)) from None
    return bound


def require_free(host: str, port: int, variable: str) -> None:
    """Say at once that a port which the application will bind itself is taken."""
    try:
        bind(host, port).close()
    except Trouble:
        raise Trouble(f"{variable}: port {port} is taken. Choose another; 0 turns it off.") from None


def url_of(host: str, bound: socket.socket) -> str:
    """Where this machine reaches what listens here."""
    port: int = bound.getsockname()[1]
    reachable = EVERYWHERE.get(host, host)
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


def config(app: Any, **more: Any) -> uvicorn.Config:
    """No access log (calls are audited), no headers believed (`trusted_proxies` decides), no server named."""
    return uvicorn.Config(
        app,
        loop="uvloop",
        http=Protocol,
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
    with until_told_to_stop():
        server.run(sockets=[bound])


def _told(error: OSError, host: str, port: int) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return f"Port {port} is taken. Stop what listens there, or choose another, such as --port {port + 1}."
        case errno.EACCES:
            return f"Port {port} needs more rights than this user has. Choose one above 1023 with --port."
        case _:
            return f"This machine cannot listen at {host} port {port}: {error.strerror}."
