"""A cell that misbehaves: a small HTTP server that says it is healthy, and does to calls what a test wants."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Self

HEALTHY = b'{"status":"ok","cell":"%s"}'
Behaviour = Callable[[socket.socket], None]


class StubCell:
    """`with StubCell("b", behaviour) as cell`: it answers /healthz, and counts the calls that it has received."""

    def __init__(self, letter: str, behaviour: Behaviour) -> None:
        self._body = HEALTHY % letter.encode()
        self._behaviour = behaviour
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port: int = self._listener.getsockname()[1]
        self.received = 0
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(ConnectionError):
            head = connection.recv(65536)
            if head.startswith(b"GET /healthz"):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(self._body) + self._body)
            elif head:
                with self._lock:
                    self.received += 1
                self._behaviour(connection)


def hang_up(_: socket.socket) -> None:
    """Receive the call, and close the connection without an answer."""


def hang(connection: socket.socket) -> None:
    """Keep the call until the caller gives up."""
    while connection.recv(65536):
        pass
