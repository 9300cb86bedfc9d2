"""A database of vulnerabilities on loopback, with the interface of OSV."""

import json
import threading
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class OsvDatabase(ThreadingHTTPServer):
    """It knows these versions as vulnerable. After `answers` questions it has a fault; `hangs` answers nothing."""

    daemon_threads = True

    def __init__(self, vulnerable: Iterable[tuple[str, str]], answers: int, *, hangs: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.vulnerable = set(vulnerable)
        self.answers = answers
        self.stopped = threading.Event()
        self.hangs = hangs

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1/query"


class _Handler(BaseHTTPRequestHandler):
    server: OsvDatabase  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.hangs:
            self.server.stopped.wait()
            return
        self.server.answers -= 1
        name, version = asked["package"]["name"], asked["version"]
        known = {"vulns": [_advisory(name)]} if (name.lower(), version) in self.server.vulnerable else {}
        content = json.dumps(known).encode()
        self.send_response(200 if self.server.answers >= 0 else 500)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""


def _advisory(name: str) -> dict[str, object]:
    ranges = [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "3.1.6"}]}]
    return {
        "id": "PYSEC-2019-217",
        "summary": "A sandbox can be left.",
        "details": "",
        "modified": "2019-04-06T00:00:00Z",
        "published": "2019-04-06T00:00:00Z",
        "aliases": ["CVE-2019-10906"],
        "affected": [{"package": {"name": name, "ecosystem": "PyPI"}, "ranges": ranges, "versions": ["2.10"]}],
    }


@contextmanager
def database(*vulnerable: tuple[str, str], answers: int = 1_000, hangs: bool = False) -> Generator[OsvDatabase]:
    with OsvDatabase(vulnerable, answers, hangs=hangs) as started:
        thread = threading.Thread(target=started.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield started
        finally:
            started.stopped.set()
            started.shutdown()
            thread.join()
