"""What the gate decided is uploaded: each entry once, however many answers are lost."""

from pathlib import Path

from gatepass_sdk import APIConnectionError, Gate
from gatepass_sdk._gate.uploader import MOST_BYTES, within_limits
from tests.sdk.gate.network import Network, State
from tests.sdk.gate.venue import Venue


def online(gate: Gate, network: Network) -> None:
    """The network is back, and the gate need not find that out first."""
    network.becomes(State.UP)
    gate.heartbeat()


def device_id(gate: Gate) -> str:
    assert gate.device is not None
    return gate.device.id


def test_an_admission_is_uploaded_once(venue: Venue, gate: Gate, network: Network) -> None:
    guest = venue.guest()
    venue.known(gate, guest)
    network.becomes(State.DOWN)
    assert gate.scan(guest.token).admitted
    refused = gate.scan("SVC 0000 0000 0000")
    assert (refused.verdict, refused.sequence) == ("card_not_found", 2)
    stopped = gate.upload()
    assert (stopped.waiting, isinstance(stopped.stopped_by, APIConnectionError)) == (2, True)

    network.becomes(State.LOSES_ANSWERS)
    gate._paired._offset_is_known = True
    assert isinstance(gate.upload().stopped_by, APIConnectionError)
    online(gate, network)
    done = gate.upload()
    assert (done.activated, done.recorded, done.rejected, done.incidents, done.waiting) == (1, 1, 0, 0, 0)
    assert done.missing == ()
    first, *_, last = network.sent("/scans/batch")
    assert first.body == last.body
    assert venue.activations(guest) == [("North", "North 2")]
    assert venue.entries(device_id(gate)) == [(1, True, "activated", None), (2, False, "recorded", "card_not_found")]
    before = len(network.sent("/scans/batch"))
    assert gate.upload().activated == 0
    assert len(network.sent("/scans/batch")) == before


def test_the_upload_is_the_scan_whose_answer_was_lost(venue: Venue, gate: Gate, network: Network) -> None:
    guest = venue.guest()
    venue.known(gate, guest)
    network.becomes(State.LOSES_ANSWERS)
    assert gate.scan(guest.token).admitted
    assert len(venue.activations(guest)) == 1
    online(gate, network)
    done = gate.upload()
    assert (done.activated, done.incidents) == (1, 0)
    (scan,), (batch,) = network.sent("/scan"), network.sent("/scans/batch")
    (entry,) = batch.body["entries"]
    assert entry["idempotency_key"] == scan.key
    assert scan.body.items() <= entry.items()
    assert len(venue.activations(guest)) == 1
    assert venue.incidents() == []


def test_two_gates_that_let_one_guest_in_are_found(venue: Venue, gate: Gate, network: Network, tmp_path: Path) -> None:
    guest = venue.guest()
    with venue.gate(tmp_path / "other", network.url) as other:
        for one in (gate, other):
            venue.known(one, guest)
        network.becomes(State.DOWN)
        assert [one.scan(guest.token).colour for one in (gate, other)] == ["green", "green"]
        for one in (gate, other):
            online(one, network)
        assert (gate.upload().incidents, other.upload().incidents) == (0, 1)
    assert venue.incidents() == [("duplicate",)]
    assert len(venue.activations(guest)) == 1


def test_a_refusal_that_the_service_had_admitted_is_repeated(venue: Venue, gate: Gate, network: Network) -> None:
    """A ticket that was sold a moment ago: the manifest does not know it, the service does, and its answer is lost."""
    guest = venue.guest()
    network.becomes(State.LOSES_ANSWERS)
    refused = gate.scan(guest.token, reader="a")
    assert (refused.colour, refused.online) == ("red", False)
    online(gate, network)
    shown = gate.scan(guest.token, reader="b")
    assert (shown.colour, shown.online) == ("green", True)
    assert gate.scan(guest.token, reader="c").verdict == "already_activated"
    gate.upload()
    assert len(venue.activations(guest)) == 1
    assert venue.incidents() == []
    assert venue.entries(device_id(gate))[0][:2] == (1, False)


def test_an_admission_that_waits_is_not_asked_for_again(venue: Venue, gate: Gate, network: Network) -> None:
    """The service does not know of it, and would let a second guest in."""
    guest = venue.guest()
    venue.known(gate, guest)
    network.becomes(State.DOWN)
    assert gate.scan(guest.token).admitted
    before = len(network.sent("/scan"))
    online(gate, network)
    again = gate.scan(guest.token, reader="another reader")
    assert (again.colour, again.verdict, again.online) == ("red", "already_activated", False)
    assert len(network.sent("/scan")) == before
    gate.upload()
    assert gate.scan(guest.token, reader="a third").online


def test_what_nobody_decided_is_closed_in_time(venue: Venue, gate: Gate, network: Network) -> None:
    """Its guest did not come back. That nobody was let in is uploaded, and the code is deleted."""
    venue.change_event(offline="stop")
    guest = venue.guest()
    venue.known(gate, guest, offline="stop")
    network.becomes(State.LOSES_REQUESTS)
    assert gate.scan(guest.token).colour == "amber"
    online(gate, network)
    assert gate.upload().recorded == 0
    gate._store.database._db.execute("UPDATE scan SET occurred_at = '2026-01-01T00:00:00+00:00'")
    gate.upload()
    assert gate.status().last_sequence == 1
    assert gate._store.database._db.execute("SELECT verdict, admitted FROM scan").fetchall() == [("abandoned", 0)]
    assert venue.activations(guest) == []


def test_a_batch_is_as_large_as_the_service_takes(venue: Venue, gate: Gate, network: Network) -> None:
    guests = [venue.guest() for _ in range(3)]
    venue.known(gate, *guests)
    network.becomes(State.DOWN)
    for guest in guests:
        assert gate.scan(guest.token).admitted
    entries = gate._store.journal.waiting(10)
    assert within_limits(entries) == entries
    many = entries * 1000
    size = sum(len(str(entry.uploaded)) for entry in within_limits(many))
    assert 0.8 * MOST_BYTES < size <= 1.1 * MOST_BYTES


def test_a_guest_whose_refusal_was_uploaded_is_asked_for_anew(venue: Venue, gate: Gate, network: Network) -> None:
    """The upload ended that scan, and its answer was lost: the gate repeats it in vain, and then begins another."""
    venue.known(gate, venue.guest())
    guest = venue.guest()
    network.becomes(State.LOSES_REQUESTS)
    assert gate.scan(guest.token).verdict == "card_not_found"
    network.becomes(State.LOSES_ANSWERS)
    gate._paired._offset_is_known = True
    assert isinstance(gate.upload().stopped_by, APIConnectionError)
    online(gate, network)
    shown = gate.scan(guest.token, reader="another reader")
    assert (shown.colour, shown.online) == ("green", True)
    lost, repeated, anew = network.sent("/scan")
    assert lost.key == repeated.key != anew.key
    assert len(venue.activations(guest)) == 1
