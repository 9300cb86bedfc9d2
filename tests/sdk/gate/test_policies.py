"""What a gate admits without a network, as its event has it, and what it never does."""

from datetime import UTC, datetime, timedelta

import pytest

from gatepass_sdk import Gate
from tests.sdk.gate.network import Network, State
from tests.sdk.gate.venue import Venue


def shown(gate: Gate, code: str) -> tuple[str, str]:
    answer = gate.scan(code)
    assert not answer.online
    return answer.colour, answer.verdict


@pytest.mark.parametrize(
    ("policy", "known", "unknown", "typed"),
    [
        ("manifest", ("green", "activated"), ("red", "card_not_found"), ("red", "card_not_found")),
        ("signature", ("green", "activated"), ("green", "activated"), ("red", "card_not_found")),
        ("stop", ("amber", "online_only"), ("amber", "online_only"), ("amber", "online_only")),
    ],
)
def test_an_event_says_whom_a_gate_admits(
    venue: Venue,
    gate: Gate,
    network: Network,
    policy: str,
    known: tuple[str, str],
    unknown: tuple[str, str],
    typed: tuple[str, str],
) -> None:
    guest = venue.guest()
    venue.change_event(offline=policy)
    venue.known(gate, guest, offline=policy)
    network.becomes(State.DOWN)
    stranger, other = venue.guest(), venue.guest()
    assert shown(gate, guest.token) == known
    assert shown(gate, stranger.token) == unknown
    assert shown(gate, other.number) == typed
    forged = ("amber", "online_only") if policy == "stop" else ("red", "invalid_token")
    assert shown(gate, stranger.token[:-8] + "A" * 8) == forged


def test_rules_are_judged_without_a_network(venue: Venue, gate: Gate, network: Network) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    guest, suspended = venue.guest(), venue.guest()
    venue.client.cards.suspend(suspended.card_id, reason="lost")
    sql = "UPDATE ticket_category SET gates = %s, valid_until = %s WHERE id = %s"
    venue.execute(sql, ["South"], tomorrow, venue.category_id)
    venue.change_event(doors_open_at=tomorrow)
    venue.known(gate, guest, suspended, doors_open_at=tomorrow)
    network.becomes(State.DOWN)
    closed = gate.scan(guest.token)
    assert (closed.verdict, closed.details["doors_open_at"]) == ("doors_closed", tomorrow.isoformat())

    network.becomes(State.UP)
    gate._paired.connection.works()
    venue.change_event(doors_open_at=None)
    venue.known(gate, guest, doors_open_at=None)
    network.becomes(State.DOWN)
    elsewhere = gate.scan(guest.token, reader="another reader")
    assert (elsewhere.verdict, elsewhere.details) == ("wrong_gate", {"gates": ["South"]})
    assert gate.scan(suspended.token).verdict == "card_suspended"


def test_without_a_manifest_nobody_is_admitted(venue: Venue, gate: Gate, network: Network) -> None:
    guest = venue.guest()
    gate._paired.manifests.forget()
    network.becomes(State.DOWN)
    assert shown(gate, guest.token) == ("amber", "no_manifest")
    assert gate.status().last_sequence == 0


def test_a_manifest_that_has_expired_is_deleted(venue: Venue, network: Network, gate: Gate) -> None:
    guest = venue.guest()
    venue.known(gate, guest)
    assert gate.status().cards
    gate._store.clock.correction = timedelta(days=-2)
    network.becomes(State.DOWN)
    assert shown(gate, guest.token) == ("amber", "no_manifest")
    assert gate._store.database.manifest_parts() == []
