"""A mailing: the cards of one event, to be sent by mail. It is a durable job, like an import.

A worker writes its letters in batches (`runner.py`); each transaction also stores how far it has come. What becomes of
the letters is counted by their states.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

import asyncpg

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere, Refusal
from gatepass.domain import audit_log
from gatepass.domain.mail.queue import LetterState
from gatepass.domain.mailings.audience import count

# Tickets of one selection: a page of the list has fewer.
MOST_CHOSEN: Final = 1_000


class MailingState(StrEnum):
    WRITING = "writing"
    WRITTEN = "written"
    STOPPED = "stopped"


class MailingNotFound(Refusal):
    """There is no such mailing."""

    code = "mailing_not_found"


@dataclass(frozen=True, slots=True)
class Mailing:
    """`ticket_ids` is the selection; None: everybody who has no letter yet. `wanted` is what was counted first."""

    organization_id: UUID
    id: UUID
    event_id: UUID
    ticket_ids: list[UUID] | None
    state: MailingState
    reached: UUID | None
    wanted: int
    written: int
    without_address: int
    created_at: datetime
    created_by: str
    ended_at: datetime | None

    @property
    def is_under_way(self) -> bool:
        return self.ended_at is None


@dataclass(frozen=True, slots=True)
class Progress:
    """How many letters of a mailing are in which state."""

    waiting: int = 0
    sent: int = 0
    failed: int = 0
    stopped: int = 0
    doubtful: int = 0


@dataclass(frozen=True, slots=True)
class Undelivered:
    """A letter that did not arrive, and what the mail server said."""

    id: UUID
    card_id: UUID
    address: str
    state: LetterState
    answer: str | None
    ended_at: datetime


async def begin(
    tx: Tx, organization_id: UUID, mailing_id: UUID, event_id: UUID, ticket_ids: Sequence[UUID] | None, *,
    by: str, at: datetime,
) -> None:  # fmt: skip
    """Begin to send. The same id begins once, however often the form is sent."""
    if ticket_ids is not None and not 0 < len(ticket_ids) <= MOST_CHOSEN:
        raise NotAllowedFromHere(f"Choose 1 to {MOST_CHOSEN:,} tickets.")
    wanted = (await count(tx, organization_id, event_id, ticket_ids)).to_send
    chosen = None if ticket_ids is None else list(ticket_ids)
    try:
        async with tx.savepoint():
            begun = await tx.run(BEGIN, organization_id, mailing_id, event_id, chosen, wanted, at, by)
    except asyncpg.UniqueViolationError:
        raise NotAllowedFromHere("Letters of this event are being written already. Wait until they are.") from None
    if begun:
        await audit_log.record(
            tx, organization_id, "event", event_id, "cards mailed", by=by, at=at, becomes=f"{wanted} letters"
        )


async def stop(tx: Tx, organization_id: UUID, mailing_id: UUID, *, by: str, at: datetime) -> None:
    """Send nothing more. Letters that are on their way arrive."""
    event_id = await tx.value(STOP, organization_id, mailing_id, at)
    if event_id is None:
        raise NotAllowedFromHere("This mailing has ended.")
    await audit_log.record(tx, organization_id, "event", event_id, "mailing stopped", by=by, at=at)


async def find(tx: Tx, organization_id: UUID, mailing_id: UUID) -> Mailing:
    found = await tx.one(Mailing, FIND, organization_id, mailing_id)
    if found is None:
        raise MailingNotFound
    return found


async def of_event(tx: Tx, organization_id: UUID, event_id: UUID, *, limit: int) -> list[Mailing]:
    """The newest first."""
    return await tx.all(Mailing, OF_EVENT, organization_id, event_id, limit)


async def progress(tx: Tx, organization_id: UUID, mailing_id: UUID) -> Progress:
    return await tx.one(Progress, PROGRESS, organization_id, mailing_id) or Progress()


async def undelivered(tx: Tx, organization_id: UUID, mailing_id: UUID, *, limit: int) -> list[Undelivered]:
    return await tx.all(Undelivered, UNDELIVERED, organization_id, mailing_id, limit)


# Of `mailing`, in the order of the fields above.
COLUMNS: Final = """
           organization_id, id, event_id, ticket_ids, state, reached, wanted, written, without_address, created_at,
           created_by, ended_at
"""

BEGIN: Final = """
    INSERT INTO mailing (organization_id, id, event_id, ticket_ids, wanted, created_at, created_by, advanced_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $6)
    ON CONFLICT (organization_id, id) DO NOTHING
"""

STOP: Final = """
    UPDATE mailing
       SET state = 'stopped', advanced_at = $3
     WHERE organization_id = $1
       AND id = $2
       AND state <> 'stopped'
       AND ended_at IS NULL
    RETURNING event_id
"""

FIND: Final = """
    SELECT """ + COLUMNS + """
      FROM mailing
     WHERE organization_id = $1
       AND id = $2
"""  # fmt: skip

OF_EVENT: Final = """
    SELECT """ + COLUMNS + """
      FROM mailing
     WHERE organization_id = $1
       AND event_id = $2
     ORDER BY id DESC
     LIMIT $3
"""  # fmt: skip

PROGRESS: Final = """
    SELECT count(*) FILTER (WHERE state IN ('waiting', 'sending')) AS waiting,
           count(*) FILTER (WHERE state = 'sent') AS sent,
           count(*) FILTER (WHERE state IN ('refused', 'bounced', 'expired')) AS failed,
           count(*) FILTER (WHERE state = 'stopped') AS stopped,
           count(*) FILTER (WHERE doubtful > 0) AS doubtful
      FROM letter
     WHERE organization_id = $1
       AND mailing_id = $2
"""

UNDELIVERED: Final = """
    SELECT id, card_id, address, state, answer, ended_at
      FROM letter
     WHERE organization_id = $1
       AND mailing_id = $2
       AND state IN ('refused', 'bounced', 'expired')
     ORDER BY id
     LIMIT $3
"""
