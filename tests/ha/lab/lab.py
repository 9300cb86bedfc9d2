"""The whole service over a cluster: HAProxy, PgBouncer, one API process for each way to the database, a worker.

    with Lab("a") as lab:
        lab.urls            # {"haproxy": "http://10.78.1.254:8001", ...}
        lab.leader()        # the node whose PostgreSQL is the primary
        lab.is_healthy()

Everything is in network namespaces and in one folder. What a crash left of a lab of this letter is removed first.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from gatepass.base.encryption import new_key
from tests.ha.lab.cluster import ROOT, STARTED_WITHIN, Cluster, Node, render, wait_for
from tests.ha.lab.daemon import Daemon
from tests.ha.lab.network import LETTERS, Network, run
from tests.processes import status_of

PROGRAM = str(Path(sys.executable).with_name("gatepass"))
# What tools/ has built and installed.
PROGRAMS = ROOT / ".programs"
WAYS = ("haproxy", "multihost", "pgbouncer")
RECEIVER_PORT = 8090


class LabTakenError(Exception):
    """Another process runs a lab of this letter."""


class Lab:
    def __init__(self, letter: str | None = None, folder: Path = Path("/tmp")) -> None:  # noqa: S108  names are by letter
        self._lock, self.letter = _claim(letter)
        self.folder = folder / f"gatepass-ha-{self.letter}"
        self.network = Network(self.letter)
        programs = self.folder / "programs"
        self.cluster = Cluster(self.network, self.folder, programs / _tool("patroni").name)
        self._pgbouncer = programs / _tool("pgbouncer").relative_to(PROGRAMS)
        self.environment = {
            "GATEPASS_ENCRYPTION_KEYS": new_key(),
            "GATEPASS_HOST": self.network.clients.address,
            "GATEPASS_WEBHOOK_ALLOW_PRIVATE": "1",
            "GATEPASS_LOG_LEVEL": "warning",
        }
        self.haproxy = self._daemon("haproxy", "haproxy", "-db", "-f", str(self.folder / "haproxy.cfg"))
        self.pgbouncer = self._daemon("pgbouncer", str(self._pgbouncer), str(self.folder / "pgbouncer.ini"))
        self.pgbouncer.user = "postgres"
        self.apis = {way: self._api(way, number) for number, way in enumerate(WAYS, 1)}
        self.worker = self._gatepass("worker", "haproxy", "worker", GATEPASS_WORKER_METRICS_PORT="9491")
        self.world = self.folder / "world.json"
        self.received = self.folder / "received.jsonl"
        self.receiver = self._python(
            "receiver", "tests.ha.receiver", self.network.clients.address, str(RECEIVER_PORT), str(self.world),
            str(self.received),
        )  # fmt: skip

    @property
    def urls(self) -> dict[str, str]:
        """The API for each way to the database."""
        return {way: f"http://{self.network.clients.address}:{8000 + n}" for n, way in enumerate(WAYS, 1)}

    def database_url(self, way: str) -> str:
        start = f"postgresql://gatepass:{self.cluster.passwords['APPLICATION']}@"
        match way:
            case "haproxy":
                return start + "127.0.0.1:5000/gatepass"
            case "pgbouncer":
                return start + "127.0.0.1:6432/gatepass"
            case _:
                hosts = ",".join(f"{node.machine.address}:5432" for node in self.cluster.nodes)
                return start + hosts + "/gatepass?target_session_attrs=read-write"

    def leader(self) -> Node | None:
        return self.cluster.leader()

    def is_healthy(self) -> bool:
        """The cluster is complete, and every API process can commit."""
        return self.cluster.is_healthy() and all(map(self.is_ready, WAYS))

    def is_ready(self, way: str) -> bool:
        with self.network.clients.inside():
            return status_of(self.urls[way] + "/readyz", timeout=2) == 200

    def start_cluster(self) -> None:
        """The three nodes with an empty database, without anything that uses it."""
        self.remove()
        self.folder.mkdir()
        self._mount_programs()
        self.network.create()
        self.cluster.start()
        own = {"NODE": "clients", "ADDRESS": self.network.clients.address, "ETCD_DATA": "none"}
        render({**self.cluster.variables, **own, "POSTGRES_DATA": "none", "POSTGRES_SOCKETS": "none"}, self.folder)
        leader = self.leader()
        assert leader is not None
        for statement in filter(None, map(str.strip, (self.folder / "database.sql").read_text().split(";"))):
            self.cluster.sql(leader, statement)

    def start(self) -> None:
        self.start_cluster()
        for name in ("pgbouncer.ini", "pgbouncer.users"):
            shutil.chown(self.folder / name, "postgres", "postgres")
        self.haproxy.start()
        self.pgbouncer.start()
        self.run(PROGRAM, "migrate", GATEPASS_DATABASE_URL=self.database_url("haproxy"))
        for api in self.apis.values():
            api.start()
        wait_for(self.is_healthy, STARTED_WITHIN, "the API is not ready")

    def populate(self, tickets: int) -> None:
        """An organization with so many tickets, and what sends and takes its webhooks."""
        self.receiver.stop()
        self.received.unlink(missing_ok=True)
        to = f"http://{self.network.clients.address}:{RECEIVER_PORT}/"
        url = self.database_url("haproxy")
        self.run(sys.executable, "-m", "tests.ha.world", url, str(tickets), to, str(self.world))
        self.receiver.start()
        self.worker.start()

    def stop(self) -> None:
        self.remove()
        os.close(self._lock)

    def remove(self) -> None:
        """Processes, namespaces, mounts and files, also those of a lab that was left behind."""
        self.network.remove()
        mounted = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
        for place in mounted:
            if place.startswith(f"{self.folder}/"):
                run("umount", "-l", place)
        run("rm", "-rf", "--one-file-system", str(self.folder))

    def run(self, *command: str, **environment: str) -> str:
        """A command of the clients' machine, with the settings of the service."""
        done = subprocess.run(
            self.network.clients.command(*command),
            env={**os.environ, **self.environment, **environment},
            cwd=ROOT,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command[:3])} ended with {done.returncode}:\n{done.stdout}")
        return done.stdout

    def _mount_programs(self) -> None:
        """The user postgres may not be allowed to enter the folder of this repository."""
        programs = self.folder / "programs"
        programs.mkdir()
        run("mount", "--bind", "-o", "ro", str(PROGRAMS), str(programs))

    def _daemon(self, name: str, *command: str, **environment: str) -> Daemon:
        return Daemon(name, self.network.clients, self.folder, command, environment)

    def _gatepass(self, name: str, way: str, *command: str, **environment: str) -> Daemon:
        url = {"GATEPASS_DATABASE_URL": self.database_url(way)}
        return self._daemon(name, PROGRAM, *command, **self.environment, **url, **environment)

    def _api(self, way: str, number: int) -> Daemon:
        ports = {"GATEPASS_PORT": f"800{number}", "GATEPASS_METRICS_PORT": f"947{number}"}
        return self._gatepass(f"api-{way}", way, "serve", "--only", "api", **ports)

    def _python(self, name: str, module: str, *arguments: str) -> Daemon:
        return self._daemon(name, sys.executable, "-m", module, *arguments, PYTHONPATH=str(ROOT))

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


def _claim(letter: str | None) -> tuple[int, str]:
    """A letter that no other process has, for as long as this one lives."""
    for one in letter or LETTERS:
        lock = os.open(f"/run/lock/gatepass-ha-{one}", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock, one
        os.close(lock)
    raise LabTakenError(f"a lab of the letter {letter} runs already" if letter else "labs of all letters run already")


def _tool(name: str) -> Path:
    """The program; the first call builds it, which takes minutes on a busy machine."""
    return Path(run(str(ROOT / "tools" / name), within=600).strip())
