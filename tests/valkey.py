"""A real Valkey or Redis for the tests, on a loopback port of its own, keeping nothing on disk."""

import shutil
import socket
import subprocess
import time
from dataclasses import dataclass, field

from tests.postgres import free_port

UP_WITHIN = 20.0
PASSWORD = "open-sesame"


@dataclass
class Valkey:
    """One server. Killed and started again it has the same port and remembers nothing."""

    port: int = field(default_factory=free_port)

    def __post_init__(self) -> None:
        self.start()

    @property
    def url(self) -> str:
        return f"redis://:{PASSWORD}@127.0.0.1:{self.port}/0"

    def start(self) -> None:
        program = shutil.which("valkey-server") or shutil.which("redis-server")
        assert program, "these tests need valkey-server or redis-server (Debian: apt install redis-server)"
        options = {"port": self.port, "bind": "127.0.0.1", "requirepass": PASSWORD, "save": "", "appendonly": "no"}
        self.process = subprocess.Popen(
            [program, *(text for name, value in options.items() for text in (f"--{name}", str(value)))],
            stdout=subprocess.DEVNULL,
            cwd="/",
        )
        deadline = time.monotonic() + UP_WITHIN
        while not self._listens():
            assert self.process.poll() is None, "the server ended; is its port taken?"
            assert time.monotonic() < deadline, "the server is not up in time"
            time.sleep(0.02)

    def kill(self) -> None:
        """As a power cut would: no goodbye."""
        self.process.kill()
        self.process.wait(10)

    def _listens(self) -> bool:
        with socket.socket() as connection:
            return connection.connect_ex(("127.0.0.1", self.port)) == 0
