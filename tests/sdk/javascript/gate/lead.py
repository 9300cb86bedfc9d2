"""The person with the studio: makes codes, compares two words, confirms; ends devices."""

from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain.devices import pairing
from gatepass.domain.devices.pairing import MadeCode, PairingRequest
from gatepass.domain.keys import Mode
from tests.sdk.gate.venue import BY, Venue
from tests.sdk.javascript.gate.gate import NodeGate


class Lead:
    def __init__(self, venue: Venue, *, gate: str = "North") -> None:
        self._venue = venue
        self._gate = gate
        self.code = venue.do(self._make_code)

    async def _make_code(self, tx: Tx) -> MadeCode:
        organization_id, event_id = self._venue.organization_id, UUID(self._venue.event_id)
        now = datetime.now(UTC)
        return await pairing.make_code(tx, organization_id, Mode.LIVE, event_id, self._gate, cell="a", by=BY, at=now)

    def pair(self, gate: NodeGate, url: str) -> Any:
        """Pair this gate, and fetch its manifest."""
        device = gate.pair(self.code.text, url, self.confirm)
        self._venue.do(self._end_code)
        gate.refresh()
        return device

    async def _end_code(self, tx: Tx) -> None:
        """An organization has twenty open ones at most."""
        organization_id, now = self._venue.organization_id, datetime.now(UTC)
        await pairing.end_code(tx, organization_id, Mode.LIVE, self.code.id, by=BY, at=now)

    def asked(self) -> PairingRequest:
        async def read(tx: Tx) -> list[PairingRequest]:
            return await pairing.requests_of(tx, self._venue.organization_id, self.code.id)

        (request,) = self._venue.do(read)
        return request

    def confirm(self, words: tuple[str, str]) -> None:
        request = self.asked()
        assert request.words == list(words)

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


def by_a_lead(venue: Venue, device_id: str, verb: Any, **changes: Any) -> None:
    """Retire, revoke or move this device, as the studio does."""

    def done(tx: Tx) -> Awaitable[Any]:
        return verb(tx, venue.organization_id, Mode.LIVE, UUID(device_id), by=BY, at=datetime.now(UTC), **changes)

    venue.do(done)
