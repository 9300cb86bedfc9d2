"""A receiver on this machine: it keeps what it gets, and answers as it is told to."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.sdk.cli.terminal import PATIENCE


@dataclass(frozen=True)
class Got:
    path: str
    headers: dict[str, str]
    body: bytes
    status: int

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]


@dataclass
class Receiver:
    """`answers` are the next statuses, then 204. While it is `stuck` it takes messages and answers none."""

    url: str = ""
    answers: list[int] = field(default_factory=list[int])
    got: list[Got] = field(default_factory=list[Got])
    free: threading.Event = field(default_factory=threading.Event)
    news: threading.Condition = field(default_factory=threading.Condition)

    def accepted(self, path: str) -> list[Got]:
        return [one for one in self.got if one.path == path and one.status == 204]

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        with self.news:
            assert self.news.wait_for(is_so, PATIENCE), [(one.path, one.id, one.status) for one in self.got]

    def note(self, got: Got) -> None:
        with self.news:
            self.got.append(got)
            self.news.notify_all()


@contextmanager
def receiving() -> Generator[Receiver]:
    receiver = Receiver()
    receiver.free.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers["content-length"]))
            if not receiver.free.is_set():
                receiver.note(Got(self.path, headers, body, 0))
                receiver.free.wait(PATIENCE)
                return
            status = receiver.answers.pop(0) if receiver.answers and self.path == "/forwarded" else 204
            self.send_response(status)
            self.end_headers()
            receiver.note(Got(self.path, headers, body, status))

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
        receiver.free.set()
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE)
