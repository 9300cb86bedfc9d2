"""Machines of a lab as network namespaces on one bridge: 10.78.N.0/24, where N is the number of the lab's letter."""

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

LETTERS = "abcdefghijklmnopqrstuvwxyz"
CLIENTS = 254
OUTSIDE = 253
# Seconds. A process that was killed is gone in milliseconds, unless the machine is very busy.
GONE_WITHIN = 60.0

_libc = ctypes.CDLL(None, use_errno=True)


def run(*command: str, check: bool = True, within: float = 60) -> str:
    return subprocess.run(command, check=check, capture_output=True, text=True, timeout=within).stdout


@dataclass(frozen=True)
class Machine:
    """One namespace with one network card, `e0`."""

    namespace: str
    address: str

    def command(self, *command: str) -> list[str]:
        return ["ip", "netns", "exec", self.namespace, *command]

    def run(self, *command: str, check: bool = True) -> str:
        return run(*self.command(*command), check=check)

    def pids(self) -> list[int]:
        return [int(pid) for pid in run("ip", "netns", "pids", self.namespace, check=False).split()]

    @contextlib.contextmanager
    def inside(self) -> Generator[None]:
        """Sockets that this thread makes meanwhile are those of the machine."""
        there = Path("/run/netns") / self.namespace
        with Path("/proc/thread-self/ns/net").open() as home, there.open() as away:
            _enter(away.fileno())
            try:
                yield
            finally:
                _enter(home.fileno())

    def kill_all(self) -> None:
        """End everything that runs on it, and what is started meanwhile."""
        until = time.monotonic() + GONE_WITHIN
        while pids := self.pids():
            if time.monotonic() > until:
                raise TimeoutError(f"processes of {self.namespace} do not end: {pids}")
            send(pids, signal.SIGKILL)
            time.sleep(0.02)


def send(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _enter(descriptor: int) -> None:
    if _libc.setns(descriptor, 0):
        raise OSError(ctypes.get_errno(), "setns")


class Network:
    """The nodes 1 to 3, and the machine of the clients, which holds the bridge."""

    def __init__(self, letter: str, nodes: int = 3) -> None:
        self.letter = letter
        self.prefix = f"10.78.{LETTERS.index(letter) + 1}"
        self.clients = self._machine(0, CLIENTS)
        self.nodes = [self._machine(number, number) for number in range(1, nodes + 1)]

    def _machine(self, number: int, host: int) -> Machine:
        return Machine(f"gp{self.letter}{number}", f"{self.prefix}.{host}")

    @property
    def machines(self) -> list[Machine]:
        return [*self.nodes, self.clients]

    def create(self) -> None:
        hub = self.clients.namespace
        for machine in self.machines:
            run("ip", "netns", "add", machine.namespace)
            run("ip", "-n", machine.namespace, "link", "set", "lo", "up")
        run("ip", "-n", hub, "link", "add", "e0", "type", "bridge")
        for number, machine in enumerate(self.nodes, 1):
            port = f"port{number}"
            run("ip", "-n", hub, "link", "add", port, "type", "veth", "peer", "name", "e0", "netns", machine.namespace)
            run("ip", "-n", hub, "link", "set", port, "master", "e0", "up")
        for machine in self.machines:
            run("ip", "-n", machine.namespace, "address", "add", f"{machine.address}/24", "dev", "e0")
            run("ip", "-n", machine.namespace, "link", "set", "e0", "up")

    def join_this_machine(self) -> None:
        """Programs outside of the namespaces reach the nodes too. The card ends with its peer."""
        card, hub = f"gp{self.letter}", self.clients.namespace
        run("ip", "link", "add", card, "type", "veth", "peer", "name", "outside", "netns", hub)
        run("ip", "-n", hub, "link", "set", "outside", "master", "e0", "up")
        run("ip", "address", "add", f"{self.prefix}.{OUTSIDE}/24", "dev", card)
        run("ip", "link", "set", card, "up")

    def remove(self) -> None:
        """Also what another process left behind."""
        there = [machine for machine in self.machines if Path(f"/run/netns/{machine.namespace}").exists()]
        for machine in there:
            machine.kill_all()
        for machine in there:
            run("ip", "netns", "delete", machine.namespace)
