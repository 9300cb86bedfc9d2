"""The next cards of an export, with their tokens: what one step makes into a part of the file."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.encryption import Vault
from gatepass.domain import cards, events, twin
from gatepass.domain.card_exports.job import MOST_CARDS, CardExport, ExportKind
from gatepass.domain.card_exports.selection import SelectedCard, usable_after
from gatepass.domain.card_sheets import PrintedCard, PrintedEvent
from gatepass.domain.card_sheets.cards import venue_time
from gatepass.domain.cards.links import link_url, links_of
from gatepass.domain.events import Event

SANDBOX: Final = "Sandbox"


@dataclass(frozen=True, slots=True)
class Batch:
    """`reached` is the ticket after which the next batch begins. The last batch is shorter than the others.

    `links` are those of the cards, in their order, for CSV.
    """

    event: PrintedEvent
    cards: list[PrintedCard] = field(repr=False)
    links: list[str] = field(repr=False)
    reached: UUID
    is_last: bool


async def next_batch(tx: Tx, job: CardExport, vault: Vault, *, public_url: str, cell: str, at: datetime) -> Batch:
    """The next cards. A card that has no link yet gets one, if the file has links."""
    limit = min(job.cards_a_part, MOST_CARDS - job.done)
    selected = await usable_after(tx, job.organization_id, job.event_id, job.selection, after=job.reached, limit=limit)
    event = (await events.find(tx, job.organization_id, job.event_id)).event
    sign = await cards.signer(tx, job.organization_id, vault, at=at)
    if await takes_phones_only(tx, job.organization_id, job.event_id):
        sign = None
    links: dict[UUID, str] = {}
    if job.kind is ExportKind.CSV:
        ids = [one.card_id for one in selected]
        links = await links_of(tx, job.organization_id, ids, vault, cell, at=at)
    return Batch(
        printed_event(event, is_sandbox=twin.is_twin(job.organization_id)),
        [_printed(one, job, sign) for one in selected],
        [link_url(public_url, links[one.card_id]) if one.card_id in links else "" for one in selected],
        selected[-1].ticket_id if selected else job.reached,
        is_last=len(selected) < job.cards_a_part,
    )


def _printed(one: SelectedCard, job: CardExport, sign: cards.Signer | None) -> PrintedCard:
    name = (one.name or "") if job.with_names else ""
    return PrintedCard(one.number, one.category, name, sign(one.number, job.token_until) if sign else None)


async def takes_phones_only(tx: Tx, organization_id: UUID, event_id: UUID) -> bool:
    """Whether the event refuses every code but those that phones make: then paper has none."""
    return bool(await tx.value(PHONES_ONLY, organization_id, event_id))


def printed_event(event: Event, *, is_sandbox: bool) -> PrintedEvent:
    when = venue_time(event.starts_at, event.time_zone)
    venue = ", ".join(part for part in (event.venue, event.city) if part)
    return PrintedEvent(event.title, f"{SANDBOX} · {when}" if is_sandbox else when, venue)


PHONES_ONLY: Final = """
    SELECT e.codes = 'phone'
      FROM event e
     WHERE e.organization_id = $1
       AND e.id = $2
"""
