"""Codes at a gate: the service decides; without an answer in 1.5 s the gate does, and every try is one scan."""

import pytest

from tests.sdk.gate.network import Network, State
from tests.sdk.gate.venue import Venue
from tests.sdk.javascript.gate.gate import NodeGate, known
from tests.size import NIGHT

# The gate's 1.5 s, and what a busy machine adds.
AT_MOST = 4.0


def online(gate: NodeGate, network: Network) -> None:
    """The network is back, and the gate need not find that out first."""
    network.becomes(State.UP)
    gate.heartbeat()


def test_the_service_decides_while_it_answers(venue: Venue, gate: NodeGate) -> None:
    guest = venue.guest()
    shown = gate.scan(guest.token)
    assert (shown.colour, shown.verdict, shown.online) == ("green", "activated", True)
    assert (shown.category, shown.tier, shown.word) == ("General", "vip", "ENTER")
    assert venue.activations(guest) == [("North", "North 2")]
    assert gate.status().waiting == 0

    echo = gate.scan(guest.token)
    assert (echo.echo, echo.colour) == (True, "green")
    used = gate.scan(guest.number, reader="another reader")
    assert (used.colour, used.verdict, used.online) == ("red", "already_activated", True)
    assert (used.first.gate, used.first.scanner_id) == ("North", "North 2")


@pytest.mark.parametrize("state", [State.LOSES_REQUESTS, State.LOSES_ANSWERS, State.DOWN])
def test_without_an_answer_the_gate_decides(venue: Venue, gate: NodeGate, network: Network, state: State) -> None:
    guest = venue.guest()
    known(gate, venue)
    network.becomes(state)
    shown = gate.scan(guest.token)
    assert (shown.colour, shown.online, shown.sequence) == ("green", False, 1)
    assert (shown.category, shown.tier) == ("General", "vip")
    assert shown.seconds > 1.4 or state is State.DOWN
    if NIGHT:
        assert shown.seconds < (1.4 if state is State.DOWN else AT_MOST)
    status = gate.status()
    assert (status.waiting, status.offline_since is not None) == (1, True)
    # It knows now that it is offline: the next guest does not wait.
    tries = len(network.sent("/scan"))
    unknown = gate.scan("SVC 0000 0000 0000")
    assert unknown.verdict == "card_not_found"
    if NIGHT:
        assert unknown.seconds < 1.0
    assert len(network.sent("/scan")) == tries


def test_a_guest_whose_scan_has_no_outcome_repeats_that_scan(venue: Venue, gate: NodeGate, network: Network) -> None:
    """The answer is lost, the event admits online only, and the ticket is used up: by the same scan, not by another."""
    guest = venue.guest()
    known(gate, venue)
    venue.change_event(offline="stop")
    issued = gate.status().manifest_issued_at
    gate.until(lambda status: status.manifest_issued_at != issued, refresh=True)
    network.becomes(State.LOSES_ANSWERS)
    waiting = gate.scan(guest.token)
    assert (waiting.colour, waiting.verdict) == ("amber", "online_only")
    online(gate, network)
    shown = gate.scan(guest.token)
    assert (shown.colour, shown.online) == ("green", True)
    tries = network.sent("/scan")
    assert len({one.key for one in tries}) == 1
    assert all(one.body == tries[0].body for one in tries)
    assert len(venue.activations(guest)) == 1


@pytest.mark.parametrize("place", [None, "main", "mirror"])
def test_a_scan_survives_a_restart(venue: Venue, gate: NodeGate, network: Network, place: str | None) -> None:
    guest, other = venue.guest(), venue.guest()
    known(gate, venue)
    network.becomes(State.DOWN)
    assert gate.scan(guest.token).admitted
    gate.scan(other.token)
    gate.close()
    if place is not None:
        gate.lose(place)
    gate.open()
    assert gate.status().lost == place
    # The last one may not have been seen on the screen; the one before was.
    used = gate.scan(guest.token)
    assert (used.colour, used.verdict, used.first.gate) == ("red", "already_activated", "North")
    check = gate.scan(other.token)
    assert (check.colour, check.verdict) == ("amber", "was_admitted")
    assert gate.scan(other.token).verdict == "already_activated"
    online(gate, network)
    while gate.upload().waiting:
        pass
    assert [len(venue.activations(one)) for one in (guest, other)] == [1, 1]
    assert venue.incidents() == []


def test_two_readers_that_see_one_code_let_one_guest_in(venue: Venue, gate: NodeGate, network: Network) -> None:
    guest = venue.guest()
    known(gate, venue)
    network.becomes(State.DOWN)
    assert [gate.scan(guest.token, reader=reader).colour for reader in "ab"] == ["green", "red"]


def test_a_forged_code_and_a_wrong_gate_are_refused_offline(venue: Venue, gate: NodeGate, network: Network) -> None:
    guest = venue.guest()
    known(gate, venue)
    venue.execute("UPDATE ticket_category SET gates = %s WHERE id = %s", ["South"], venue.category_id)
    issued = gate.status().manifest_issued_at
    venue.change_event(title="Another night")
    gate.until(lambda status: status.manifest_issued_at != issued, refresh=True)
    network.becomes(State.DOWN)
    forged = gate.scan(guest.token[:-8] + "A" * 8)
    assert (forged.colour, forged.verdict) == ("red", "invalid_token")
    elsewhere = gate.scan(guest.token)
    assert (elsewhere.verdict, elsewhere.details) == ("wrong_gate", {"gates": ["South"]})


def test_what_is_no_code_is_not_sent(gate: NodeGate, network: Network) -> None:
    for text in ("", "https://example.com/menu", "x" * 2000, "SVC1.", "SVC1.a.b.c\x07", "4006381333931"):
        assert gate.scan(text).verdict == "unreadable"
    assert network.sent("/scan") == []
