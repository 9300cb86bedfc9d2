"""Codes at a gate: the service decides; without an answer in 1.5 s the gate does, and every try is one scan."""

import time
from pathlib import Path

import pytest

from gatepass_sdk import Gate
from tests.sdk.gate.network import Network, State
from tests.sdk.gate.venue import Venue
from tests.size import NIGHT

# The gate's 1.5 s, and its own work.
AT_MOST = 2.0


def test_the_service_decides_while_it_answers(venue: Venue, gate: Gate) -> None:
    guest = venue.guest()
    shown = gate.scan(guest.token)
    assert (shown.colour, shown.verdict, shown.online) == ("green", "activated", True)
    assert (shown.category, shown.tier, shown.word) == ("General", "vip", "ENTER")
    assert venue.activations(guest) == [("North", "North 2")]
    assert gate.status().waiting == 0

    used = gate.scan(guest.number, reader="another reader")
    assert (used.colour, used.verdict, used.online) == ("red", "already_activated", True)
    assert used.first is not None
    assert (used.first.gate, used.first.scanner_id) == ("North", "North 2")


@pytest.mark.parametrize("state", [State.LOSES_REQUESTS, State.LOSES_ANSWERS])
def test_without_an_answer_the_gate_decides(venue: Venue, gate: Gate, network: Network, state: State) -> None:
    guest = venue.guest()
    venue.known(gate, guest)
    network.becomes(state)
    began = time.monotonic()
    shown = gate.scan(guest.token)
    took = time.monotonic() - began
    assert took > 1.4
    if NIGHT:
        assert took < AT_MOST
    assert (shown.colour, shown.online, shown.sequence) == ("green", False, 1)
    assert (shown.category, shown.tier) == ("General", "vip")
    status = gate.status()
    assert (status.waiting, status.offline_since is not None) == (1, True)
    # It knows now that it is offline: the next guest does not wait.
    assert gate.scan("SVC 0000 0000 0000").verdict == "card_not_found"
    assert len(network.sent("/scan")) == 1


def test_a_network_that_is_down_costs_no_time(venue: Venue, gate: Gate, network: Network) -> None:
    guest = venue.guest()
    venue.known(gate, guest)
    network.becomes(State.DOWN)
    assert gate.scan(guest.token).colour == "green"
    assert venue.activations(guest) == []


def test_the_same_code_at_the_same_reader_is_an_echo(venue: Venue, gate: Gate, network: Network) -> None:
    guest = venue.guest()
    first, echo = gate.scan(guest.token), gate.scan(guest.token)
    assert (first.echo, echo.echo, echo.colour) == (False, True, "green")
    assert len(network.sent("/scan")) == 1
    assert gate.scan(guest.token, reader="another reader").verdict == "already_activated"


def test_a_guest_whose_scan_has_no_outcome_repeats_that_scan(
    venue: Venue, gate: Gate, network: Network, directory: Path
) -> None:
    """The answer is lost, the event admits online only, and the ticket is used up: by the same scan, not by another."""
    venue.change_event(offline="stop")
    guest = venue.guest()
    venue.known(gate, guest, offline="stop")
    network.becomes(State.LOSES_ANSWERS)
    waiting = gate.scan(guest.token)
    assert (waiting.colour, waiting.verdict) == ("amber", "online_only")
    network.becomes(State.UP)
    gate._paired.connection.works()
    shown = gate.scan(guest.token)
    assert (shown.colour, shown.online) == ("green", True)
    first, second = network.sent("/scan")
    assert (first.key, first.body) == (second.key, second.body)
    assert len(venue.activations(guest)) == 1


def test_a_scan_survives_a_restart(venue: Venue, gate: Gate, network: Network, directory: Path) -> None:
    guest, other = venue.guest(), venue.guest()
    venue.known(gate, guest, other)
    network.becomes(State.LOSES_ANSWERS)
    assert gate.scan(guest.token).admitted
    gate.scan(other.token)
    gate.close()
    with Gate(directory) as again:
        network.becomes(State.DOWN)
        # The last one may not have been seen on the screen; the one before was.
        used = again.scan(guest.token)
        assert (used.colour, used.verdict) == ("red", "already_activated")
        assert used.first is not None
        assert used.first.gate == "North"
        check = again.scan(other.token)
        assert (check.colour, check.verdict) == ("amber", "was_admitted")
        assert again.scan(other.token).verdict == "already_activated"


def test_two_readers_that_see_one_code_let_one_guest_in(venue: Venue, gate: Gate, network: Network) -> None:
    guest = venue.guest()
    venue.known(gate, guest)
    network.becomes(State.DOWN)
    assert [gate.scan(guest.token, reader=reader).colour for reader in "ab"] == ["green", "red"]


def test_what_is_no_code_is_not_sent(gate: Gate, network: Network) -> None:
    for text in ("", "https://example.com/menu", "x" * 2000, "SVC1.", "SVC1.a.b.c\x07", "4006381333931"):
        assert gate.scan(text).verdict == "unreadable"
    assert network.sent("/scan") == []
