"""A service that does not know the device that asks it: of another cell, on another database, or without its key."""

from collections.abc import Generator
from contextlib import contextmanager
from enum import StrEnum

import pytest

from gatepass.base.encryption import new_key
from tests import factory
from tests.postgres import Cluster, free_port
from tests.processes import GatepassProcess, serve
from tests.sdk.gate.network import Network
from tests.sdk.gate.venue import Venue


class Stranger(StrEnum):
    OTHER_CELL = "b"
    OTHER_DATABASE = "a"
    NO_KEY = "the row of the key is gone, as after a restore of before the pairing"


@pytest.fixture(scope="session")
def elsewhere(cluster: Cluster) -> Generator[dict[Stranger, GatepassProcess]]:
    """Processes of other installations, one of another cell."""
    started = {kind: _serve(cluster, kind) for kind in (Stranger.OTHER_CELL, Stranger.OTHER_DATABASE)}
    yield started
    for process in started.values():
        process.stop()


def _serve(cluster: Cluster, kind: Stranger) -> GatepassProcess:
    environment = {
        **factory.environment(cluster.create_migrated(f"gatepass_elsewhere_{kind.value}")),
        "GATEPASS_CELL": kind.value,
        "GATEPASS_ENCRYPTION_KEYS": new_key(),
        "GATEPASS_METRICS_PORT": "0",
        "GATEPASS_LOG_LEVEL": "warning",
    }
    return serve(environment, free_port())


@contextmanager
def met(kind: Stranger, venue: Venue, network: Network, elsewhere: dict[Stranger, GatepassProcess]) -> Generator[None]:
    """As long as the block lasts, the calls of all devices of this venue reach a service that does not know them."""
    if kind is Stranger.NO_KEY:
        venue.execute(HIDE, venue.event_id)
        yield
        venue.execute(HIDE, venue.event_id)
        return
    usual, network.upstream_port = network.upstream_port, elsewhere[kind].port
    yield
    network.upstream_port = usual


# Done twice, it is undone.
HIDE = """
    UPDATE api_key
       SET hash = (SELECT string_agg(set_byte('\\x00'::bytea, 0, 255 - get_byte(hash, n)), ''::bytea ORDER BY n)
                     FROM generate_series(0, length(hash) - 1) n)
     WHERE event_id = %s
       AND device_id IS NOT NULL
"""
