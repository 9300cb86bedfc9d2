"""Pairing over HTTP: a code, two words on both screens, a person who confirms, a key that only the device gets."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from uuid import UUID

import pytest

from gatepass.base.database import Tx
from gatepass.domain.devices import pairing
from gatepass.domain.devices.pairing import MadeCode, PairingRequest
from gatepass.domain.keys import Mode
from gatepass_sdk import Gate, PairingEnded
from tests.sdk.gate.network import Network, State
from tests.sdk.gate.venue import BY, Venue


class Lead:
    """The person with the studio, who reads two words and confirms or refuses."""

    def __init__(self, venue: Venue) -> None:
        self._venue = venue
        self.code = venue.do(self._make_code)

    async def _make_code(self, tx: Tx) -> MadeCode:
        return await pairing.make_code(
            tx,
            self._venue.organization_id,
            Mode.LIVE,
            UUID(self._venue.event_id),
            "North",
            cell="a",
            by=BY,
            at=datetime.now(UTC),
        )

    def asked(self) -> PairingRequest:
        async def read(tx: Tx) -> list[PairingRequest]:
            return await pairing.requests_of(tx, self._venue.organization_id, self.code.id)

        (request,) = self._venue.do(read)
        return request

    def confirm(self, words: tuple[str, str]) -> None:
        request = self.asked()
        assert (request.words, request.name) == (list(words), "North 2")

        async def confirm(tx: Tx) -> None:
            organization_id, now = self._venue.organization_id, datetime.now(UTC)
            await pairing.confirm(tx, organization_id, Mode.LIVE, self.code.id, request.request, by=BY, at=now)

        self._venue.do(confirm)

    def refuse(self, _words: tuple[str, str]) -> None:
        request = self.asked().request

        async def refuse(tx: Tx) -> None:
            organization_id, now = self._venue.organization_id, datetime.now(UTC)
            await pairing.refuse(tx, organization_id, Mode.LIVE, self.code.id, request, by=BY, at=now)

        self._venue.do(refuse)


@pytest.fixture
def lead(venue: Venue) -> Lead:
    return Lead(venue)


def spoken(code: str) -> str:
    """As somebody types it."""
    return f"{code[:3]}-{code[3:]} ".lower()


def test_a_confirmed_device_scans(venue: Venue, network: Network, directory: Path, lead: Lead) -> None:
    with Gate(directory) as gate:
        device = gate.pair(spoken(lead.code.text), url=network.url, name="North 2", on_words=lead.confirm)
        assert (device.name, device.gate, device.event_id, device.status) == (
            "North 2",
            "North",
            venue.event_id,
            "paired",
        )
        assert gate.refresh()
        assert gate.scan(venue.guest().token).admitted
        assert device.api_key not in repr(device)
    with Gate(directory) as again:
        assert again.device == device
        once_more = Lead(venue)
        repaired = again.pair(once_more.code.text, url=network.url, name="North 2", on_words=once_more.confirm)
        assert repaired.id == device.id


def test_a_lost_key_is_fetched_again(venue: Venue, network: Network, directory: Path, lead: Lead) -> None:
    def confirm(words: tuple[str, str]) -> None:
        lead.confirm(words)
        network.becomes(State.LOSES_ANSWERS)

        def come_back() -> None:
            network.wait_until_sent("/key")
            network.becomes(State.UP)

        Thread(target=come_back, daemon=True).start()

    with Gate(directory) as gate:
        gate.pair(lead.code.text, url=network.url, name="North 2", on_words=confirm)
        assert len(network.sent("/key")) == 2
        assert gate.scan(venue.guest().token).online


def test_a_refused_device_and_a_wrong_code_get_nothing(network: Network, directory: Path, lead: Lead) -> None:
    with Gate(directory) as gate:
        with pytest.raises(PairingEnded):
            gate.pair(lead.code.text, url=network.url, name="North 2", on_words=lead.refuse)
        with pytest.raises(PairingEnded):
            gate.pair("A00000-0000", url=network.url, name="North 2")
        assert gate.device is None


@pytest.mark.parametrize("offset", [timedelta(minutes=10), timedelta(days=-4000)])
def test_a_machine_with_a_wrong_clock_is_paired(
    venue: Venue, network: Network, directory: Path, lead: Lead, offset: timedelta
) -> None:
    with Gate(directory, clock=lambda: datetime.now(UTC) + offset) as gate:
        gate.pair(lead.code.text, url=network.url + "/api/public/v1", name="North 2", on_words=lead.confirm)
        assert abs(gate.status().clock_offset - offset) < timedelta(seconds=30)
        assert gate.scan(venue.guest().token).online
