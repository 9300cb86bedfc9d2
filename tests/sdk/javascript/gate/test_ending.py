"""A gate that is moved, retired or revoked learns it with its next call, and keeps nothing that it no longer needs."""

from collections.abc import Callable
from uuid import UUID

import pytest

from gatepass.domain import devices
from tests.processes import GatepassProcess
from tests.sdk.gate.network import Network, State
from tests.sdk.gate.strangers import Stranger, met
from tests.sdk.gate.venue import Venue
from tests.sdk.javascript.gate.gate import GateCallError, NodeGate, known
from tests.sdk.javascript.gate.lead import Lead, by_a_lead
from tests.sdk.javascript.gate.test_scans import online


def admit_offline(venue: Venue, gate: NodeGate, network: Network) -> str:
    """Returns the id of its device."""
    guest = venue.guest()
    known(gate, venue)
    network.becomes(State.DOWN)
    assert gate.scan(guest.token).admitted
    online(gate, network)
    return gate.status().device.id


def test_a_retired_gate_only_uploads(venue: Venue, gate: NodeGate, network: Network) -> None:
    device_id = admit_offline(venue, gate, network)
    by_a_lead(venue, device_id, devices.retire)
    shown = gate.scan(venue.guest().token)
    assert (shown.colour, shown.verdict) == ("amber", "device_ended")
    status = gate.status()
    assert (status.cards, status.waiting, status.device.status) == (None, 1, "retired")
    assert gate.upload().activated == 1
    network.becomes(State.DOWN)
    gate.close()
    gate.open()
    assert gate.scan(venue.guest().token).verdict == "device_ended"


def test_a_revoked_gate_sends_nothing_until_it_is_paired_again(venue: Venue, gate: NodeGate, network: Network) -> None:
    device_id = admit_offline(venue, gate, network)
    by_a_lead(venue, device_id, devices.revoke)
    assert gate.scan(venue.guest().token).verdict == "device_ended"
    status = gate.status()
    assert (status.cards, status.waiting, status.device.status) == (None, 1, "revoked")
    with pytest.raises(GateCallError) as refused:
        gate.upload()
    assert refused.value.name == "DeviceRevoked"
    before = len(network.requests)
    gate.work()
    assert Lead(venue).pair(gate, network.url).id == device_id
    # Only the pairing, until the new key is there.
    asked = [request.path for request in network.requests[before:]]
    assert all(path.startswith("/gate/pair/") for path in asked[: _first_of(asked, "/key") + 1])
    status = gate.until(lambda status: status.waiting == 0)
    assert status.device.status == "paired"
    assert [entry[1:3] for entry in venue.entries(device_id)] == [(True, "recorded")]
    assert len(venue.incidents()) == 1
    assert gate.scan(venue.guest().token).admitted
    gate.rest()


@pytest.mark.parametrize("stranger", Stranger)
def test_a_gate_goes_on_while_the_service_does_not_know_it(
    venue: Venue, gate: NodeGate, network: Network, elsewhere: dict[Stranger, GatepassProcess], stranger: Stranger
) -> None:
    guest = venue.guest()
    known(gate, venue)
    with met(stranger, venue, network, elsewhere):
        assert refusals(gate.heartbeat)[-1] == "DeviceUnknown"
        shown = gate.scan(guest.token)
        assert (shown.admitted, shown.online) == (True, False)
        uploaded = gate.upload()
        assert (uploaded.waiting, uploaded.stopped_by in ("DeviceUnknown", "APIConnectionError")) == (1, True)
        assert refusals(gate.refresh)[-1] == "DeviceUnknown"
        gate.work()
        status = gate.until(lambda status: status.device_unknown)
        assert (status.device.status, status.waiting) == ("paired", 1)
        assert status.offline_since is not None
        assert status.cards
        gate.rest()
    status = gate.heartbeat()
    assert (status.device_unknown, status.offline_since, status.cards) == (False, None, 1)
    assert gate.upload().activated == 1
    assert gate.scan(venue.guest().token).online


def refusals(call: Callable[[], object]) -> list[str]:
    """What it throws, until the service is heard.

    Node's fetch repeats a call that got 421 on another connection, as it should, and often loses its answer.
    """
    thrown: list[str] = []
    while not thrown or thrown[-1] == "APIConnectionError":
        assert len(thrown) < 100, thrown
        with pytest.raises(GateCallError) as refused:
            call()
        thrown.append(refused.value.name)
    return thrown


def _first_of(paths: list[str], end: str) -> int:
    return next(n for n, path in enumerate(paths) if path.endswith(end))


def test_a_gate_that_was_moved_scans_for_its_new_event(venue: Venue, gate: NodeGate, network: Network) -> None:
    other = Venue.open(venue.stack)
    guest = other.guest()
    assert gate.scan(guest.token).verdict == "ticket_not_found"
    device_id = gate.status().device.id
    by_a_lead(venue, device_id, devices.change, event_id=UUID(other.event_id), gate="South")
    shown = gate.scan(guest.token, reader="another reader")
    assert (shown.colour, shown.online) == ("green", True)
    device = gate.status().device
    assert (device.event_id, device.gate) == (other.event_id, "South")
    assert other.activations(guest) == [("South", "North 2")]
    known(gate, other)
    other.client.close()


def test_a_gate_can_end_its_own_work(venue: Venue, gate: NodeGate, network: Network) -> None:
    admit_offline(venue, gate, network)
    assert gate.retire().activated == 1
    status = gate.heartbeat()
    assert (status.cards, status.device.status) == (None, "retired")
    assert gate.scan(venue.guest().token).verdict == "device_ended"
