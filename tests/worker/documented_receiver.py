"""The receiver of docs/guides/webhooks.md, run as a reader runs it: a process of its own, on loopback."""

import os
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path

from tests.markdown_page import Block, Page
from tests.postgres import free_port
from tests.processes import wait_until_listening

PAGE = Page.of("docs/guides/webhooks.md")
IN_PRODUCTION = Page.of("docs/guides/webhooks-in-production.md")
WITHIN = 60.0


def receiver_code() -> Block:
    """The code block with the server."""
    (found,) = [block for block in PAGE.blocks("python") if "serve_forever" in block.text]
    return found


@dataclass
class DocsReceiver:
    """`lines` are those that it has printed: one for each message that it accepted."""

    process: subprocess.Popen[str]
    port: int
    lines: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self._printed = threading.Condition()
        self._reader = threading.Thread(target=self._collect, daemon=True)
        self._reader.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def accepts(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Its status for this message, unchanged or with changes."""
        sent = {name: value for name, value in headers.items() if name not in ("host", "content-length")}
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=WITHIN)) as connection:
            connection.request("POST", "/", body, sent)
            status = connection.getresponse().status
        assert status in (204, 400)
        return status == 204

    def wait_for(self, text: str, times: int = 1) -> None:
        """Wait until it has printed this many lines with this text."""
        with self._printed:
            seen = self._printed.wait_for(lambda: sum(text in line for line in self.lines) >= times, WITHIN)
        assert seen, self.lines

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(10)
        self._reader.join(10)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _collect(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._printed:
                self.lines.append(line.rstrip("\n"))
                self._printed.notify_all()


@contextmanager
def docs_receiver(folder: Path, *secrets: str, port: int | None = None) -> Generator[DocsReceiver]:
    """With `-I -S` it can import only the standard library."""
    path, port = folder / "receiver.py", port or free_port()
    path.write_text(receiver_code().text)
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(path)],
        env={**os.environ, "WEBHOOK_SECRET": " ".join(secrets), "PORT": str(port)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    receiver = DocsReceiver(process, port)
    try:
        wait_until_listening(process, port)
        yield receiver
    finally:
        receiver.stop()
