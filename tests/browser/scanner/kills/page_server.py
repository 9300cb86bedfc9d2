"""The server of a page with a gate in it: it tells the page what to do, and hears what its screen would show.

It is also the network to the service, which a test takes away; the page and its answers stay.
"""

import json
import queue
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from typing import Any, ClassVar

from tests.sdk.gate.network import Network, ProxyHandler, State
from tests.sdk.gate.venue import Venue
from tests.sdk.javascript.gate.lead import Lead

Task = dict[str, Any]

PAGE = b'<!doctype html><html lang="en"><title>A gate</title><script type="module" src="/gate.js"></script>'
REST: Task = {"do": "rest"}
# A browser that starts on a busy machine.
HEARS_WITHIN = 120.0


@dataclass
class PageServer:
    script: bytes
    network: Network
    # What the page does next; it rests if there is nothing.
    tasks: "queue.SimpleQueue[Task]" = field(default_factory=queue.SimpleQueue)
    heard: "queue.SimpleQueue[tuple[str, Any]]" = field(default_factory=queue.SimpleQueue)

    @property
    def url(self) -> str:
        return self.network.url

    def hear(self, *expected: str) -> Any:
        """What the page says about this, next. What it says besides is dropped."""
        while True:
            what, value = self.heard.get(timeout=HEARS_WITHIN)
            assert what != "failed", value
            if what in expected:
                return value

    def answer(self, what: str, value: Any) -> Task:
        self.heard.put((what, value))
        if what == "words":
            return REST
        try:
            return self.tasks.get_nowait()
        except queue.Empty:
            return REST

    def clear(self) -> list[tuple[str, Any]]:
        """Nothing more is to be done. Returns what was heard and not looked at."""
        while not self.tasks.empty():
            self.tasks.get()
        rest: list[tuple[str, Any]] = []
        while not self.heard.empty():
            rest.append(self.heard.get())
        return rest


class PageHandler(ProxyHandler):
    page: ClassVar[PageServer]

    def do_GET(self) -> None:  # noqa: N802  the name that http.server calls
        if self.path == "/":
            self.give(PAGE, "text/html")
        elif self.path == "/gate.js":
            self.give(self.page.script, "text/javascript")
        else:
            self.carry()

    def do_POST(self) -> None:  # noqa: N802  the same
        if self.path != "/told":
            self.carry()
            return
        what, value = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.give(json.dumps(self.page.answer(what, value)).encode(), "application/json")

    def give(self, content: bytes, kind: str) -> None:
        try:
            self.send_response_only(200)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(content)
        except ConnectionError:
            # The browser was killed.
            self.close_connection = True


class QuietServer(ThreadingHTTPServer):
    """A browser that is killed leaves connections behind: that is no error of this server."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Nobody reads it."""


@contextmanager
def served(upstream_port: int, script: bytes) -> Generator[PageServer]:
    network = Network(upstream_port)
    opened = PageServer(script, network)

    class Handler(PageHandler):
        carried_by = network
        page = opened

    with QuietServer(("127.0.0.1", 0), Handler) as server:
        network.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, args=[0.02])
        thread.start()
        try:
            yield opened
        finally:
            network.becomes(State.DOWN)
            with network.changed:
                network.ended = True
                network.changed.notify_all()
            server.shutdown()
            thread.join()


def paired(venue: Venue, page: PageServer, cards: int) -> str:
    """A browser that has just started pairs, and gets the manifest with all cards. Returns the id of the device."""
    lead = Lead(venue)
    page.tasks.put({"do": "pair", "code": lead.code.text})
    assert not page.hear("opened")["paired"]
    lead.confirm(tuple(page.hear("words")))
    device_id: str = page.hear("paired")
    known = None
    while known != cards:
        page.tasks.put({"do": "learn"})
        known = page.hear("learned")
    return device_id
