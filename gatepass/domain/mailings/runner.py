"""Running mailings: one short transaction at a time, for the one that has waited longest, of any organization."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import events, organizations
from gatepass.domain.events import Event, EventStatus
from gatepass.domain.mailings.audience import next_recipients
from gatepass.domain.mailings.card_letters import FEW, CardLetters, Recipient
from gatepass.domain.mailings.mailing import COLUMNS, Mailing, MailingState

BATCH: Final = 500
# Letters of one mailing that may be due. More are written when some have been sent: so mailings of several
# organizations share the connections, and one that is stopped ends at once.
MOST_DUE: Final = 2_000
# Before looking again at a mailing that has enough letters, and at one that is written.
SOON: Final = timedelta(seconds=0.3)
LATER: Final = timedelta(seconds=1)


async def next_under_way(tx: Tx, *, at: datetime) -> Mailing | None:
    """The mailing that has waited longest, locked until this transaction ends; None if there is none."""
    return await tx.one(Mailing, NEXT, at)


async def advance(tx: Tx, mailing: Mailing, letters: CardLetters, *, at: datetime) -> None:
    """Write one batch of letters, or see whether all have ended."""
    match mailing.state:
        case MailingState.WRITING:
            await _write_some(tx, mailing, letters, at=at)
        case MailingState.WRITTEN:
            await _end_if_sent(tx, mailing, at=at)
        case MailingState.STOPPED:
            await tx.run(STOP_SOME, mailing.organization_id, mailing.id, MOST_DUE, at)
            await _end_if_sent(tx, mailing, at=at)


async def put_off(tx: Tx, mailing: Mailing, *, at: datetime) -> None:
    """Look at the others first, and at this one again later."""
    await tx.run(PUT_OFF, mailing.organization_id, mailing.id, at)


async def _write_some(tx: Tx, mailing: Mailing, letters: CardLetters, *, at: datetime) -> None:
    place = mailing.organization_id, mailing.id
    if await tx.value(DUE, *place, MOST_DUE) >= MOST_DUE:
        await put_off(tx, mailing, at=at + SOON)
        return
    event = (await events.find(tx, mailing.organization_id, mailing.event_id)).event
    organization = await organizations.find(tx, mailing.organization_id)
    if event.status is not EventStatus.PUBLISHED or organization is None:
        await tx.run(BREAK_OFF, *place, at)
        return
    found = await next_recipients(
        tx, mailing.organization_id, mailing.event_id, mailing.ticket_ids, mailing.reached or UUID(int=0), BATCH
    )
    if not found:
        await tx.run(WRITTEN, *place, at)
        return
    await _write(tx, mailing, letters, event, organization.name, found, at=at)


async def _write(
    tx: Tx, mailing: Mailing, letters: CardLetters, event: Event, organizer: str, found: list[Recipient], *,
    at: datetime,
) -> None:  # fmt: skip
    wanted = [one for one in found if mailing.ticket_ids is not None or not one.has_letter]
    recipients = [one for one in wanted if one.address is not None]
    few = mailing.ticket_ids is not None and len(mailing.ticket_ids) <= FEW
    written = await letters.write(tx, mailing.organization_id, mailing.id, event, organizer, recipients, few=few, at=at)
    await tx.run(
        ADVANCE, mailing.organization_id, mailing.id, found[-1].ticket_id, written, len(wanted) - len(recipients), at
    )


async def _end_if_sent(tx: Tx, mailing: Mailing, *, at: datetime) -> None:
    place = mailing.organization_id, mailing.id
    if await tx.value(OPEN, *place):
        await put_off(tx, mailing, at=at + LATER)
    else:
        await tx.run(END, *place, at)


NEXT: Final = """
    -- every organization: a worker serves all of them
    SELECT """ + COLUMNS + """
      FROM mailing
     WHERE ended_at IS NULL
       AND advanced_at <= $1
     ORDER BY advanced_at
     LIMIT 1
       FOR NO KEY UPDATE SKIP LOCKED
"""  # fmt: skip

DUE: Final = """
    SELECT count(*)
      FROM (SELECT FROM letter
             WHERE organization_id = $1
               AND mailing_id = $2
               AND state = 'waiting'
               AND next_at <= now()
             LIMIT $3) first
"""

ADVANCE: Final = """
    UPDATE mailing
       SET reached = $3, written = written + $4, without_address = without_address + $5, advanced_at = $6
     WHERE organization_id = $1
       AND id = $2
"""

WRITTEN: Final = """
    UPDATE mailing
       SET state = 'written', advanced_at = $3
     WHERE organization_id = $1
       AND id = $2
"""

# The event was cancelled or has ended meanwhile.
BREAK_OFF: Final = """
    UPDATE mailing
       SET state = 'stopped', advanced_at = $3
     WHERE organization_id = $1
       AND id = $2
"""

STOP_SOME: Final = """
    UPDATE letter l
       SET state = 'stopped', ended_at = $4, sealed_values = ''
      FROM (SELECT organization_id, id
              FROM letter
             WHERE organization_id = $1
               AND mailing_id = $2
               AND state = 'waiting'
             LIMIT $3
               FOR UPDATE SKIP LOCKED) first
     WHERE l.organization_id = $1
       AND l.id = first.id
"""

OPEN: Final = """
    SELECT EXISTS (SELECT FROM letter
                    WHERE organization_id = $1
                      AND mailing_id = $2
                      AND state IN ('waiting', 'sending'))
"""

END: Final = """
    UPDATE mailing
       SET ended_at = $3
     WHERE organization_id = $1
       AND id = $2
"""

PUT_OFF: Final = """
    UPDATE mailing
       SET advanced_at = $3
     WHERE organization_id = $1
       AND id = $2
"""
