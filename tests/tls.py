"""Real servers with TLS: Debian's PostgreSQL 15 and Redis, with certificates of an authority made for the test."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import trustme

from tests.postgres import Cluster, free_port, start_cluster

VERSION = 15
WITHIN = 60
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC)
# Everybody comes by TLS and shows a certificate that is made out to the user's name.
ACCESS = "hostssl all all 127.0.0.1/32 cert\nlocal all all trust\n"


@dataclass(frozen=True)
class Certificates:
    """An authority, its certificate for `localhost`, and one for the user `postgres`."""

    folder: Path
    authority: trustme.CA

    @property
    def root(self) -> Path:
        return self.folder / "root.crt"

    @property
    def options(self) -> str:
        """For a database URL. No option is left out: neither driver falls back to a default."""
        names = {"sslrootcert": self.root, "sslcert": self.folder / "user.crt", "sslkey": self.folder / "user.key"}
        return "sslmode=verify-full&" + "&".join(f"{name}={quote(str(path))}" for name, path in names.items())

    @property
    def valkey_options(self) -> str:
        names = {"ssl_ca_certs": "root.crt", "ssl_certfile": "user.crt", "ssl_keyfile": "user.key"}
        return "&".join(f"{name}={quote(str(self.folder / file))}" for name, file in names.items())


@contextmanager
def certificates() -> Generator[Certificates]:
    folder = Path(tempfile.mkdtemp(prefix="gatepass-tls-"))
    authority = trustme.CA()
    made = Certificates(folder, authority)
    authority.cert_pem.write_to_path(made.root)
    write(authority.issue_cert("localhost"), folder / "server")
    write(authority.issue_cert("postgres", common_name="postgres"), folder / "user")
    try:
        yield made
    finally:
        shutil.rmtree(folder)


def write(leaf: trustme.LeafCert, name: Path) -> None:
    """The certificate and its private key, which nobody else may read: libpq and PostgreSQL insist."""
    name.with_suffix(".crt").write_bytes(b"".join(part.bytes() for part in leaf.cert_chain_pems))
    key = name.with_suffix(".key")
    key.write_bytes(leaf.private_key_pem.bytes())
    key.chmod(0o600)


@contextmanager
def postgres(made: Certificates) -> Generator[Cluster]:
    """It takes connections by TLS alone, on `localhost`."""
    folder = Path(tempfile.mkdtemp(prefix="gatepass-tls-server-"))
    for name in ("root.crt", "server.crt", "server.key"):
        shutil.copy2(made.folder / name, folder / name)
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        for path in (folder, *folder.iterdir()):
            os.chown(path, owner.pw_uid, owner.pw_gid)
    settings = {
        "ssl": "on",
        "ssl_ca_file": str(folder / "root.crt"),
        "ssl_cert_file": str(folder / "server.crt"),
        "ssl_key_file": str(folder / "server.key"),
        "shared_buffers": "32MB",
    }
    cluster = start_cluster(VERSION, settings)
    (cluster.folder / "data" / "pg_hba.conf").write_text(ACCESS)
    cluster.run("pg_ctl", "-D", str(cluster.folder / "data"), "reload")
    try:
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder)


@contextmanager
def valkey(made: Certificates) -> Generator[int]:
    """The port of a server that takes TLS alone, from clients with a certificate."""
    port = free_port()
    options = {
        "port": "0",
        "tls-port": str(port),
        "bind": "127.0.0.1",
        "save": "",
        "tls-ca-cert-file": str(made.root),
        "tls-cert-file": str(made.folder / "server.crt"),
        "tls-key-file": str(made.folder / "server.key"),
    }
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    assert program
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    process = subprocess.Popen([program, *words], stdout=subprocess.PIPE, cwd="/", text=True)
    try:
        assert process.stdout is not None
        deadline = time.monotonic() + WITHIN
        for line in process.stdout:
            assert time.monotonic() < deadline
            if "Ready to accept connections" in line:
                break
        yield port
    finally:
        process.terminate()
        process.communicate(timeout=WITHIN)
