"""`gatepass` processes as in tests/processes.py, forked from one that has imported the program already.

They are real processes, and have all of their own but the import. What tests a start, memory or imports uses
tests/processes.py instead, and so does one test of each command.
"""

import atexit
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests import processes
from tests.warm import zygote
from tests.warm.zygote import NUMBER, Order

ROOT: Final = Path(__file__).parents[2]
# What may differ from the environment in which the program was imported, because it is read later than that.
READ_LATER: Final = ("GATEPASS_", "PYTEST_", "NOTIFY_SOCKET", "COLUMNS")
STOPS_WITHIN: Final = 10.0


class WarmProcess(subprocess.Popen[str]):
    """Its parent is the zygote, which tells here how it ended."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        folder: Path | None = None,
        stdout: int | None = subprocess.PIPE,
        stderr: int | None = subprocess.STDOUT,
    ) -> None:
        self._reading = threading.Lock()
        super().__init__(command, env=environment, cwd=folder, stdout=stdout, stderr=stderr, text=True)

    # Of `subprocess.Popen`, these three are what touches the operating system.

    def _execute_child(self, args: Sequence[str], *given: Any) -> None:
        folder, environment = given[4:6]
        sys.audit("subprocess.Popen", args[0], args, folder, environment)
        p2cread, _, _, c2pwrite, _, errwrite = ends = given[9:15]
        files = [asked if asked != -1 else own for own, asked in enumerate((p2cread, c2pwrite, errwrite))]
        order = Order(list(args), dict(environment), str(folder or Path.cwd()))
        try:
            self.pid, self._life = _the_zygote().fork(order, files)
        finally:
            self._close_pipe_fds(*ends)  # pyright: ignore[reportAttributeAccessIssue]
        self._child_created = True

    def _internal_poll(self, _deadstate: int | None = None) -> int | None:
        if self.returncode is None and self._reading.acquire(blocking=False):
            try:
                self._read_status(0)
            finally:
                self._reading.release()
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self._reading.acquire(timeout=-1 if timeout is None else timeout):
            try:
                self._read_status(timeout)
            finally:
                self._reading.release()
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self.returncode

    def _read_status(self, within: float | None) -> None:
        if self.returncode is None and is_readable(self._life, within):
            status = os.read(self._life, NUMBER)
            os.close(self._life)
            # Without a word from it, the zygote has ended, and so all that it forked was killed.
            self.returncode = os.waitstatus_to_exitcode(int.from_bytes(status)) if status else -signal.SIGKILL


class Zygote:
    """The process that forks. It lives as long as this one, which starts it when it wants the first process."""

    def __init__(self) -> None:
        self._environment = {name: value for name, value in os.environ.items() if not is_read_later(name)}
        self._control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self.process = subprocess.Popen(
                [sys.executable, "-m", zygote.__name__, str(other.fileno())],
                pass_fds=[other.fileno()],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        atexit.register(self._stop)

    def fork(self, order: Order, files: Sequence[int]) -> tuple[int, int]:
        """The id of a new process, and the pipe that will tell its exit status."""
        asked = {(name, value) for name, value in order.environment.items() if not is_read_later(name)}
        changed = {name for name, _ in asked ^ self._environment.items()}
        assert not changed, f"{changed} may be read by an import, so this process has to start cold"
        life, other = os.pipe()
        try:
            order.send(self._control, files, other)
        finally:
            os.close(other)
        pid = os.read(life, NUMBER)
        assert pid, "the zygote has ended"
        return int.from_bytes(pid), life

    def _stop(self) -> None:
        self._control.close()
        self.process.wait(STOPS_WITHIN)


def is_read_later(name: str) -> bool:
    return name.startswith(READ_LATER)


def is_readable(file: int, within: float | None) -> bool:
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(None if within is None else 1000 * within))


_zygotes: list[Zygote] = []
_starting = threading.Lock()


def _the_zygote() -> Zygote:
    with _starting:
        if not _zygotes:
            _zygotes.append(Zygote())
    return _zygotes[0]


launch = partial(processes.launch, start=WarmProcess)
launch_worker = partial(processes.launch_worker, start=WarmProcess)
serve = partial(processes.serve, start=WarmProcess)
