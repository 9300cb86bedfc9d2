"""Real `gatepass serve` and `gatepass worker` processes, and a small client for them."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from gatepass.base.settings import BASE_PATH

# A busy machine needs this long; an idle one two seconds.
READY_WITHIN = 90.0
PROGRAM = str(Path(sys.executable).with_name("gatepass"))


@dataclass
class Serving:
    """One process. `lines` is all that it has printed and logged."""

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
        return httpx2.AsyncClient(base_url=self.base_url, headers=headers, timeout=30, **options)

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self._ended(10)

    def stop(self) -> int:
        """Ask it to stop, as an operator does; its exit code."""
        self.process.terminate()
        return self._ended(20)

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


def launch(environment: dict[str, str], port: int, *options: str) -> Serving:
    """Start `gatepass serve` on this port, without waiting for it."""
    environment = {"GATEPASS_PUBLIC_URL": f"http://127.0.0.1:{port}", **environment}
    return Serving(
        _start(environment, "serve", "--port", str(port), *options),
        port,
        metrics_port=int(environment.get("GATEPASS_METRICS_PORT", "0")),
    )


def launch_worker(environment: dict[str, str]) -> Serving:
    """Start `gatepass worker`, without waiting for it; what it is told before it is there waits in PostgreSQL."""
    return Serving(_start({"GATEPASS_WORKER_METRICS_PORT": "0", **environment}, "worker"))


def _start(environment: dict[str, str], *command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [PROGRAM, *command],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def gatepass(environment: dict[str, str], *arguments: str) -> str:
    """What a command that ends prints."""
    return subprocess.run(
        [PROGRAM, *arguments], env={**os.environ, **environment}, check=True, capture_output=True, text=True
    ).stdout


def serve(environment: dict[str, str], port: int, *options: str) -> Serving:
    """Start `gatepass serve` on this port and wait until it is ready."""
    serving = launch(environment, port, *options)
    try:
        wait_until_ready(serving)
    except BaseException:
        serving.kill()
        raise
    return serving


def wait_until_ready(serving: Serving) -> None:
    deadline = time.monotonic() + READY_WITHIN
    while time.monotonic() < deadline:
        if not serving.is_alive():
            raise AssertionError("gatepass serve ended:\n" + "".join(serving.lines))
        try:
            if httpx2.get(f"{serving.url}/readyz").status_code == 200:
                return
        except httpx2.TransportError:
            time.sleep(0.05)
    raise AssertionError("gatepass serve was not ready in time:\n" + "".join(serving.lines))
