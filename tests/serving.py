"""Real `gatepass serve` processes, and a small client for them."""

import os
import re
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

READY_WITHIN = 30.0
LISTENING = re.compile(r"http://127\.0\.0\.1:(\d+)")


@dataclass
class Serving:
    """One process. `lines` is all that it has printed and logged."""

    process: subprocess.Popen[str]
    port: int = 0
    lines: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return self.url + BASE_PATH

    def client(self, key: str | None = None, **options: Any) -> httpx2.AsyncClient:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx2.AsyncClient(base_url=self.base_url, headers=headers, timeout=30, **options)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def stop(self) -> int:
        """Ask it to stop, as an operator does; its exit code."""
        self.process.terminate()
        return self.process.wait(20)


def serve(environment: dict[str, str], port: int) -> Serving:
    """Start `gatepass serve` on this port and wait until it is ready."""
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("gatepass")), "serve", "--port", str(port)],
        env={**os.environ, **environment, "GATEPASS_PUBLIC_URL": f"http://127.0.0.1:{port}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    serving = Serving(process, port)
    threading.Thread(target=_collect, args=(serving,), daemon=True).start()
    _wait_until_ready(serving)
    return serving


def _collect(serving: Serving) -> None:
    assert serving.process.stdout is not None
    serving.lines.extend(serving.process.stdout)


def _wait_until_ready(serving: Serving) -> None:
    deadline = time.monotonic() + READY_WITHIN
    while time.monotonic() < deadline:
        if serving.process.poll() is not None:
            raise AssertionError("gatepass serve ended:\n" + "".join(serving.lines))
        try:
            if httpx2.get(f"{serving.url}/readyz").status_code == 200:
                return
        except httpx2.TransportError:
            time.sleep(0.05)
    raise AssertionError("gatepass serve was not ready in time:\n" + "".join(serving.lines))
