"""Letting somebody in as a person, with a reason: at a door no rule knows everything.

An unused ticket of a published event is used up by it, as by a scan, whatever its times and gates. Anything else opens
an incident and uses nothing: the record must not say that a ticket was good which was not.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec

from gatepass.base.clock import rfc3339
from gatepass.base.database import Tx
from gatepass.base.ids import id_of, new_id, strict_uuid
from gatepass.domain import audit_log, cards, events, twin, webhooks
from gatepass.domain.cards import CardStatus, HeldCard
from gatepass.domain.events import EventStatus
from gatepass.domain.incidents.incident import IncidentKind
from gatepass.domain.keys import Mode
from gatepass.domain.tickets import ACTIVATED, AlreadyActivated, TicketState
from gatepass.domain.webhooks import Message, MessageType

LET_IN: Final = "let in"


@dataclass(frozen=True, slots=True)
class LetIn:
    """`activated`: the ticket is used now. Otherwise `incident_id` is the incident that was opened."""

    activated: bool
    incident_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class _Ticket:
    """The ticket of a card for an event: the one in use, or the last that was cancelled."""

    id: UUID
    activated_at: datetime | None
    cancelled_at: datetime | None
    admitted_at: datetime | None

    @property
    def is_unused(self) -> bool:
        return self.activated_at is None and self.cancelled_at is None

    @property
    def was_shown(self) -> bool:
        """Whether somebody came in with it before."""
        return self.activated_at is not None or self.admitted_at is not None


@dataclass(frozen=True, slots=True)
class _LettingIn:
    """Where, why, by whom and when."""

    event_id: UUID
    gate: str | None
    reason: str
    by: str
    at: datetime


async def let_in(
    tx: Tx,
    organization_id: UUID,
    card_id: UUID,
    event_id: UUID,
    *,
    gate: str | None = None,
    seen_unused: bool = False,
    reason: str,
    by: str,
    at: datetime,
) -> LetIn:
    """Let the holder of this card in to this event.

    With `seen_unused` the person has seen an unused ticket. If it was used since, they are told (AlreadyActivated): a
    finger that taps twice opens no incident.
    """
    how = _LettingIn(event_id, gate, reason, by, at)
    ticket = await tx.one(_Ticket, LOCK, organization_id, card_id, event_id)
    event = await events.find(tx, organization_id, event_id)
    card = await cards.find(tx, organization_id, card_id)
    is_good = event.event.status is EventStatus.PUBLISHED and card.status is CardStatus.ACTIVE
    if ticket is not None and ticket.is_unused and is_good:
        await _activate(tx, organization_id, how, card, ticket)
        return LetIn(activated=True)
    if seen_unused and ticket is not None and ticket.activated_at is not None:
        raise AlreadyActivated
    return LetIn(False, await _open(tx, organization_id, how, card, ticket))


async def _activate(tx: Tx, organization_id: UUID, how: _LettingIn, card: HeldCard, ticket: _Ticket) -> None:
    """Use the ticket, as a scan does. The scanner of that scan is the person."""
    scan_id, by, at = new_id(), how.by, how.at
    await tx.run(ACTIVATE, organization_id, ticket.id, at, scan_id, by, how.gate)
    mode = Mode.SANDBOX if twin.is_twin(organization_id) else Mode.LIVE
    person_id = strict_uuid(by.partition(" ")[2]) or id_of(bytes(16))
    await tx.run(
        RECORD, organization_id, at, scan_id, mode, person_id, how.event_id, card.number, card.id, ticket.id,
        ACTIVATED, by, how.gate,
    )  # fmt: skip
    data = {
        "ticket_id": str(ticket.id),
        "event_id": str(how.event_id),
        "card_number": card.number,
        "activated_at": rfc3339(at),
        "occurred_at": None,
        "gate": how.gate,
        "scanner_id": by,
    }
    message = Message(new_id(), MessageType.TICKET_ACTIVATED, data, ordering_key=ticket.id)
    await webhooks.emit(tx, organization_id, [message], at=at)
    await audit_log.record(
        tx, organization_id, "ticket", ticket.id, LET_IN, by=by, at=at,
        was=TicketState.ISSUED, becomes=TicketState.ACTIVATED, reason=how.reason,
    )  # fmt: skip
    if ticket.was_shown:
        await tx.run(OPEN_SECOND, at, [organization_id], [ticket.id], [None], [None])


async def _open(tx: Tx, organization_id: UUID, how: _LettingIn, card: HeldCard, ticket: _Ticket | None) -> UUID:
    """An `override`; and beside it a `duplicate`, if somebody came in with the ticket before."""
    opened: dict[str, object] = {
        "organization_id": organization_id,
        "id": new_id(),
        "event_id": how.event_id,
        "kind": IncidentKind.OVERRIDE,
        "ticket_id": None if ticket is None else ticket.id,
        "card_id": card.id,
        "card_number": card.number,
        "gate": how.gate,
        "reason": how.reason,
        "opened_by": how.by,
    }
    found = [opened]
    if ticket is not None and ticket.was_shown:
        first = (await tx.rows(FIRST, organization_id, ticket.id, opened["id"]))[0]
        found.append({**opened, "id": new_id(), "kind": IncidentKind.DUPLICATE, **dict(first)})
    await tx.run(OPEN, how.at, msgspec.json.encode(found).decode())
    if ticket is not None:
        await tx.run(ADMIT, organization_id, ticket.id, how.at)
    await audit_log.record(
        tx, organization_id, "card", card.id, LET_IN, by=how.by, at=how.at, becomes="incident opened",
        reason=how.reason,
    )  # fmt: skip
    id = opened["id"]
    assert isinstance(id, UUID)  # noqa: S101  it was made above
    return id


LOCK: Final = """
    SELECT id, activated_at, cancelled_at, admitted_at
      FROM ticket
     WHERE organization_id = $1
       AND card_id = $2
       AND event_id = $3
     ORDER BY cancelled_at DESC NULLS FIRST, id DESC
     LIMIT 1
       FOR NO KEY UPDATE
"""

ACTIVATE: Final = """
    UPDATE ticket
       SET activated_at = $3, activated_by = $4, activated_gate = $6, activated_scanner_id = $5, activation_key = NULL
     WHERE organization_id = $1
       AND id = $2
       AND activated_at IS NULL
       AND cancelled_at IS NULL
"""

# In the column of the API key stands the person who let them in.
RECORD: Final = """
    INSERT INTO scan (organization_id, at, id, mode, key_id, event_id, card_number, card_id, ticket_id, verdict,
                      scanner_id, gate)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
"""

OPEN: Final = "SELECT open_incidents($1, $2)"

OPEN_SECOND: Final = "SELECT open_second_admissions($1, $2, $3, $4, $5)"

FIRST: Final = """
    SELECT gate AS first_gate, device_id AS first_device_id, scanner_id AS first_scanner_id,
           occurred_at AS first_occurred_at, received_at AS first_received_at
      FROM first_admission($1, $2, $3)
"""

ADMIT: Final = """
    UPDATE ticket
       SET admitted_at = $3
     WHERE organization_id = $1
       AND id = $2
       AND admitted_at IS NULL
"""
