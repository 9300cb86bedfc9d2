"""The upgrade drill, step by step, as `docs/operate/upgrade.md` describes it."""

import json
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import httpx2
import psycopg

from gatepass.base.encryption import new_key
from gatepass.migrations import runner
from gatepass.migrations.head import REVISIONS
from gatepass_sdk import AlreadyUsed, Gatepass
from tests import factory
from tests.drills.judge import Judgement, winners_in
from tests.drills.upgrade.load import Load
from tests.drills.upgrade.readers import reading
from tests.drills.upgrade.versions import TODAY, Version
from tests.postgres import Cluster, free_port
from tests.processes import GatepassProcess, wait_until_ready

# The last revision of version 0.2.0.
OF_0_2_0 = "0010"
CARDS = 5_000


@dataclass
class Step:
    """A part of the upgrade, how long it took, and the longest time in it without an answer at any gate."""

    name: str
    seconds: float
    gap: float


@dataclass
class Installation:
    """A database made by one version, with its keys and cards."""

    environment: dict[str, str]
    event_id: str
    key: str
    cards: list[str]

    @property
    def database_url(self) -> str:
        return self.environment["GATEPASS_DATABASE_URL"]


def install(cluster: Cluster, version: Version, *, cards: int = CARDS) -> Installation:
    environment = {
        "GATEPASS_DATABASE_URL": cluster.create_database(f"of_{version.name}"),
        "GATEPASS_ENCRYPTION_KEYS": new_key(),
        "GATEPASS_METRICS_PORT": "0",
        "GATEPASS_WORKER_METRICS_PORT": "0",
        "GATEPASS_LOG_LEVEL": "error",
    }
    version.run(environment, "migrate")
    demo = json.loads(version.run(environment, "demo", "--json", "--tickets", str(cards)))
    with psycopg.connect(environment["GATEPASS_DATABASE_URL"]) as db:
        db.execute("UPDATE api_key SET rate_per_second = 100000, burst = 100000")
    event_id = demo["events"]["published"]
    numbers = factory.unused_cards(environment["GATEPASS_DATABASE_URL"], event_id, cards)
    return Installation(environment, event_id, demo["keys"]["live"], numbers)


@dataclass
class UpgradeDrill:
    """Side by side: old processes serve while the database is migrated, then each is replaced by a new one."""

    installed: Installation
    old: Version
    opened: ExitStack
    held: float
    steps: list[Step] = field(default_factory=list[Step])

    def run(self) -> tuple[Load, Judgement]:
        url = self.installed.database_url
        servers = [self._serve(self.old, free_port()) for _ in range(2)]
        worker = self._started(self.old.launch(self.installed.environment, "worker"))
        for server in servers:
            wait_until_ready(server)
        load = Load(
            self.installed.event_id, self.installed.key, [one.base_url for one in servers], self.installed.cards
        )
        with load.running():
            with self._step(load, "before"):
                time.sleep(1)
            for revision in [path.name[:4] for path in REVISIONS if path.name[:4] > OF_0_2_0]:
                with self._step(load, f"revision {revision}"), reading(url, self.held), runner.connected(url) as db:
                    runner.run_revisions(db, revision)
            with self._step(load, "gatepass migrate"), reading(url, self.held):
                TODAY.run(self.installed.environment, "migrate")
            for server in servers:
                assert httpx2.get(f"{server.url}/readyz").status_code == 200, "an old process is not ready"
            for n, server in enumerate(servers, 1):
                with self._step(load, f"server {n} restarts"):
                    server.stop()
                    wait_until_ready(self._serve(TODAY, server.port))
            with self._step(load, "worker restarts"):
                worker.stop()
                self._started(TODAY.launch(self.installed.environment, "worker"))
            with self._step(load, "after"):
                time.sleep(1)
        return load, Judgement.of(load.acknowledged, winners_in(url, self.installed.event_id))

    def _serve(self, version: Version, port: int) -> GatepassProcess:
        return self._started(version.launch(self.installed.environment, "serve", "--port", str(port), port=port))

    def _started(self, process: GatepassProcess) -> GatepassProcess:
        self.opened.callback(lambda: process.is_alive() and process.kill())
        return process

    @contextmanager
    def _step(self, load: Load, name: str) -> Generator[None]:
        began = time.monotonic()
        yield
        ended = time.monotonic()
        self.steps.append(Step(name, ended - began, load.longest_gap(began, ended)))


def stop_migrate_start(installed: Installation, old: Version, started: Callable[[GatepassProcess], None]) -> float:
    """From 0.1: stop, migrate, start; the seconds that it took. What was acknowledged stays, and its keys are known."""
    port = free_port()

    def serve(version: Version) -> GatepassProcess:
        server = version.launch(installed.environment, "serve", "--port", str(port), port=port)
        started(server)
        wait_until_ready(server)
        return server

    def scan(key: str, card: str) -> tuple[str, bool]:
        with Gatepass(installed.key, base_url=f"http://127.0.0.1:{port}/api/public/v1") as client:
            ticket = client.scans.create(installed.event_id, card_number=card, gate="North", idempotency_key=key)
            return ticket.ticket_id, ticket.replayed

    server = serve(old)
    before = {card: scan(f"key of {card}", card)[0] for card in installed.cards}
    began = time.monotonic()
    assert server.stop() == 0
    TODAY.run(installed.environment, "migrate")
    server = serve(TODAY)
    stopped = time.monotonic() - began
    for card, ticket_id in before.items():
        assert scan(f"key of {card}", card) == (ticket_id, True)
        try:
            scan(f"another key of {card}", card)
        except AlreadyUsed:
            continue
        raise AssertionError(f"{card} got in twice")
    assert server.stop() == 0
    return stopped
