"""A real PgBouncer in transaction mode: Debian's 1.18, or the newer one that tools/pgbouncer builds."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.postgres import Cluster, free_port
from tests.processes import wait_until_listening

ROOT: Final = Path(__file__).parents[2]
DEBIANS: Final = Path("/usr/sbin/pgbouncer")
SETTINGS: Final = {
    "listen_addr": "127.0.0.1",
    "unix_socket_dir": "",
    "auth_type": "any",
    "pool_mode": "transaction",
    "server_login_retry": "1",
    "query_wait_timeout": "5",
    "server_connect_timeout": "2",
}
KEEPS_STATEMENTS: Final = {"max_prepared_statements": "200"}
KEEPS_NONE: Final = {"max_prepared_statements": "0"}


def newer() -> Path:
    """PgBouncer 1.24, built once."""
    built = subprocess.run([ROOT / "tools" / "pgbouncer"], check=True, capture_output=True, text=True)
    return Path(built.stdout.strip())


@contextmanager
def pgbouncer(cluster: Cluster, database: str, program: Path, **settings: str) -> Generator[str]:
    """The URL of the database through a PgBouncer; `settings` override SETTINGS."""
    folder, port = Path(tempfile.mkdtemp(prefix="gatepass-pgbouncer-")), free_port()
    lines = [f"{name} = {value}" for name, value in {**SETTINGS, "listen_port": port, **settings}.items()]
    target = f"{database} = host=127.0.0.1 port={cluster.port} user=postgres"
    (folder / "pgbouncer.ini").write_text("\n".join(["[databases]", target, "[pgbouncer]", *lines, ""]))
    # PgBouncer refuses to run as root.
    user = "postgres" if os.geteuid() == 0 else None
    if user is not None:
        os.chown(folder, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
    process = subprocess.Popen(
        [program, "-q", folder / "pgbouncer.ini"],
        stderr=subprocess.DEVNULL,
        user=user,
        group=user,
        extra_groups=[] if user else None,
        cwd="/",
    )
    try:
        wait_until_listening(process, port)
        yield f"postgresql://postgres@127.0.0.1:{port}/{database}"
    finally:
        process.kill()
        process.wait(10)
        shutil.rmtree(folder)
