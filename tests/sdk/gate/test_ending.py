"""A gate that is moved, retired or revoked learns it with its next call, and keeps nothing that it no longer needs."""

from collections.abc import Awaitable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from gatepass.base.database import Tx
from gatepass.domain import devices
from gatepass.domain.keys import Mode
from gatepass_sdk import APIConnectionError, DeviceRevoked, DeviceUnknown, Gate, GateError, GateInUse
from gatepass_sdk._gate.connection import Connection
from tests.processes import GatepassProcess
from tests.sdk.gate.network import Network, State
from tests.sdk.gate.strangers import Stranger, met
from tests.sdk.gate.venue import BY, Venue


def by_a_lead(venue: Venue, at: Gate, verb: Any, **changes: Any) -> None:
    """Retire, revoke or move the device of this gate, as the studio does."""
    assert at.device is not None
    device_id = UUID(at.device.id)

    def done(tx: Tx) -> Awaitable[Any]:
        return verb(tx, venue.organization_id, Mode.LIVE, device_id, by=BY, at=datetime.now(UTC), **changes)

    venue.do(done)


def admit_offline(venue: Venue, gate: Gate, network: Network) -> None:
    guest = venue.guest()
    venue.known(gate, guest)
    network.becomes(State.DOWN)
    assert gate.scan(guest.token).admitted
    network.becomes(State.UP)
    gate._paired.connection.works()


def test_a_retired_gate_only_uploads(venue: Venue, gate: Gate, network: Network, directory: Path) -> None:
    admit_offline(venue, gate, network)
    by_a_lead(venue, gate, devices.retire)
    shown = gate.scan(venue.guest().token)
    assert (shown.colour, shown.verdict) == ("amber", "device_ended")
    status = gate.status()
    assert (status.cards, status.waiting) == (None, 1)
    assert status.device is not None
    assert status.device.status == "retired"
    assert gate.upload().activated == 1
    network.becomes(State.DOWN)
    gate.close()
    with Gate(directory) as again:
        assert again.scan(venue.guest().token).verdict == "device_ended"


def test_a_revoked_gate_does_nothing_until_it_is_paired_again(
    venue: Venue, gate: Gate, network: Network, directory: Path
) -> None:
    admit_offline(venue, gate, network)
    assert gate.device is not None
    device_id = gate.device.id
    by_a_lead(venue, gate, devices.revoke)
    assert gate.scan(venue.guest().token).verdict == "device_ended"
    assert gate.status().cards is None
    with pytest.raises(DeviceRevoked):
        gate.upload()
    assert gate.status().waiting == 1
    gate.close()
    assert venue.pair(directory, network.url) == device_id
    with Gate(directory) as again:
        done = again.upload()
        assert (done.activated, done.recorded, done.incidents, done.waiting) == (0, 1, 1, 0)
        assert again.scan(venue.guest().token).admitted


@pytest.mark.parametrize("stranger", Stranger)
def test_a_gate_goes_on_while_the_service_does_not_know_it(
    venue: Venue, gate: Gate, network: Network, elsewhere: dict[Stranger, GatepassProcess], stranger: Stranger
) -> None:
    guest, later = venue.guest(), venue.guest()
    venue.known(gate, guest, later)
    with met(stranger, venue, network, elsewhere):
        with pytest.raises(DeviceUnknown, match="does not know this device"):
            gate.heartbeat()
        shown = gate.scan(guest.token)
        assert (shown.admitted, shown.online) == (True, False)
        assert gate.upload().waiting == 1
        # A guest who waits asks the service again; so does a manifest that is fetched.
        gate._paired.connection.works()
        assert gate.scan(later.token).admitted
        with pytest.raises(DeviceUnknown):
            gate.refresh()
        status = gate.status()
        assert status.device is not None
        assert (status.device.status, status.device_unknown, status.waiting) == ("paired", True, 2)
        assert status.offline_since is not None
        assert status.cards
    status = gate.heartbeat()
    assert (status.device_unknown, status.offline_since) == (False, None)
    assert gate.upload().activated == 2
    assert gate.scan(venue.guest().token).online


def test_a_service_that_does_not_know_a_gate_is_asked_less_and_less_often() -> None:
    connection = Connection()
    waits: list[float] = []
    for _ in range(6):
        connection.failed(datetime.now(UTC), DeviceUnknown(""))
        waits.append(connection.pause)
    assert waits == [10, 20, 40, 60, 60, 60]
    connection.failed(datetime.now(UTC), APIConnectionError(""))
    assert (connection.pause, connection.unknown) == (5, False)


def test_a_gate_that_was_moved_scans_for_its_new_event(venue: Venue, gate: Gate, network: Network) -> None:
    other = Venue.open(venue.stack)
    guest = other.guest()
    assert gate.scan(guest.token).verdict == "ticket_not_found"
    by_a_lead(venue, gate, devices.change, event_id=UUID(other.event_id), gate="South")
    shown = gate.scan(guest.token, reader="another reader")
    assert (shown.colour, shown.online) == ("green", True)
    assert gate.device is not None
    assert (gate.device.event_id, gate.device.gate) == (other.event_id, "South")
    assert other.activations(guest) == [("South", "North 2")]
    other.known(gate, guest)
    other.client.close()


def test_a_gate_can_end_its_own_work(venue: Venue, gate: Gate, network: Network) -> None:
    admit_offline(venue, gate, network)
    assert gate.retire().activated == 1
    assert gate.status().cards is None
    assert gate.heartbeat().device is not None
    assert gate.scan(venue.guest().token).verdict == "device_ended"


def test_one_process_works_with_a_directory(gate: Gate, directory: Path) -> None:
    with pytest.raises(GateInUse):
        Gate(directory)
    status = Gate.status_of(directory)
    assert status.device == gate.device
    assert status.cards is not None


def test_a_gate_that_is_not_paired_says_so(tmp_path: Path) -> None:
    with pytest.raises(GateError, match="there is no gate"):
        Gate.status_of(tmp_path / "none")
    with Gate(tmp_path / "new") as gate, pytest.raises(GateError, match="not paired"):
        gate.scan("SVC 1234 5678 9012")


def test_a_gate_without_its_key_is_not_begun_anew(gate: Gate, directory: Path) -> None:
    gate.close()
    (directory / "gate.key").rename(directory / "elsewhere")
    with pytest.raises(GateError, match="key of this gate cannot be read"):
        Gate(directory)
    with Gate(directory, key_file=directory / "elsewhere") as again:
        assert again.device is not None
    (directory / "gate.key").write_bytes(bytes(32))
    with pytest.raises(GateError, match="sealed with another key"):
        Gate(directory)
