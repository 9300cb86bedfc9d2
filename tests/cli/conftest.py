"""Fixtures: the `gatepass` command, alone, on an empty database, or on one that is migrated."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gatepass.base.encryption import new_key
from tests import factory
from tests.cli.command import Command
from tests.postgres import Cluster


@dataclass(frozen=True)
class Databases:
    """New databases, one for each test that needs one."""

    cluster: Cluster
    migrated: str
    numbers: Iterator[int] = field(default_factory=count)

    def empty(self) -> str:
        return self.cluster.create_database(self._name())

    def copy(self) -> str:
        """A migrated one, made as a copy, because that is faster than migrating again."""
        name = self._name()
        with psycopg.connect(self.cluster.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {self.migrated}".encode())
        return self.cluster.url(name)

    def _name(self) -> str:
        return f"cli_{next(self.numbers)}"


@pytest.fixture(scope="session")
def databases(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Databases:
    command = Command(tmp_path_factory.mktemp("migrated"))
    url = cluster.create_database("cli_migrated")
    assert command.having(GATEPASS_DATABASE_URL=url)("migrate").returncode == 0
    return Databases(cluster, "cli_migrated")


@pytest.fixture
def gatepass(tmp_path: Path) -> Command:
    return Command(tmp_path, {"GATEPASS_METRICS_PORT": "0", "GATEPASS_WORKER_METRICS_PORT": "0"})


@pytest.fixture
def on_empty_database(gatepass: Command, databases: Databases) -> Command:
    return gatepass.having(GATEPASS_DATABASE_URL=databases.empty(), GATEPASS_ENCRYPTION_KEYS=new_key())


@pytest.fixture
def on_database(gatepass: Command, databases: Databases) -> Command:
    """On a migrated database."""
    return gatepass.having(GATEPASS_DATABASE_URL=databases.copy(), GATEPASS_ENCRYPTION_KEYS=new_key())


@pytest.fixture(scope="module")
def demo_command(tmp_path_factory: pytest.TempPathFactory, databases: Databases) -> Command:
    return Command(
        tmp_path_factory.mktemp("operator"),
        {
            "GATEPASS_METRICS_PORT": "0",
            "GATEPASS_WORKER_METRICS_PORT": "0",
            **factory.environment(databases.copy()),
            "GATEPASS_ENCRYPTION_KEYS": new_key(),
        },
    )


@pytest.fixture(scope="module")
def demo(demo_command: Command) -> dict[str, Any]:
    made = demo_command("demo", "--json")
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout)
