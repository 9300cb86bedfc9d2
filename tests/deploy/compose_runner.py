"""Runs the services of compose.yaml as processes instead of containers: in its order, with its own health checks."""

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

from tests.deploy.compose_file import Service
from tests.deploy.dockerfile import Image
from tests.deploy.substitute_images import PostgresImage, valkey
from tests.postgres import free_port

# Seconds between two health checks. `start_interval` is longer, and would make the test slow.
CHECK_EVERY = 0.2
COMPLETES_WITHIN = 120


@dataclass
class ComposeRunner:
    services: dict[str, Service]
    image: Image
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="gatepass-compose-")))
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict[str, "subprocess.Popen[bytes]"])

    def __post_init__(self) -> None:
        self.postgres = PostgresImage(self.folder, free_port())
        valkey_port = free_port()
        # Only these differ from the files.
        self._replacements = {
            "postgres:5432": f"127.0.0.1:{self.postgres.port}",
            "valkey:6379": f"127.0.0.1:{valkey_port}",
            "0.0.0.0": "127.0.0.1",  # noqa: S104
            "valkey-server": f"{valkey('valkey-server')} --port {valkey_port} --bind 127.0.0.1",
            "valkey-cli": f"{valkey('valkey-cli')} -p {valkey_port}",
            "pg_isready": f"{self.postgres.binaries}/pg_isready --port={self.postgres.port}",
        }
        # Each container has its own port 8000; processes share those of the machine.
        self.ports = {
            name: {container: str(free_port()) for container in ("8000", "9464", "9465")} for name in self.services
        }

    def url(self, service: str, port: str = "8000") -> str:
        return f"http://127.0.0.1:{self.ports[service][port]}"

    def start(self, name: str) -> None:
        """Wait for the services that it depends on, under the conditions of the file, then start it."""
        service = self.services[name]
        for other, condition in service.depends_on.items():
            self._wait(other, condition)
        if name == "postgres":
            self.postgres.initialize(service)
        self.processes[name] = self._popen(service, self.command(service))

    def command(self, service: Service) -> list[str]:
        if service.name == "postgres":
            return self.postgres.command(service)
        return self._localized(
            service, [*self.image.entrypoint, *service.command] if _is_gatepass(service) else service.command
        )

    def run(self, name: str, *arguments: str) -> str:
        """`docker compose run NAME arguments`. Returns its output."""
        service = self.services[name]
        ran = self._popen(
            service, self._localized(service, [*self.image.entrypoint, *arguments]), stdout=subprocess.PIPE
        )
        output, _ = ran.communicate(timeout=COMPLETES_WITHIN)
        assert ran.returncode == 0, f"{name} {arguments} ended with {ran.returncode}"
        return output.decode()

    def is_healthy(self, name: str, command: list[str] | None = None) -> bool:
        service = self.services[name]
        assert service.check
        check = self._popen(
            service, self._localized(service, command or service.check.command), stdout=subprocess.DEVNULL
        )
        return check.wait(service.check.timeout) == 0

    def wait_until_healthy(self, name: str) -> None:
        check = self.services[name].check
        assert check, f"{name} has no health check"
        deadline = time.monotonic() + check.patience
        while not self.is_healthy(name):
            assert self.processes[name].poll() is None, f"{name} ended with {self.processes[name].returncode}"
            assert time.monotonic() < deadline, f"{name} is not healthy after {check.patience} s"
            time.sleep(CHECK_EVERY)

    def signal_stop(self, name: str) -> float:
        """Send the stop signal. Returns when."""
        self.processes[name].send_signal(self.services[name].stop_signal or self.image.stop_signal)
        return time.monotonic()

    def wait_for_exit(self, name: str, signalled_at: float) -> float:
        """Assert that it exits with 0 within its grace period. Returns the seconds that it took."""
        grace = self.services[name].grace
        code = self.processes[name].wait(max(0.0, signalled_at + grace - time.monotonic()))
        assert code == 0, f"{name} ended with {code}"
        return time.monotonic() - signalled_at

    def database(self) -> psycopg.Connection[tuple[object, ...]]:
        """A connection with the user and the password of the API."""
        url = self.environment(self.services["api"])["GATEPASS_DATABASE_URL"]
        return psycopg.connect(url)

    def environment(self, service: Service) -> dict[str, str]:
        """The image's variables, overridden by the file's. No setting of this machine is inherited."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("GATEPASS_", "PG"))}
        declared = {**(self.image.env if _is_gatepass(service) else {}), **service.environment}
        return {**inherited, **{name: " ".join(self._localized(service, [value])) for name, value in declared.items()}}

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
                raise AssertionError(f"Compose has no condition {condition}")

    def _localized(self, service: Service, words: list[str]) -> list[str]:
        """Replace names and ports by those of this machine. One word may become several."""
        table = {**self._replacements, **self.ports[service.name]}
        pattern = "|".join(rf"(?<![\w.]){re.escape(name)}(?![\w.])" for name in table)
        localized: list[str] = []
        for word in words:
            replaced = re.sub(pattern, lambda found: table[found[0]], word)
            localized += replaced.split() if word in table else [replaced]
        return localized

    def _popen(self, service: Service, command: list[str], stdout: int | None = None) -> "subprocess.Popen[bytes]":
        user = self.postgres.user if service.name == "postgres" else None
        environment = self.environment(service)
        return subprocess.Popen(
            command,
            env=environment,
            executable=_path_of(command[0], environment["PATH"]),
            cwd="/",
            stdout=stdout,
            user=user,
            group=user,
            extra_groups=[] if user else None,
        )


def _is_gatepass(service: Service) -> bool:
    return service.image.startswith("gatepass:")


def _path_of(program: str, path: str) -> str:
    found = shutil.which(program, path=path)
    assert found, f"there is no {program} in the image"
    return found
