"""The whole service: `gatepass serve`, `gatepass worker`, and the demo's keys and cards."""

import itertools
import json
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg

from gatepass.base.encryption import new_key
from gatepass.domain.keys import Mode
from gatepass.domain.keys.key import digest, make_key
from tests import factory
from tests.postgres import Cluster, free_port
from tests.processes import gatepass, launch_worker, serve


@dataclass
class Stack:
    base_url: str
    demo: dict[str, Any]
    environment: dict[str, str]
    _taken: "itertools.count[int]" = field(default_factory=itertools.count)

    @property
    def database_url(self) -> str:
        return self.environment["GATEPASS_DATABASE_URL"]

    @property
    def event_id(self) -> str:
        return self.demo["events"]["published"]

    def key(self, name: str) -> str:
        return self.demo["keys"][name]

    def empty_sandbox(self) -> None:
        """Empty the sandbox of `other_sandbox`, and wait until the worker has done it."""
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            connection.execute("UPDATE organization SET erase_at = now() WHERE twin_of IS NOT NULL")
            while connection.execute("SELECT true FROM organization WHERE twin_of IS NOT NULL").fetchone():
                time.sleep(0.05)

    def unused(self) -> dict[str, Any]:
        """A card whose ticket for the published event is unused."""
        return self.demo["cards"]["unused"][next(self._taken)]

    def activations(self) -> dict[str, int]:
        """The number of activations of each card of the demo's event, from the scan records."""
        with psycopg.connect(self.database_url) as connection:
            found = connection.execute(ACTIVATIONS, [self.event_id])
            return dict(found.fetchall())


ACTIVATIONS = """
    SELECT card_number, count(*)
      FROM scan
     WHERE event_id = %s
       AND verdict = 'activated'
     GROUP BY card_number
"""


@contextmanager
def running(cluster: Cluster, *, tickets: int = 400, unlimited: bool = False) -> Generator[Stack]:
    """A database, a demo with this many unused cards, a server and a worker."""
    port = free_port()
    environment = {
        **factory.environment(cluster.create_database(f"sdk_{port}")),
        "GATEPASS_ENCRYPTION_KEYS": new_key(),
        "GATEPASS_METRICS_PORT": "0",
        "GATEPASS_LOG_LEVEL": "warning",
        "GATEPASS_WEBHOOK_ALLOW_PRIVATE": "1",
        "GATEPASS_PUBLIC_URL": f"http://127.0.0.1:{port}",
    }
    gatepass(environment, "migrate")
    demo = json.loads(gatepass(environment, "demo", "--json", "--tickets", str(tickets)))
    demo["keys"]["other_sandbox"] = make_key(Mode.SANDBOX, "a")
    with psycopg.connect(environment["GATEPASS_DATABASE_URL"]) as connection:
        made, known = (digest(demo["keys"][name]) for name in ("other_sandbox", "other_organization"))
        connection.execute(OTHER_SANDBOX, [made, known])
    if unlimited:
        with psycopg.connect(environment["GATEPASS_DATABASE_URL"]) as connection:
            connection.execute(UNLIMITED)
    worker, server = launch_worker(environment), None
    try:
        server = serve(environment, port)
        yield Stack(server.base_url, demo, environment)
    finally:
        for process in (worker, server):
            if process is not None:
                process.stop()


# A sandbox of its own for what a platform does, so that the demo's stays empty.
OTHER_SANDBOX = """
    INSERT INTO api_key (organization_id, id, hash, mode, name, last_four, scopes, created_at, created_by)
    SELECT organization_id, gen_random_uuid(), %s, 'sandbox', 'platform', '', scopes, created_at, created_by
      FROM api_key
     WHERE hash = %s
"""

UNLIMITED = "UPDATE api_key SET rate_per_second = 100000, burst = 100000"
