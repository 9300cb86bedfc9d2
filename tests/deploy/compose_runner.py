"""A town of processes: what compose.yaml would run in containers, run here, in its order, by its own health checks."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tests.deploy.composition import Service
from tests.deploy.recipe import Image
from tests.deploy.stand_ins import PostgresImage, valkey
from tests.postgres import free_port

# How often a health check is repeated; `start_interval` says seconds, and a test has no time.
AGAIN = 0.2
COMPLETES_WITHIN = 120


@dataclass
class Town:
    services: dict[str, Service]
    image: Image
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="gatepass-town-")))
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict[str, "subprocess.Popen[bytes]"])

    def __post_init__(self) -> None:
        self.postgres = PostgresImage(self.folder, free_port())
        valkey_port = free_port()
        # All that is different here. Everything else is what the files say.
        self._everywhere = {
            "postgres:5432": f"127.0.0.1:{self.postgres.port}",
            "valkey:6379": f"127.0.0.1:{valkey_port}",
            "0.0.0.0": "127.0.0.1",  # noqa: S104
            "valkey-server": f"{valkey('valkey-server')} --port {valkey_port} --bind 127.0.0.1",
            "valkey-cli": f"{valkey('valkey-cli')} -p {valkey_port}",
            "pg_isready": f"{self.postgres.binaries}/pg_isready --port={self.postgres.port}",
        }
        # Containers have each a port 8000 of their own; processes do not.
        self.ports = {
            name: {container: str(free_port()) for container in ("8000", "9464", "9465")} for name in self.services
        }

    def url(self, service: str, port: str = "8000") -> str:
        return f"http://127.0.0.1:{self.ports[service][port]}"

    def start(self, name: str) -> None:
        """Wait for what it depends on, as the file says, then start it."""
        service = self.services[name]
        for other, condition in service.depends_on.items():
            self._wait(other, condition)
        if name == "postgres":
            self.postgres.initialize(service)
        self.processes[name] = self._popen(service, self.command(service))

    def command(self, service: Service) -> list[str]:
        if service.name == "postgres":
            return self.postgres.command(service)
        return self._moved(
            service, [*self.image.entrypoint, *service.command] if _is_ours(service) else service.command
        )

    def run(self, name: str, *arguments: str) -> str:
        """`docker compose run NAME arguments`: what it prints."""
        service = self.services[name]
        ran = self._popen(service, self._moved(service, [*self.image.entrypoint, *arguments]), stdout=subprocess.PIPE)
        printed, _ = ran.communicate(timeout=COMPLETES_WITHIN)
        assert ran.returncode == 0, f"{name} {arguments} ended with {ran.returncode}"
        return printed.decode()

    def is_healthy(self, name: str, command: list[str] | None = None) -> bool:
        service = self.services[name]
        assert service.check
        asked = self._popen(service, self._moved(service, command or service.check.command), stdout=subprocess.DEVNULL)
        return asked.wait(service.check.timeout) == 0

    def wait_until_healthy(self, name: str) -> None:
        check = self.services[name].check
        assert check, f"{name} has no health check"
        deadline = time.monotonic() + check.patience
        while not self.is_healthy(name):
            assert self.processes[name].poll() is None, f"{name} ended with {self.processes[name].returncode}"
            assert time.monotonic() < deadline, f"{name} is not healthy after {check.patience} s"
            time.sleep(AGAIN)

    def tell_to_stop(self, name: str) -> float:
        """When it was told."""
        self.processes[name].send_signal(self.services[name].stop_signal or self.image.stop_signal)
        return time.monotonic()

    def ended(self, name: str, told: float) -> float:
        """It ended well, and within its grace; how long it took."""
        grace = self.services[name].grace
        code = self.processes[name].wait(max(0.0, told + grace - time.monotonic()))
        assert code == 0, f"{name} ended with {code}"
        return time.monotonic() - told

    def database(self) -> psycopg.Connection[tuple[object, ...]]:
        """With the user and the password that the API has."""
        url = self.environment(self.services["api"])["GATEPASS_DATABASE_URL"]
        return psycopg.connect(url)

    def environment(self, service: Service) -> dict[str, str]:
        """Of the image, and above it of the file; of this machine no setting."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("GATEPASS_", "PG"))}
        said = {**(self.image.env if _is_ours(service) else {}), **service.environment}
        return {**inherited, **{name: " ".join(self._moved(service, [value])) for name, value in said.items()}}

    def close(self) -> None:
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait(self, name: str, condition: str) -> None:
        match condition:
            case "service_healthy":
                self.wait_until_healthy(name)
            case "service_completed_successfully":
                assert self.processes[name].wait(COMPLETES_WITHIN) == 0
            case "service_started":
                assert name in self.processes
            case _:
                raise AssertionError(f"Compose knows no {condition}")

    def _moved(self, service: Service, words: list[str]) -> list[str]:
        """With the names and ports of this machine. One word may become several."""
        table = {**self._everywhere, **self.ports[service.name]}
        pattern = "|".join(rf"(?<![\w.]){re.escape(name)}(?![\w.])" for name in table)
        moved: list[str] = []
        for word in words:
            told = re.sub(pattern, lambda found: table[found[0]], word)
            moved += told.split() if word in table else [told]
        return moved

    def _popen(self, service: Service, command: list[str], stdout: int | None = None) -> "subprocess.Popen[bytes]":
        user = self.postgres.user if service.name == "postgres" else None
        environment = self.environment(service)
        return subprocess.Popen(
            command,
            env=environment,
            executable=_found(command[0], environment["PATH"]),
            cwd="/",
            stdout=stdout,
            user=user,
            group=user,
            extra_groups=[] if user else None,
        )


def _is_ours(service: Service) -> bool:
    return service.image.startswith("gatepass:")


def _found(program: str, path: str) -> str:
    found = shutil.which(program, path=path)
    assert found, f"there is no {program} in the image"
    return found
