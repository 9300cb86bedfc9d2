"""A program on a machine of the lab, under a supervisor that starts it again at once."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.ha.lab.network import Machine, send

SUPERVISOR = Path(__file__).with_name("supervisor.py")
# Seconds, as `RestartSec` in deploy/ha/systemd and deploy/systemd.
RESTARTS_AFTER = 0.1


@dataclass
class Daemon:
    name: str
    machine: Machine
    folder: Path
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    user: str | None = None
    _supervisor: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    @property
    def _pid_file(self) -> Path:
        return self.folder / f"{self.name}.pid"

    @property
    def is_supervised(self) -> bool:
        return self._supervisor is not None and self._supervisor.poll() is None

    def start(self) -> None:
        """Nothing happens if it runs already."""
        if self.is_supervised:
            return
        self._pid_file.unlink(missing_ok=True)
        user = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"] if self.user else []
        supervisor = [sys.executable, "-I", "-S", str(SUPERVISOR), str(self._pid_file), str(RESTARTS_AFTER)]
        with self.log.open("ab") as log:
            self._supervisor = subprocess.Popen(
                self.machine.command(*supervisor, *user, *self.command),
                env={**os.environ, **self.environment},
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Ctrl-C is for the one who started the lab. It ends the rest in its own order.
                start_new_session=True,
            )

    @property
    def pid(self) -> int | None:
        """The program's pid; none while it is down."""
        try:
            pid = int(self._pid_file.read_text())
            return None if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX" else pid
        except (OSError, ValueError):
            return None

    def signal(self, number: signal.Signals) -> None:
        if self.pid:
            send([self.pid], number)

    def stop(self) -> None:
        """Kill it for good: the supervisor first."""
        if self._supervisor:
            self._supervisor.kill()
            self._supervisor.wait()
            self._supervisor = None
        self.signal(signal.SIGKILL)
