"""A connection to an API process that costs the client as little CPU as can be: bytes out, bytes in."""

import json
import socket
from typing import Any

from gatepass.base.settings import BASE_PATH

TIMEOUT = 60.0


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT)


def post(path: str, key: str, idempotency_key: str, content: dict[str, Any]) -> bytes:
    """A request, ready to be sent."""
    body = json.dumps(content)
    return (
        f"POST {BASE_PATH}{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Type: application/json\r\nIdempotency-Key: {idempotency_key}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    ).encode()


def read_answer(connection: socket.socket) -> bytes:
    """The answer, whole: head and body."""
    answer, end = bytearray(), 0
    while not end or len(answer) < end:
        piece = connection.recv(1 << 20)
        if not piece:
            raise ConnectionError("the server closed the connection")
        answer += piece
        if not end and (head := answer.find(b"\r\n\r\n")) >= 0:
            length = answer[:head].lower().partition(b"content-length:")[2].split()[0]
            end = head + 4 + int(length)
    return bytes(answer)
