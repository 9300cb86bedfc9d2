"""The clocks of gates are minutes wrong: the gate corrects its own, and the service what was written before."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gatepass_sdk import Gate
from tests.sdk.gate.network import Network, State
from tests.sdk.gate.venue import Venue

TEN_MINUTES = timedelta(minutes=10)
A_LITTLE = timedelta(seconds=5)


@pytest.mark.parametrize("offset", [TEN_MINUTES, -TEN_MINUTES])
def test_a_gate_with_a_wrong_clock_scans_online_and_offline(
    venue: Venue, network: Network, directory: Path, offset: timedelta
) -> None:
    with venue.gate(directory, network.url, clock=lambda: datetime.now(UTC) + offset) as gate:
        assert abs(gate.heartbeat().clock_offset - offset) < A_LITTLE
        first, second = venue.guest(), venue.guest()
        assert gate.scan(first.token).online
        venue.known(gate, second)
        network.becomes(State.DOWN)
        assert gate.scan(second.token).admitted
        network.becomes(State.UP)
        gate._paired.connection.works()
        while gate.upload().waiting:
            pass
        assert gate.status().waiting == 0
    with Gate(directory, clock=lambda: datetime.now(UTC) + offset) as again:
        assert abs(again.status().clock_offset - offset) < A_LITTLE
    ((at,),) = venue.execute("SELECT corrected_at FROM journal_entry WHERE event_id = %s", venue.event_id)
    assert abs(datetime.now(UTC) - at) < timedelta(minutes=1)
    assert venue.incidents() == []


def test_a_clock_is_not_corrected_while_entries_wait(venue: Venue, network: Network, directory: Path) -> None:
    """They were written by the wrong clock, and the service corrects them by what it measured of that clock."""
    ahead = timedelta()
    with venue.gate(directory, network.url, clock=lambda: datetime.now(UTC) + ahead) as gate:
        gate.heartbeat()
        guest = venue.guest()
        venue.known(gate, guest)
        network.becomes(State.DOWN)
        ahead = TEN_MINUTES
        assert gate.scan(guest.token).admitted
        network.becomes(State.UP)
        gate._paired.connection.works()
        gate._paired._offset_is_known = False
        while gate.upload().waiting:
            # A device's offset is stored at most every 5 s.
            assert abs(gate.status().clock_offset) < A_LITTLE
        gate.heartbeat()
        assert abs(gate.status().clock_offset - TEN_MINUTES) < A_LITTLE
    ((at,),) = venue.execute("SELECT corrected_at FROM journal_entry WHERE event_id = %s", venue.event_id)
    assert abs(datetime.now(UTC) - at) < timedelta(minutes=1)
