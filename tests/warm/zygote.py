"""A process that has imported the program and forks another for each order: most of a start is importing.

What it forks runs the installed script with the folder, environment and files of its order. It dies with the zygote,
and the zygote ends when nobody is left to order.
"""

import ctypes
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Final

import gatepass

# Bytes of an order; most of it is the environment.
MOST: Final = 1 << 17
# Bytes of a process id, and of an exit status.
NUMBER: Final = 4
# Alembic runs these.
NOT_IMPORTED: Final = ("gatepass.migrations.env", "gatepass.migrations.versions.")
PR_SET_PDEATHSIG: Final = 1

LIBC: Final = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Order:
    """With it come the three standard files, and a pipe that gets the id of the process and then its exit status."""

    command: list[str]
    environment: dict[str, str]
    folder: str

    def send(self, control: socket.socket, files: Sequence[int], life: int) -> None:
        socket.send_fds(control, [json.dumps(asdict(self)).encode()], [*files, life])

    def become(self, files: Sequence[int]) -> None:
        """Give this process what it would have if it had been started by itself, and nothing else."""
        for number, file in enumerate(files):
            os.dup2(file, number)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(line_buffering=os.isatty(1))
        os.chdir(self.folder)
        os.environ.clear()
        os.environ.update(self.environment)
        sys.argv = self.command
        sys.path[0] = str(Path(self.command[0]).parent)


def main(control: socket.socket) -> None:
    # Ctrl-C ends what is forked. The zygote outlives that, so that pytest learns how it ended.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    import_program()
    # A collection would write to every object, and so copy all of the zygote's memory into each fork.
    gc.freeze()
    order = next_order(control)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    runpy.run_path(order.command[0], run_name="__main__")


def import_program() -> None:
    for module in pkgutil.walk_packages(gatepass.__path__, "gatepass."):
        if not module.name.startswith(NOT_IMPORTED) and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    importlib.import_module("uvloop")  # uvicorn and the worker import it when they start
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "an import starts a thread, which no fork would have"


def next_order(control: socket.socket) -> Order:
    """Fork for each order, and tell how each process ends. This returns only in what is forked."""
    lives: dict[int, tuple[int, int]] = {}
    events = select.poll()
    events.register(control, select.POLLIN)
    while True:
        for ready, _ in events.poll():
            if ready in lives:
                events.unregister(ready)
                _tell_end(ready, *lives.pop(ready))
                continue
            text, received, _, _ = socket.recv_fds(control, MOST, 4)
            if not text:
                os._exit(0)
            *files, life = received
            pid = _fork()
            if pid == 0:
                control.detach()  # `become` closes it
                order = Order(**json.loads(text))
                order.become(files)
                return order
            for file in files:
                os.close(file)
            _tell(life, pid)
            ended = os.pidfd_open(pid)
            lives[ended] = pid, life
            events.register(ended, select.POLLIN)


def _fork() -> int:
    zygote = os.getpid()
    pid = os.fork()
    if pid == 0:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != zygote:
            os._exit(1)
    return pid


def _tell_end(ended: int, pid: int, life: int) -> None:
    _, status = os.waitpid(pid, 0)
    _tell(life, status)
    os.close(life)
    os.close(ended)


def _tell(life: int, number: int) -> None:
    with suppress(BrokenPipeError):  # nobody waits for it any more
        os.write(life, number.to_bytes(NUMBER))


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
