"""Three nodes with etcd, Patroni and PostgreSQL 15, started from the very files of deploy/ha."""

import contextlib
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2
import psycopg

from tests.ha.lab.daemon import Daemon
from tests.ha.lab.network import Machine, Network, run

ROOT = Path(__file__).parents[3]
REFERENCE = ROOT / "deploy" / "ha"
CLOCK = Path(__file__).with_name("clock.c")
POSTGRES_BIN = Path("/usr/lib/postgresql/15/bin")
# PostgreSQL's data is in memory, and so little of it that a full disk is quickly made.
DISK = "1g"
SIZES = {"POSTGRES_SHARED_BUFFERS": "128MB", "POSTGRES_MAX_WAL_SIZE": "192MB"}
# Seconds. Some 15 on an idle machine.
STARTED_WITHIN = 120.0
# Seconds that a node has to answer a question.
ANSWERS_WITHIN = 1.0


class Node:
    def __init__(self, name: str, machine: Machine, folder: Path, programs: Path) -> None:
        self.name = name
        self.machine = machine
        self.folder = folder
        self.data = folder / "disk" / "postgres"
        self.etcd = Daemon(
            "etcd", machine, folder, ["etcd", "--config-file", str(folder / "etcd.yml")], user="postgres"
        )
        self.patroni = Daemon(
            "patroni",
            machine,
            folder,
            ["/usr/bin/python3", "-m", "patroni", str(folder / "patroni.yml")],
            {"PYTHONPATH": str(programs), "HOME": str(folder)}
            | {"LD_PRELOAD": str(folder / "clock.so"), "CLOCK_FILE": str(folder / "clock")},
            user="postgres",
        )

    def create(self, variables: Mapping[str, str]) -> None:
        """Its folder: the rendered files, and a small disk for PostgreSQL."""
        (self.folder / "disk").mkdir(parents=True)
        run("mount", "-t", "tmpfs", "-o", f"size={DISK},mode=755", "tmpfs", str(self.folder / "disk"))
        run("gcc", "-shared", "-fPIC", "-O2", "-o", str(self.folder / "clock.so"), str(CLOCK), "-ldl")
        (self.folder / "clock").write_bytes(bytes(8))
        own = {"POSTGRES_DATA": str(self.data), "ETCD_DATA": str(self.folder / "etcd")}
        render(
            {**variables, **own, "NODE": self.name, "ADDRESS": self.machine.address}
            | {"POSTGRES_SOCKETS": str(self.folder)},
            self.folder,
        )
        for path in [self.folder, *self.folder.rglob("*")]:
            shutil.chown(path, "postgres", "postgres")

    def start(self) -> None:
        self.etcd.start()
        self.patroni.start()

    def set_clock(self, ahead: int) -> None:
        """So many seconds ahead of the real one. etcd has the real one: Go programs ask the kernel themselves."""
        with (self.folder / "clock").open("r+b") as file:
            file.write(ahead.to_bytes(8, sys.byteorder, signed=True))

    def postmaster(self) -> int | None:
        try:
            pid = int((self.data / "postmaster.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return None
        return pid if Path(f"/proc/{pid}").exists() else None

    def postgres(self) -> list[int]:
        """The postmaster, then its children."""
        postmaster = self.postmaster()
        if postmaster is None:
            return []
        return [postmaster, *map(int, Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split())]


def render(variables: Mapping[str, str], folder: Path) -> None:
    """As an operator does it: fill cluster.env, call render.sh."""
    filled = folder / "cluster.env"
    filled.write_text("".join(f"{name}={value}\n" for name, value in variables.items()))
    subprocess.run([str(REFERENCE / "render.sh"), str(filled), str(folder)], check=True)


class Cluster:
    def __init__(self, network: Network, folder: Path, programs: Path) -> None:
        self.network = network
        # A connection for each question: one that is kept would hang with its machine.
        self._http = httpx2.Client(timeout=ANSWERS_WITHIN, limits=httpx2.Limits(max_keepalive_connections=0))
        self.passwords = {
            name: secrets.token_hex(16) for name in ("SUPERUSER", "REPLICATION", "REWIND", "PATRONI", "APPLICATION")
        }
        self.variables = {
            **{f"NODE{number}": machine.address for number, machine in enumerate(network.nodes, 1)},
            **{f"{name}_PASSWORD": value for name, value in self.passwords.items()},
            "CLIENTS": f"{network.prefix}.0/24",
            "POSTGRES_BIN": str(POSTGRES_BIN),
            **SIZES,
        }
        self.nodes = [
            Node(f"node{number}", machine, folder / f"node{number}", programs)
            for number, machine in enumerate(network.nodes, 1)
        ]

    def start(self) -> None:
        for node in self.nodes:
            node.create(self.variables)
            node.etcd.start()
        # Patroni would look again only after five seconds.
        wait_for(self.etcd_leader, STARTED_WITHIN, "etcd has no leader")
        for node in self.nodes:
            node.patroni.start()
        wait_for(self.is_healthy, STARTED_WITHIN, "the cluster is not healthy")

    def node(self, name: str) -> Node:
        return next(node for node in self.nodes if node.name == name)

    def ask(self, node: Node, path: str, **request: Any) -> httpx2.Response:
        """Patroni's own interface, from the clients' machine."""
        method = request.pop("method", "POST") if request else "GET"
        auth = ("patroni", self.passwords["PATRONI"])
        with self.network.clients.inside():
            return self._http.request(method, f"http://{node.machine.address}:8008{path}", auth=auth, **request)

    def members(self) -> list[dict[str, Any]]:
        """What the first node that answers knows of all; empty if none does."""
        for node in self.nodes:
            try:
                return self.ask(node, "/cluster").json()["members"]
            except (httpx2.HTTPError, ValueError, KeyError):
                continue
        return []

    def leader(self) -> Node | None:
        name = next((one["name"] for one in self.members() if one["role"] == "leader"), None)
        return self.node(name) if name else None

    def is_healthy(self, standbys: int = 2) -> bool:
        """All nodes run, and so many synchronous standbys have nearly all that the primary has."""
        members = self.members()
        leader = next((one["name"] for one in members if one["role"] == "leader"), None)
        if leader is None or sorted(one["name"] for one in members) != [node.name for node in self.nodes]:
            return False
        if any(one["state"] not in ("running", "streaming") for one in members):
            return False
        if len({one.get("timeline") for one in members}) != 1:
            return False
        try:
            return int(self.sql(self.node(leader), SYNCHRONOUS)) == standbys
        except psycopg.Error:
            return False

    def sql(self, node: Node, statement: str, database: str = "postgres") -> str:
        """The first value of a statement that the superuser runs on a node."""
        with (
            node.machine.inside(),
            psycopg.connect(
                host=node.machine.address,
                user="postgres",
                password=self.passwords["SUPERUSER"],
                dbname=database,
                connect_timeout=2,
                autocommit=True,
            ) as connection,
        ):
            cursor = connection.execute(statement.encode())
            return str((cursor.fetchone() or ("",))[0]) if cursor.description else ""

    def switch_over(self, to: Node | None = None) -> None:
        leader = self.leader()
        assert leader is not None
        wish = {"leader": leader.name} | ({"candidate": to.name} if to else {})
        self.ask(leader, "/switchover", json=wish, timeout=30)

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Change what the cluster agreed on: `patronictl edit-config`."""
        self.ask(self.leader() or self.nodes[0], "/config", method="PATCH", json=settings, timeout=10)

    def etcd_leader(self) -> Node | None:
        for node in self.nodes:
            url = f"http://{node.machine.address}:2379/v3/maintenance/status"
            with self.network.clients.inside(), contextlib.suppress(httpx2.HTTPError, ValueError, KeyError):
                status = self._http.post(url, json={}).json()
                if status["leader"] == status["header"]["member_id"]:
                    return node
        return None


def wait_for(happened: Callable[[], object], seconds: float, otherwise: str) -> float:
    """Seconds until it happened."""
    begin = time.monotonic()
    while not happened():
        if time.monotonic() - begin > seconds:
            raise TimeoutError(f"{otherwise} after {seconds:.0f} s")
        time.sleep(0.1)
    return time.monotonic() - begin


SYNCHRONOUS = """
    SELECT count(*)
      FROM pg_stat_replication
     WHERE sync_state IN ('sync', 'quorum')
       AND state = 'streaming'
       AND pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) < 1048576
"""
