"""Pairing over HTTP: a code, two words on both screens, a person who confirms, a key that only the device gets."""

from pathlib import Path
from threading import Thread

import pytest

from tests.sdk.gate.network import Network, State
from tests.sdk.gate.venue import Venue
from tests.sdk.javascript.gate.gate import GateCallError, started
from tests.sdk.javascript.gate.lead import Lead


def spoken(code: str) -> str:
    """As somebody types it."""
    return f"{code[:3]}-{code[3:]} ".lower()


def test_a_confirmed_device_scans(program: Path, venue: Venue, network: Network) -> None:
    lead = Lead(venue)
    with started(program) as gate:
        device = gate.pair(spoken(lead.code.text), network.url, lead.confirm)
        assert (device.name, device.gate, device.event_id) == ("North 2", "North", venue.event_id)
        assert not hasattr(device, "api_key")
        assert gate.refresh()
        assert gate.scan(venue.guest().token).admitted
        gate.close()
        gate.open()
        assert gate.status().device.id == device.id
        assert Lead(venue).pair(gate, network.url).id == device.id


def test_a_lost_key_is_fetched_again(program: Path, venue: Venue, network: Network) -> None:
    lead = Lead(venue)

    def confirm(words: tuple[str, str]) -> None:
        lead.confirm(words)
        network.becomes(State.LOSES_ANSWERS)

        def come_back() -> None:
            network.wait_until_sent("/key")
            network.becomes(State.UP)

        Thread(target=come_back, daemon=True).start()

    with started(program) as gate:
        gate.pair(lead.code.text, network.url, confirm)
        assert len(network.sent("/key")) == 2
        assert gate.scan(venue.guest().token).online


def test_a_refused_device_and_a_wrong_code_get_nothing(program: Path, venue: Venue, network: Network) -> None:
    lead = Lead(venue)
    with started(program) as gate:
        for code, answer in ((lead.code.text, lead.refuse), ("A00000-0000", lead.confirm)):
            with pytest.raises(GateCallError) as ended:
                gate.pair(code, network.url, answer)
            assert ended.value.name == "PairingEnded"
        assert gate.status().device is None
        with pytest.raises(GateCallError, match="not paired"):
            gate.scan("SVC 1234 5678 9012")


@pytest.mark.parametrize("minutes", [10, -4000 * 24 * 60])
def test_a_machine_with_a_wrong_clock_is_paired(program: Path, venue: Venue, network: Network, minutes: int) -> None:
    with started(program) as gate:
        gate.setClock(minutes * 60_000)
        Lead(venue).pair(gate, network.url + "/api/public/v1")
        assert abs(gate.status().clock_offset - minutes * 60) < 30
        assert gate.scan(venue.guest().token).online
