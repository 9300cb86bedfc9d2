"""Runs units as systemd would, without systemd."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from gatepass.base.encryption import new_key
from tests.deploy import compose_file
from tests.deploy.systemd_units import SYSTEMD, Unit
from tests.postgres import Cluster, free_port

BINARIES = Path(sys.executable).parent


class SystemdRunner:
    """Only these differ from the units: the path of the program, the database, the ports, and webhooks to loopback."""

    def __init__(self, cluster: Cluster, notify: str) -> None:
        # EnvironmentFile= overrides Environment=. Of its own environment systemd passes on only the first two.
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            **compose_file.variables_of(SYSTEMD / "gatepass.env.example"),
            "GATEPASS_DATABASE_URL": cluster.create_database(f"units_{free_port()}"),
            "GATEPASS_ENCRYPTION_KEYS": new_key(),
            "GATEPASS_WEBHOOK_ALLOW_PRIVATE": "1",
        }
        self.ports = {port: str(free_port()) for port in ("8001", "8101", "8201", "9471", "9481", "9491", "9501")}
        self._notify = notify

    def url(self, port: str) -> str:
        return f"http://127.0.0.1:{self.ports[port]}"

    def start(self, unit: Unit, within: Sequence[str] = ()) -> "subprocess.Popen[bytes]":
        """`within` is the command of another program that starts it, such as strace."""
        program, *arguments = unit.command
        here = BINARIES / Path(program).relative_to("/opt/gatepass/bin")
        own = {name: self.ports.get(value, value) for name, value in unit.environment.items()}
        notify = {"NOTIFY_SOCKET": self._notify} if unit.one("Type") == "notify" else {}
        return subprocess.Popen(
            [*within, str(here), *(self.ports.get(word, word) for word in arguments)],
            env={**own, **self.environment, **notify},
            cwd="/",
        )

    def run(self, *arguments: str) -> str:
        """A command of an operator. Returns its output."""
        command = [str(BINARIES / "gatepass"), *arguments]
        return subprocess.run(command, env=self.environment, cwd="/", check=True, capture_output=True, text=True).stdout
