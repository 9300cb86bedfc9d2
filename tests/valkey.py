"""A real Valkey or Redis for the tests, on a loopback port of its own, with nothing on disk."""

import shutil
import subprocess
from dataclasses import dataclass, field

from tests.postgres import free_port
from tests.processes import wait_until_listening

PASSWORD = "open-sesame"


@dataclass
class Valkey:
    """One server. When it is killed and started again, it has the same port and no data."""

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
        wait_until_listening(self.process, self.port)

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        self.process.kill()
        self.process.wait(10)
