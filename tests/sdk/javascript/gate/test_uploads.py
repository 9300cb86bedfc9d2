"""What the gate decided is uploaded: each entry once, however many answers are lost."""

from pathlib import Path

import pytest

from tests.sdk.gate.network import Network, State
from tests.sdk.gate.venue import Venue
from tests.sdk.javascript.gate.gate import NodeGate, known, started
from tests.sdk.javascript.gate.lead import Lead
from tests.sdk.javascript.gate.test_scans import online
from tests.size import NIGHT


def test_an_admission_is_uploaded_once(venue: Venue, gate: NodeGate, network: Network) -> None:
    guest = venue.guest()
    known(gate, venue)
    gate.heartbeat()
    network.becomes(State.DOWN)
    assert gate.scan(guest.token).admitted
    refused = gate.scan("SVC 0000 0000 0000")
    assert (refused.verdict, refused.sequence) == ("card_not_found", 2)

    network.becomes(State.LOSES_ANSWERS)
    stopped = gate.upload()
    assert (stopped.waiting, stopped.stopped_by) == (2, "APITimeoutError")
    online(gate, network)
    done = gate.upload()
    assert (done.activated, done.recorded, done.rejected, done.incidents, done.waiting) == (1, 1, 0, 0, 0)
    assert done.missing == []
    first, *_, last = network.sent("/scans/batch")
    assert first.body == last.body
    assert venue.activations(guest) == [("North", "North 2")]
    device_id = gate.status().device.id
    assert venue.entries(device_id) == [(1, True, "activated", None), (2, False, "recorded", "card_not_found")]
    before = len(network.sent("/scans/batch"))
    assert gate.upload().activated == 0
    assert len(network.sent("/scans/batch")) == before


def test_the_upload_is_the_scan_whose_answer_was_lost(venue: Venue, gate: NodeGate, network: Network) -> None:
    guest = venue.guest()
    known(gate, venue)
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


def test_two_gates_that_let_one_guest_in_are_found(
    program: Path, venue: Venue, gate: NodeGate, network: Network
) -> None:
    guest = venue.guest()
    with started(program) as other:
        Lead(venue, gate="South").pair(other, network.url)
        for one in (gate, other):
            known(one, venue)
        network.becomes(State.DOWN)
        assert [one.scan(guest.token).colour for one in (gate, other)] == ["green", "green"]
        for one in (gate, other):
            online(one, network)
        assert [one.upload().incidents for one in (gate, other)] == [0, 1]
    assert venue.incidents() == [("duplicate",)]
    assert venue.activations(guest) == [("North", "North 2")]


def test_a_refusal_that_the_service_had_admitted_is_repeated(venue: Venue, gate: NodeGate, network: Network) -> None:
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
    assert venue.entries(gate.status().device.id)[0][:2] == (1, False)


def test_an_admission_that_waits_is_not_asked_for_again(venue: Venue, gate: NodeGate, network: Network) -> None:
    """The service does not know of it, and would let a second guest in."""
    guest = venue.guest()
    known(gate, venue)
    network.becomes(State.DOWN)
    assert gate.scan(guest.token).admitted
    before = len(network.sent("/scan"))
    online(gate, network)
    again = gate.scan(guest.token, reader="another reader")
    assert (again.colour, again.verdict, again.online) == ("red", "already_activated", False)
    assert len(network.sent("/scan")) == before
    gate.upload()
    assert gate.scan(guest.token, reader="a third").online


@pytest.mark.parametrize("minutes", [10, -10])
def test_a_gate_with_a_wrong_clock_is_corrected(program: Path, venue: Venue, network: Network, minutes: int) -> None:
    with started(program) as gate:
        Lead(venue).pair(gate, network.url)
        gate.setClock(minutes * 60_000)
        assert abs(gate.heartbeat().clock_offset - minutes * 60) < 5
        first, second = venue.guest(), venue.guest()
        assert gate.scan(first.token).online
        known(gate, venue)
        network.becomes(State.DOWN)
        assert gate.scan(second.token).admitted
        online(gate, network)
        while gate.upload().waiting:
            pass
        gate.close()
        gate.open()
        assert abs(gate.status().clock_offset - minutes * 60) < 5
    ((late,),) = venue.execute(
        "SELECT abs(extract(epoch FROM now() - corrected_at)) < 60 FROM journal_entry WHERE event_id = %s",
        venue.event_id,
    )
    assert late
    assert venue.incidents() == []


def test_a_gate_at_work_follows_and_uploads_by_itself(venue: Venue, gate: NodeGate, network: Network) -> None:
    gate.work()
    guest, other = venue.guest(), venue.guest()
    gate.until(lambda status: status.cards == 2)
    issued = gate.status().manifest_issued_at
    venue.client.scans.create(venue.event_id, token=guest.token, gate="South")
    gate.until(lambda status: status.manifest_issued_at != issued)
    network.becomes(State.DOWN)
    used = gate.scan(guest.token)
    assert (used.colour, used.verdict, used.online) == ("red", "already_activated", False)
    shown = gate.scan(other.token)
    assert (shown.colour, shown.online) == ("green", False)
    if NIGHT:
        assert shown.seconds < 1.0
    network.becomes(State.UP)
    status = gate.until(lambda status: status.waiting == 0 and status.offline_since is None)
    assert status.last_sequence == 2
    assert venue.activations(other) == [("North", "North 2")]
    assert gate.scan(venue.guest().token).online
    gate.rest()
