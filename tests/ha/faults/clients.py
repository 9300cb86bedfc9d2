"""What runs on the clients' machine is killed or frozen: proxies, API processes, the worker."""

from collections.abc import Generator
from signal import SIGCONT, SIGKILL, SIGSTOP

from tests.ha.faults.kind import PROCESS, UNNOTICED, kind
from tests.ha.lab.cluster import Node
from tests.ha.lab.lab import Lab


@kind(bound=PROCESS, part="haproxy")
def haproxy_killed(lab: Lab, primary: Node) -> Generator[None]:
    """Kill -9 of HAProxy."""
    lab.haproxy.signal(SIGKILL)
    yield


@kind(bound=PROCESS, part="pgbouncer")
def pgbouncer_killed(lab: Lab, primary: Node) -> Generator[None]:
    """Kill -9 of PgBouncer."""
    lab.pgbouncer.signal(SIGKILL)
    yield


@kind(bound=PROCESS, part="api", hold=4.0)
def api_killed(lab: Lab, primary: Node) -> Generator[None]:
    """Kill -9 of an API process."""
    lab.apis["haproxy"].signal(SIGKILL)
    yield


@kind(bound=PROCESS, from_mending=True, part="api", hold=6.0, stops=("multihost",))
def api_frozen(lab: Lab, primary: Node) -> Generator[None]:
    """SIGSTOP of an API process for six seconds."""
    pid = lab.apis["multihost"].pid
    lab.apis["multihost"].signal(SIGSTOP)
    yield
    if pid == lab.apis["multihost"].pid:
        lab.apis["multihost"].signal(SIGCONT)


@kind(bound=UNNOTICED, part="worker")
def worker_killed(lab: Lab, primary: Node) -> Generator[None]:
    """Kill -9 of the worker that sends the webhooks."""
    lab.worker.signal(SIGKILL)
    yield
