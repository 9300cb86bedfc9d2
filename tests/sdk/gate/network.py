"""The network between a gate and the service, which a test takes away at any moment.

It is a proxy on loopback. It remembers each request, so that a test can compare the tries of one scan.
"""

import json
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

WAIT_SECONDS = 60.0
PER_HOP = {"connection", "transfer-encoding", "keep-alive"}


class State(StrEnum):
    UP = "every request is answered"
    DOWN = "connections are closed at once"
    LOSES_ANSWERS = "the service gets each request, and the gate no answer"
    LOSES_REQUESTS = "nothing arrives anywhere"


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    key: str | None
    body: dict[str, Any]


@dataclass
class Network:
    upstream_port: int
    port: int = 0
    state: State = State.UP
    requests: list[Request] = field(default_factory=list[Request])
    changed: threading.Condition = field(default_factory=threading.Condition)
    ended: bool = False
    # What is answered in place of the service, by the end of the path.
    instead: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict[str, tuple[int, dict[str, Any]]])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def becomes(self, state: State) -> None:
        with self.changed:
            self.state = state
            self.changed.notify_all()

    def sent(self, path: str) -> list[Request]:
        with self.changed:
            return [request for request in self.requests if request.path.endswith(path)]

    def remember(self, request: Request) -> State:
        with self.changed:
            self.requests.append(request)
            self.changed.notify_all()
            return self.state

    def wait_until_sent(self, path: str, times: int = 1) -> None:
        with self.changed:
            there = self.changed.wait_for(
                lambda: sum(one.path.partition("?")[0].endswith(path) for one in self.requests) >= times, WAIT_SECONDS
            )
        assert there, path

    def hold(self, state: State) -> None:
        """Say nothing for as long as the network is like this."""
        with self.changed:
            self.changed.wait_for(lambda: self.ended or self.state is not state, WAIT_SECONDS)


@contextmanager
def network_to(upstream_port: int) -> Generator[Network]:
    network = Network(upstream_port)

    class Handler(ProxyHandler):
        carried_by = network

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        network.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, args=[0.02])
        thread.start()
        try:
            yield network
        finally:
            with network.changed:
                network.ended = True
                network.changed.notify_all()
            server.shutdown()
            thread.join()


class ProxyHandler(BaseHTTPRequestHandler):
    carried_by: ClassVar[Network]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.carry()

    def do_POST(self) -> None:
        self.carry()

    def carry(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        body = json.loads(raw) if raw else {}
        state = self.carried_by.remember(Request(self.command, self.path, self.headers.get("idempotency-key"), body))
        self.close_connection = True
        # The gate may go away at any moment.
        with suppress(ConnectionError):
            path = self.path.partition("?")[0]
            if known := next((said for end, said in self.carried_by.instead.items() if path.endswith(end)), None):
                self.say(*known)
            elif state is State.UP:
                self.pass_on(raw, answers=True)
            elif state is State.LOSES_ANSWERS:
                self.pass_on(raw, answers=False)
            if state in (State.LOSES_ANSWERS, State.LOSES_REQUESTS):
                self.carried_by.hold(state)

    def pass_on(self, raw: bytes, *, answers: bool) -> None:
        with closing(HTTPConnection("127.0.0.1", self.carried_by.upstream_port, timeout=WAIT_SECONDS)) as upstream:
            upstream.request(self.command, self.path, raw or None, dict(self.headers))
            with upstream.getresponse() as response:
                self.answer(response, answers=answers)

    def say(self, status: int, body: dict[str, Any]) -> None:
        raw = json.dumps(body).encode()
        self.send_response_only(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(raw))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def answer(self, response: HTTPResponse, *, answers: bool) -> None:
        if answers:
            self.send_response_only(response.status)
            for name, value in response.getheaders():
                if name.lower() not in PER_HOP:
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
        while part := response.read1(65536):
            if answers:
                self.wfile.write(part)
                self.wfile.flush()

    def log_message(self, format: str, *arguments: object) -> None:
        """Tests print nothing."""
