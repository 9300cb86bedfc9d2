"""Processes of the cluster are killed, frozen or told to hand over. Supervisors run on, unless the node dies."""

from collections.abc import Generator
from signal import SIGCONT, SIGKILL, SIGSTOP

from tests.ha.faults.kind import MACHINE, PROCESS, UNNOTICED, kind
from tests.ha.lab.cluster import Node
from tests.ha.lab.lab import Lab
from tests.ha.lab.network import send

# Longer than the leader's lease.
PAST_THE_LEASE = 24.0


def replicas(lab: Lab, primary: Node) -> list[Node]:
    return [node for node in lab.cluster.nodes if node is not primary]


@kind(bound=PROCESS, part="postgres", hold=4.0)
def postmaster_killed(lab: Lab, primary: Node) -> Generator[None]:
    """Kill -9 of the primary's postmaster."""
    send(primary.postgres()[:1], SIGKILL)
    yield


@kind(bound=PROCESS, part="patroni", hold=4.0)
def patroni_killed(lab: Lab, primary: Node) -> Generator[None]:
    """Kill -9 of the primary's Patroni."""
    primary.patroni.signal(SIGKILL)
    yield


# The new Patroni does not own the old one's lease. It cannot hand it over, and has to start its own server again.
@kind(bound=MACHINE, part="postgres", hold=4.0)
def patroni_and_postgres_killed(lab: Lab, primary: Node) -> Generator[None]:
    """Kill -9 of the primary's Patroni and of all of its PostgreSQL."""
    primary.patroni.signal(SIGKILL)
    send(primary.postgres(), SIGKILL)
    yield


@kind(bound=PROCESS, part="postgres", hold=4.0)
def backends_terminated(lab: Lab, primary: Node) -> Generator[None]:
    """All connections of the service are terminated by the primary."""
    lab.cluster.sql(primary, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'gatepass'")
    yield


@kind(bound=PROCESS, part="switchover", hold=4.0, moves=True)
def switchover(lab: Lab, primary: Node) -> Generator[None]:
    """Patroni is asked to hand over to a standby."""
    lab.cluster.switch_over()
    yield


@kind(bound=MACHINE, part="postgres", moves=True)
def postgres_frozen(lab: Lab, primary: Node) -> Generator[None]:
    """SIGSTOP of all of the primary's PostgreSQL."""
    frozen = primary.postgres()
    send(frozen, SIGSTOP)
    yield
    send(frozen, SIGCONT)


@kind(bound=MACHINE, part="patroni", moves=True)
def patroni_frozen(lab: Lab, primary: Node) -> Generator[None]:
    """SIGSTOP of the primary's Patroni."""
    frozen = [pid for pid in [primary.patroni.pid] if pid]
    send(frozen, SIGSTOP)
    yield
    send(frozen, SIGCONT)


@kind(bound=MACHINE, part="node", moves=True, takes=1)
def node_killed(lab: Lab, primary: Node) -> Generator[None]:
    """Kill -9 of everything on the primary's machine, with etcd and the supervisors."""
    primary.machine.kill_all()
    yield
    primary.start()


@kind(bound=MACHINE, part="node", moves=True, takes=1)
def node_frozen(lab: Lab, primary: Node) -> Generator[None]:
    """SIGSTOP of everything on the primary's machine."""
    frozen = primary.machine.pids()
    send(frozen, SIGSTOP)
    yield
    send(frozen, SIGCONT)


@kind(bound=UNNOTICED, part="replica", hold=8.0, takes=1)
def replica_killed(lab: Lab, primary: Node) -> Generator[None]:
    """Kill -9 of everything on the machine of one standby."""
    replica = replicas(lab, primary)[0]
    replica.machine.kill_all()
    yield
    replica.start()


@kind(bound=UNNOTICED, part="replica", hold=8.0, takes=1)
def replica_frozen(lab: Lab, primary: Node) -> Generator[None]:
    """SIGSTOP of everything on the machine of one standby."""
    frozen = replicas(lab, primary)[0].machine.pids()
    send(frozen, SIGSTOP)
    yield
    send(frozen, SIGCONT)


@kind(bound=15.0, from_mending=True, part="replica", hold=8.0, takes=2)
def replicas_killed(lab: Lab, primary: Node) -> Generator[None]:
    """Patroni and PostgreSQL of both standbys are killed for eight seconds: nothing may commit."""
    for replica in replicas(lab, primary):
        replica.patroni.stop()
        send(replica.postgres(), SIGKILL)
    yield
    for replica in replicas(lab, primary):
        replica.patroni.start()


@kind(bound=UNNOTICED, part="etcd", hold=5.0)
def etcd_leader_killed(lab: Lab, primary: Node) -> Generator[None]:
    """Kill -9 of the etcd that leads."""
    leader = lab.cluster.etcd_leader()
    if leader:
        leader.etcd.signal(SIGKILL)
    yield


@kind(bound=UNNOTICED, part="etcd", hold=PAST_THE_LEASE, takes=2)
def etcd_quorum_lost(lab: Lab, primary: Node) -> Generator[None]:
    """Two of three etcd are gone, for longer than the leader's lease."""
    gone = lab.cluster.nodes[:2]
    for node in gone:
        node.etcd.stop()
    yield
    for node in gone:
        node.etcd.start()
