"""One kind of call fails while the others get through, and words that this version does not know."""

import time

import pytest

from tests.sdk.gate.network import Network
from tests.sdk.gate.venue import WAIT_SECONDS, Venue
from tests.sdk.javascript.gate.gate import NodeGate, known


@pytest.mark.parametrize("status", [400, 404, 409, 410, 422])
def test_a_refusal_of_a_later_version_is_red(venue: Venue, gate: NodeGate, network: Network, status: int) -> None:
    guest = venue.guest()
    known(gate, venue)
    network.instead["/scan"] = (status, {"error": "This is for tomorrow.", "code": "tomorrow"})
    shown = gate.scan(guest.token)
    assert (shown.colour, shown.verdict, shown.online) == ("red", "tomorrow", True)
    assert gate.status().waiting == 0


def test_heartbeats_that_fail_alone_do_not_keep_scans_from_the_service(
    venue: Venue, gate: NodeGate, network: Network
) -> None:
    network.instead["/devices/heartbeat"] = (500, {"error": "A fault.", "code": "internal_error"})
    gate.work()
    gate.until(lambda status: status.offline_since is not None)
    ends = time.monotonic() + WAIT_SECONDS
    # Another guest each time: whom the gate has admitted by itself it does not ask about.
    while not gate.scan(venue.guest().token).online:
        assert time.monotonic() < ends
        time.sleep(1)
    gate.rest()
