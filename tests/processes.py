"""Real `gatepass serve` and `gatepass worker` processes, and a small client for them; servers of others."""

import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2

from gatepass.base.settings import BASE_PATH

# A busy machine needs this long; an idle one two seconds.
READY_WITHIN = 90.0
LISTENS_WITHIN = 20.0
PROGRAM = str(Path(sys.executable).with_name("gatepass"))
Start = Callable[[Sequence[str], Mapping[str, str]], subprocess.Popen[str]]
# A client that is given none reads all certificates of this machine, which takes longer than most tests call.
CERTIFICATES = ssl.create_default_context()


@dataclass
class GatepassProcess:
    """One process. `lines` is its output and its log."""

    process: subprocess.Popen[str]
    port: int = 0
    lines: list[str] = field(default_factory=list[str])
    metrics_port: int = 0

    def __post_init__(self) -> None:
        self._reader = threading.Thread(target=self._collect, daemon=True)
        self._reader.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return self.url + BASE_PATH

    def client(self, key: str | None = None, **options: Any) -> httpx2.AsyncClient:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx2.AsyncClient(base_url=self.base_url, headers=headers, timeout=30, verify=CERTIFICATES, **options)

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self._ended(10)

    def stop(self) -> int:
        """Send SIGTERM; its exit code."""
        self.process.terminate()
        return self._ended(20)

    def wait_for_line(self, text: str) -> str:
        """The first line of its output with this text."""
        deadline = time.monotonic() + READY_WITHIN
        while time.monotonic() < deadline and self.is_alive():
            for line in list(self.lines):
                if text in line:
                    return line
            time.sleep(0.02)
        raise AssertionError(f"{text!r} was not printed:\n" + "".join(self.lines))

    def _ended(self, within: float) -> int:
        code = self.process.wait(within)
        self._reader.join(within)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code

    def _collect(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)


def cold(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
    """Start the program as it is installed. tests/warm has a way that costs an eighth of it."""
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def launch(environment: dict[str, str], port: int, *options: str, start: Start = cold) -> GatepassProcess:
    """Start `gatepass serve` on this port, without waiting for it."""
    environment = {"GATEPASS_PUBLIC_URL": f"http://127.0.0.1:{port}", **environment}
    return GatepassProcess(
        start([PROGRAM, "serve", "--port", str(port), *options], {**os.environ, **environment}),
        port,
        metrics_port=int(environment.get("GATEPASS_METRICS_PORT", "0")),
    )


def launch_worker(environment: dict[str, str], *, start: Start = cold) -> GatepassProcess:
    """Start `gatepass worker`, without waiting for it: its work waits in PostgreSQL."""
    return GatepassProcess(
        start([PROGRAM, "worker"], {**os.environ, "GATEPASS_WORKER_METRICS_PORT": "0", **environment})
    )


def memory(server: GatepassProcess) -> float:
    """Megabytes that the process has in memory."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def gatepass(environment: dict[str, str], *arguments: str) -> str:
    """The output of a command that ends."""
    return subprocess.run(
        [PROGRAM, *arguments], env={**os.environ, **environment}, check=True, capture_output=True, text=True
    ).stdout


def serve(environment: dict[str, str], port: int, *options: str, start: Start = cold) -> GatepassProcess:
    """Start `gatepass serve` on this port and wait until it is ready."""
    server = launch(environment, port, *options, start=start)
    try:
        wait_until_ready(server)
    except BaseException:
        server.kill()
        raise
    return server


def wait_until_ready(server: GatepassProcess) -> None:
    deadline = time.monotonic() + READY_WITHIN
    while time.monotonic() < deadline:
        if not server.is_alive():
            raise AssertionError("gatepass serve ended:\n" + "".join(server.lines))
        if status_of(f"{server.url}/readyz") == 200:
            return
        time.sleep(0.02)
    raise AssertionError("gatepass serve was not ready in time:\n" + "".join(server.lines))


def status_of(url: str, timeout: float = 10) -> int:
    """The status of this page, or 0 while nobody answers. For loops that wait for it."""
    try:
        return page_of(url, timeout)[0]
    except (OSError, HTTPException):
        return 0


def page_of(url: str, timeout: float = 10, **headers: str) -> tuple[int, str]:
    """The status and the text of a page. It is cheap enough to be asked for often, which a client of httpx2 is not."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)
    try:
        connection.request("GET", parts.path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def wait_until_listening(
    process: subprocess.Popen[bytes] | subprocess.Popen[str], port: int, log: Path | None = None
) -> None:
    """For a server of others, at a loopback port. It is killed if it does not come up; `log` says why."""
    deadline = time.monotonic() + LISTENS_WITHIN
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as connection:
            if connection.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    process.kill()
    said = f" It wrote: {log.read_text()}" if log else ""
    raise AssertionError(f"{process.args!r} does not listen; is its port taken?{said}")
