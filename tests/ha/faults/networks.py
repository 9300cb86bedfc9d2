"""The network of the primary's machine fails: both ways, one way, for some, for all, or slowly."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from tests.ha.faults.kind import MACHINE, PROCESS, kind
from tests.ha.faults.processes import replicas
from tests.ha.lab.cluster import Node
from tests.ha.lab.lab import Lab
from tests.ha.lab.network import Machine, run

BOTH = ("INPUT", "OUTPUT")
SIDE = {"INPUT": "-s", "OUTPUT": "-d"}


@contextmanager
def dropped(
    node: Node, others: Sequence[Machine], chains: Sequence[str] = BOTH, match: Sequence[str] = ()
) -> Generator[None]:
    """Packets between a node and others are dropped."""
    rules = [(chain, SIDE[chain], other.address, *match, "-j", "DROP") for chain in chains for other in others]
    for rule in rules:
        node.machine.run("iptables", "-w", "-A", *rule)
    yield
    for rule in rules:
        node.machine.run("iptables", "-w", "-D", *rule)


def peers(lab: Lab, node: Node) -> list[Machine]:
    return [replica.machine for replica in replicas(lab, node)]


@kind(bound=MACHINE, part="network", moves=True, takes=1)
def partition(lab: Lab, primary: Node) -> Generator[None]:
    """The primary is cut off from the other nodes, not from the clients."""
    with dropped(primary, peers(lab, primary)):
        yield


@kind(bound=MACHINE, part="network", moves=True, takes=1)
def partition_inwards(lab: Lab, primary: Node) -> Generator[None]:
    """The primary hears nothing of the other nodes, and they hear it."""
    with dropped(primary, peers(lab, primary), ["INPUT"]):
        yield


@kind(bound=MACHINE, part="network", moves=True, takes=1)
def partition_outwards(lab: Lab, primary: Node) -> Generator[None]:
    """The other nodes hear nothing of the primary, and it hears them."""
    with dropped(primary, peers(lab, primary), ["OUTPUT"]):
        yield


@kind(bound=MACHINE, part="network", moves=True, takes=1)
def black_hole(lab: Lab, primary: Node) -> Generator[None]:
    """All packets to and from the primary are dropped, those of clients too."""
    with dropped(primary, [*peers(lab, primary), lab.network.clients]):
        yield


@kind(bound=MACHINE, part="network", moves=True, takes=1)
def link_down(lab: Lab, primary: Node) -> Generator[None]:
    """The primary's network card loses its link."""
    run("ip", "-n", primary.machine.namespace, "link", "set", "e0", "down")
    yield
    run("ip", "-n", primary.machine.namespace, "link", "set", "e0", "up")


@kind(bound=MACHINE, part="node", moves=True, takes=1)
def power_off(lab: Lab, primary: Node) -> Generator[None]:
    """The primary's machine is gone without a farewell: no packet, no process."""
    run("ip", "-n", primary.machine.namespace, "link", "set", "e0", "down")
    primary.machine.kill_all()
    yield
    run("ip", "-n", primary.machine.namespace, "link", "set", "e0", "up")
    primary.start()


@kind(bound=PROCESS, from_mending=True, part="network", hold=8.0)
def clients_cut_off(lab: Lab, primary: Node) -> Generator[None]:
    """The clients do not reach the primary, which works: nobody takes over."""
    with dropped(primary, [lab.network.clients]):
        yield


@kind(bound=PROCESS, from_mending=True, part="network", hold=8.0)
def packets_lost(lab: Lab, primary: Node) -> Generator[None]:
    """Every fifth packet to and from the primary is lost."""
    match = ("-m", "statistic", "--mode", "random", "--probability", "0.2")
    with dropped(primary, [*peers(lab, primary), lab.network.clients], match=match):
        yield


# The link still carries small commits, as the one that /readyz tries.
@kind(bound=PROCESS, from_mending=True, part="bandwidth", hold=8.0, allows=("not_ready_late",))
def network_slow(lab: Lab, primary: Node) -> Generator[None]:
    """The primary's machine sends no more than 256 kbit/s."""
    device = ("dev", "e0", "root")
    primary.machine.run("tc", "qdisc", "add", *device, *"tbf rate 256kbit burst 4kb latency 200ms".split())
    yield
    primary.machine.run("tc", "qdisc", "del", *device)
