"""All kinds of faults, by name."""

from tests.ha.faults import clients, machines, networks, processes
from tests.ha.faults.kind import KINDS, Kind

__all__ = ["KINDS", "Kind", "clients", "machines", "networks", "processes"]
