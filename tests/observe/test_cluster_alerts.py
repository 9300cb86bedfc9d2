"""Alerts about Patroni and etcd fire on what Patroni 4.1.5 and etcd 3.4 themselves said in each trouble.

recorded/ has the answers of the three nodes of a real cluster, one folder for each trouble that was caused there. Here
a server gives them out again, each trouble as a cell of its own. A node without a file did not answer.
"""

import threading
import time
from collections.abc import Generator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.observe.prometheus import Prometheus, Target, prometheus

RECORDED = Path(__file__).with_name("recorded")
NODES = ("node1", "node2", "node3")
JOBS = ("patroni", "etcd")
EXPECTED = {
    "paused": {"ClusterPaused"},
    "standby_behind": {"ClusterStandbyBehind"},
    "one_standby": {"ClusterOneStandby", "ClusterMemberDown"},
    "no_standby": {"ClusterNoStandby", "ClusterMemberDown"},
    "no_primary": {"ClusterNoPrimary", "ClusterNoStandby", "ClusterMemberDown"},
    "etcd_without_leader": {"ClusterEtcdNoLeader", "ClusterMemberDown"},
}
WITHIN = 120.0


class Answers(BaseHTTPRequestHandler):
    def __init__(self, path: Path, *arguments: Any) -> None:
        self._recorded = path
        super().__init__(*arguments)

    def do_GET(self) -> None:
        found = self._recorded.exists()
        self.send_response(200 if found else 503)
        self.send_header("content-type", "text/plain; version=0.0.4")
        self.end_headers()
        if found:
            self.wfile.write(self._recorded.read_bytes())

    def log_message(self, format: str, *_: object) -> None:
        pass


@pytest.fixture
def watching() -> Generator[Prometheus]:
    servers: list[ThreadingHTTPServer] = []
    targets: list[Target] = []
    for folder in sorted(RECORDED.iterdir()):
        for job in JOBS:
            for node in NODES:
                server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Answers, folder / f"{job}-{node}.txt"))
                threading.Thread(target=server.serve_forever, daemon=True).start()
                servers.append(server)
                targets.append(Target(job, server.server_port, folder.name))
    answering = sum(1 for _ in RECORDED.rglob("*.txt"))
    with prometheus(targets, up=answering) as started:
        yield started
    for server in servers:
        server.shutdown()
        server.server_close()


def test_each_trouble_of_a_cluster_fires_its_alerts_and_no_other(watching: Prometheus) -> None:
    deadline = time.monotonic() + WITHIN
    while watching.firing_by_cell() != EXPECTED and time.monotonic() < deadline:
        time.sleep(0.2)
    assert watching.firing_by_cell() == EXPECTED
    assert {folder.name for folder in RECORDED.iterdir()} == {"healthy", *EXPECTED}
