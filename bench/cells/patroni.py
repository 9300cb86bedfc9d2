"""The database of a cell as `deploy/ha` describes it: three machines with Patroni, in namespaces, reached from here."""

from collections.abc import Generator
from contextlib import contextmanager
from signal import Signals

from gatepass.migrations import runner
from tests.ha.faults.catalogue import KINDS
from tests.ha.lab.cluster import wait_for
from tests.ha.lab.lab import Lab
from tests.ha.lab.network import send

HEALTHY_WITHIN = 120.0


class PatroniCluster:
    def __init__(self, lab: Lab) -> None:
        self._lab = lab

    @property
    def url(self) -> str:
        return self._lab.database_url("multihost")

    def processes(self) -> list[int]:
        return [pid for machine in self._lab.network.nodes for pid in machine.pids()]

    def signal(self, number: Signals) -> list[int]:
        """Send a signal to everything on its three machines."""
        reached = self.processes()
        send(reached, number)
        return reached

    @contextmanager
    def without_primary(self) -> Generator[None]:
        """The machine of the primary is dead until the block ends; then the cluster is complete again."""
        primary = self._lab.leader()
        assert primary is not None
        with KINDS["node-killed"].break_(self._lab, primary):
            yield
        wait_for(self._lab.cluster.is_healthy, HEALTHY_WITHIN, "the cluster is not healthy")


@contextmanager
def patroni_cluster() -> Generator[PatroniCluster]:
    """A new one, with an empty schema."""
    lab = Lab()
    try:
        lab.start_cluster()
        lab.network.join_this_machine()
        cluster = PatroniCluster(lab)
        runner.upgrade(cluster.url)
        yield cluster
    finally:
        lab.stop()
