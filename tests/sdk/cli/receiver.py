"""A receiver on this machine: it keeps every request, and answers with the given statuses."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.sdk.cli.terminal import WAIT_SECONDS


@dataclass(frozen=True)
class ReceivedRequest:
    path: str
    headers: dict[str, str]
    body: bytes
    status: int

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]


@dataclass
class LocalReceiver:
    """`answers` are the next statuses, then 204. While `unblocked` is not set, it takes messages and answers none."""

    url: str = ""
    answers: list[int] = field(default_factory=list[int])
    received: list[ReceivedRequest] = field(default_factory=list[ReceivedRequest])
    unblocked: threading.Event = field(default_factory=threading.Event)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def accepted(self, path: str) -> list[ReceivedRequest]:
        return [one for one in self.received if one.path == path and one.status == 204]

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        with self.changed:
            assert self.changed.wait_for(is_so, WAIT_SECONDS), [(one.path, one.id, one.status) for one in self.received]

    def add(self, received: ReceivedRequest) -> None:
        with self.changed:
            self.received.append(received)
            self.changed.notify_all()


@contextmanager
def receiving() -> Generator[LocalReceiver]:
    receiver = LocalReceiver()
    receiver.unblocked.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers["content-length"]))
            if not receiver.unblocked.is_set():
                receiver.add(ReceivedRequest(self.path, headers, body, 0))
                receiver.unblocked.wait(WAIT_SECONDS)
                return
            status = receiver.answers.pop(0) if receiver.answers and self.path == "/forwarded" else 204
            self.send_response(status)
            self.end_headers()
            receiver.add(ReceivedRequest(self.path, headers, body, status))

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.unblocked.set()
        server.shutdown()
        server.server_close()
        thread.join(WAIT_SECONDS)
