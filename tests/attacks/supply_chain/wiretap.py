"""A listener on loopback that keeps every byte it hears. It stands for a network that others can read."""

import socketserver
import ssl
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any


class Wiretap(socketserver.ThreadingTCPServer):
    """It answers each request with the same status and headers."""

    daemon_threads = True

    def __init__(self, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Listener)
        self.heard = b""
        lines = [f"HTTP/1.1 {status} Answer", "Content-Length: 0", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.answer = "\r\n".join([*lines, "", ""]).encode()
        self.tls: ssl.SSLContext | None = None

    @property
    def port(self) -> int:
        return self.server_address[1]

    def get_request(self) -> tuple[Any, Any]:
        connection, address = super().get_request()
        return (self.tls.wrap_socket(connection, server_side=True) if self.tls else connection), address


class _Listener(socketserver.BaseRequestHandler):
    server: Wiretap  # pyright: ignore[reportIncompatibleVariableOverride]

    def handle(self) -> None:
        """Read a head and its body. A proxy hears the whole URL in the first line."""
        said = b""
        while b"\r\n\r\n" not in said or len(said) < _length(said):
            part = self.request.recv(65536)
            if not part:
                break
            said += part
            self.server.heard += part
        self.request.sendall(self.server.answer)


def _length(said: bytes) -> int:
    head, _, _ = said.partition(b"\r\n\r\n")
    named = [line.partition(b":")[2] for line in head.splitlines() if line.lower().startswith(b"content-length:")]
    return len(head) + 4 + (int(named[0]) if named else 0)


@contextmanager
def listening(
    status: int = 200, headers: Mapping[str, str] | None = None, tls: ssl.SSLContext | None = None
) -> Generator[Wiretap]:
    with Wiretap(status, headers) as started:
        started.tls = tls
        thread = threading.Thread(target=started.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield started
        finally:
            started.shutdown()
            thread.join()
