"""An impostor of PostgreSQL or Valkey on loopback. It keeps what it hears in plain text or inside of its TLS."""

import contextlib
import socket
import socketserver
import ssl
import threading
from collections.abc import Generator
from contextlib import contextmanager

# PostgreSQL's SSLRequest: its length, and a number that is no version.
SSL_REQUEST = bytes.fromhex("0000000804d2162f")
# PostgreSQL's request for a password in plain text.
ASK_PASSWORD = b"R\0\0\0\x08\0\0\0\x03"
WITHIN = 5.0


class Impostor(socketserver.ThreadingTCPServer):
    """`answer` is its reply to an SSLRequest; without one it begins TLS, or plain text, at once."""

    daemon_threads = True

    def __init__(self, answer: bytes | None, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.answer = answer
        self.tls = tls
        self.heard = b""
        self.asked = 0

    @property
    def port(self) -> int:
        return self.server_address[1]


class _Conversation(socketserver.BaseRequestHandler):
    server: Impostor  # pyright: ignore[reportIncompatibleVariableOverride]

    def handle(self) -> None:
        link: socket.socket = self.request
        link.settimeout(WITHIN)
        with contextlib.suppress(OSError):
            if self.server.answer is not None:
                asked = link.recv(8)
                if asked != SSL_REQUEST:
                    self.server.heard += asked
                self.server.asked += asked == SSL_REQUEST
                link.sendall(self.server.answer)
            if self.server.tls is not None and self.server.answer in (None, b"S"):
                link = self.server.tls.wrap_socket(link, server_side=True)
            while part := link.recv(4096):
                self.server.heard += part
                link.sendall(ASK_PASSWORD if self.server.answer is not None else b"+OK\r\n")
        link.close()


@contextmanager
def impostor(answer: bytes | None, tls: ssl.SSLContext | None = None) -> Generator[Impostor]:
    with Impostor(answer, tls) as started:
        thread = threading.Thread(target=started.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield started
        finally:
            started.shutdown()
            thread.join()
