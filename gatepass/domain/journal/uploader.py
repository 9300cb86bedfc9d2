"""The device that uploads its journal: its public key, its clock, and what it worked for, now and before."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec

from gatepass.base.database import Tx
from gatepass.domain import cards
from gatepass.domain.cards import PublicKey
from gatepass.domain.keys import Caller, InvalidKey, Mode

# A device that was moved more often has forgotten its first events; their 72 hours are long over.
MOST_ASSIGNMENTS: Final = 200
FARTHEST: Final = timedelta(days=1)


class Assignment(msgspec.Struct, frozen=True):
    """An event and gate that the device worked for. `ends_at` is the end of the event."""

    event_id: UUID
    gate: str
    since: datetime
    until: datetime | None
    ends_at: datetime

    def covers(self, moment: datetime) -> bool:
        return self.since <= moment and (self.until is None or moment < self.until)


@dataclass(frozen=True, slots=True)
class Uploader:
    """`card_keys` are the public keys of the organization, by which the tokens in the journal are read."""

    organization_id: UUID
    tenant_id: UUID
    mode: Mode
    key_id: UUID
    device_id: UUID
    public_key: bytes
    clock_offset_ms: int | None
    distrusted_until: datetime | None
    assignments: list[Assignment]
    card_keys: list[PublicKey]

    def corrected(self, occurred_at: datetime, received_at: datetime) -> datetime:
        """When it happened by our clock, as far as we know: not before the pairing, and not after we heard of it."""
        paired_at = min((one.since for one in self.assignments), default=received_at)
        # Far outside, the difference of the clocks says nothing, and the subtraction could leave the calendar.
        bounded = min(max(occurred_at, paired_at - FARTHEST), received_at + FARTHEST)
        return min(max(bounded - timedelta(milliseconds=self.clock_offset_ms or 0), paired_at), received_at)

    def assignment(self, event_id: UUID, gate: str | None, moment: datetime) -> tuple[Assignment, bool] | None:
        """What it worked for then, if it ever worked for this event; and whether it did so at that moment."""
        of_event = [one for one in self.assignments if one.event_id == event_id]
        if not of_event:
            return None
        then = [one for one in of_event if one.covers(moment)]
        likely = then or of_event
        return next((one for one in likely if one.gate == gate), likely[-1]), bool(then)


async def find_uploader(tx: Tx, caller: Caller) -> Uploader:
    """The device of this key, as it is now."""
    assert caller.device is not None  # noqa: S101  `needs_device` lets nobody else in
    rows = await tx.rows(FIND, caller.organization_id, caller.device.device_id, caller.tenant_id, MOST_ASSIGNMENTS)
    if not rows:
        raise InvalidKey
    return Uploader(
        organization_id=caller.organization_id,
        tenant_id=caller.tenant_id,
        mode=caller.mode,
        key_id=caller.key_id,
        device_id=caller.device.device_id,
        public_key=rows[0]["public_key"],
        clock_offset_ms=rows[0]["clock_offset_ms"],
        distrusted_until=rows[0]["distrusted_until"],
        assignments=msgspec.json.decode(rows[0]["assignments"], type=list[Assignment]),
        card_keys=await cards.verifying_keys(tx, caller.tenant_id),
    )


FIND: Final = """
    SELECT d.public_key, d.clock_offset_ms, d.distrusted_until,
           (SELECT coalesce(json_agg(x ORDER BY x.since), '[]')
              FROM (SELECT a.event_id, a.gate, a.since, a.until, coalesce(e.ended_at, e.ends_at) AS ends_at
                      FROM device_assignment a
                      JOIN event e ON e.organization_id = $3 AND e.id = a.event_id
                     WHERE a.organization_id = $1
                       AND a.device_id = $2
                     ORDER BY a.since DESC
                     LIMIT $4) x)::text AS assignments
      FROM device d
     WHERE d.organization_id = $1
       AND d.id = $2
"""
