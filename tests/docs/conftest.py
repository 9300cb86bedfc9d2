"""The setup of a reader: `gatepass dev` in a terminal, and a folder with the keys and cards of a demo."""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from gatepass.base.encryption import new_key
from gatepass.base.settings import Settings
from gatepass.cli.demo.build import build
from gatepass.migrations import runner
from tests import factory
from tests.docs.clean_copy import clone
from tests.docs.page_list import need_the_service
from tests.docs.page_runner import PORTS, Reader
from tests.markdown_page import Page
from tests.postgres import Cluster, free_port
from tests.processes import launch_worker, serve

SERVICE_PORT, POSTGRES_PORT = "8000", "5432"
# `gatepass dev` writes this file. A page that does not read it says in words that its variables are set.
ENVIRONMENT = ".gatepass/dev.env"
OPERATOR = ("GATEPASS_DATABASE_URL", "GATEPASS_ENCRYPTION_KEYS")


@dataclass(frozen=True)
class Stack:
    """An API and a worker that send webhooks to this machine, as `gatepass dev` does."""

    settings: Settings
    base_url: str
    # Of an operator: the database, and the keys that seal its secrets.
    environment: dict[str, str]

    def furnish(self, folder: Path) -> None:
        """Keys, events and cards of new organizations, in the files of `gatepass dev`."""
        shown: dict[str, Any] = asdict(asyncio.run(build(self.settings, reset=False)))
        shown["base_url"] = self.base_url
        home = folder / ".gatepass"
        home.mkdir()
        (home / "demo.json").write_text(json.dumps(shown, indent=2))
        env = {"GATEPASS_BASE_URL": self.base_url, "GATEPASS_API_KEY": shown["keys"]["sandbox"]}
        (home / "dev.env").write_text("".join(f"export {name}={value}\n" for name, value in env.items()))


@pytest.fixture(scope="session")
def stack(cluster: Cluster) -> Generator[Stack]:
    url, key = cluster.create_database("gatepass_docs"), new_key()
    runner.upgrade(url)
    env = {
        # Other pages install and build meanwhile; what is compared is what a call says, not how soon.
        **factory.environment(url),
        "GATEPASS_ENCRYPTION_KEYS": key,
        "GATEPASS_METRICS_PORT": "0",
        "GATEPASS_WEBHOOK_ALLOW_PRIVATE": "1",
    }
    with ExitStack() as started:
        server = serve(env, free_port())
        started.callback(server.stop)
        started.callback(launch_worker(env).stop)
        settings = factory.settings(url, encryption_keys=[SecretStr(key)])
        yield Stack(settings, server.base_url, {name: env[name] for name in OPERATOR})


@pytest.fixture
def reading(tmp_path: Path, request: pytest.FixtureRequest) -> Generator[Callable[[list[Page]], Reader]]:
    """A reader in a folder with everything that the pages need."""
    with ExitStack() as opened:

        def read(walk: list[Page]) -> Reader:
            text = "".join(block.text for page in walk for block in page.blocks())
            needs_service = need_the_service(walk)
            if "requirements.txt" in text:
                clone(tmp_path)
            ports = {port: str(free_port()) for port in PORTS}
            if needs_service:
                stack: Stack = request.getfixturevalue("stack")
                stack.furnish(tmp_path)
                ports[SERVICE_PORT] = str(urlsplit(stack.base_url).port)
            env = surroundings(ports) | {name: str(tmp_path / name) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME")}
            (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
            if needs_service and "gatepass device" in text:
                # `gatepass dev` announces them in its folder.
                env |= request.getfixturevalue("stack").environment
            if POSTGRES_PORT in text:
                cluster: Cluster = request.getfixturevalue("cluster")
                ports[POSTGRES_PORT] = str(cluster.port)
                env |= {"PGHOST": "127.0.0.1", "PGPORT": str(cluster.port), "PGUSER": "postgres"}
                env["PATH"] = f"{cluster.binaries}:{env['PATH']}"
            reader = Reader(tmp_path, env, opened, ports)
            if needs_service and ENVIRONMENT not in text:
                reader.terminal.paste(f"source {ENVIRONMENT}")
            return reader

        yield read


def surroundings(ports: dict[str, str]) -> dict[str, str]:
    """A shell's variables, without those that would change Gatepass; `gatepass` is installed."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("GATEPASS_", "PYTEST_"))}
    programs = Path(sys.executable).parent
    return inherited | {
        "PATH": f"{programs}:{inherited['PATH']}",
        "COLUMNS": "120",
        "PYTHONUNBUFFERED": "1",
        "GATEPASS_PORT": ports["8000"],
        "GATEPASS_METRICS_PORT": ports["9464"],
        "GATEPASS_WORKER_METRICS_PORT": ports["9465"],
    }
