"""Issuing tickets: the API, the studio and imports do it by this one verb, for one ticket or for a thousand.

The transaction that makes a ticket also takes its place in the category, never one too many, and finds or makes the
card of its person. A request that is refused harms no other.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.batcher import map_in_pieces
from gatepass.base.database import Tx
from gatepass.base.errors import Refusal
from gatepass.domain import audit_log, cards, twin, webhooks
from gatepass.domain.cards import CardStatus, NewCard
from gatepass.domain.tickets import messages
from gatepass.domain.tickets.request import TicketRequest
from gatepass.domain.tickets.situation import ChosenCard, KnownTicket, Situation, read_situation
from gatepass.domain.tickets.ticket import TicketState
from gatepass.domain.webhooks import MessageType


@dataclass(frozen=True, slots=True)
class IssuedTicket:
    """`is_new`: it was made now, and not by the same request before."""

    ticket_id: UUID
    card_id: UUID
    card_number: str
    is_new: bool = True
    made_card: bool = False
    companion: bool = False


@dataclass(frozen=True, slots=True)
class _Accepted:
    request: TicketRequest
    card: ChosenCard


async def issue(
    tx: Tx, organization_id: UUID, request: TicketRequest, *, by: str, at: datetime, companions: bool = True
) -> IssuedTicket:
    """Issue one ticket, or raise why not."""
    (outcome,) = await issue_all(tx, organization_id, [request], by=by, at=at, companions=companions)
    if isinstance(outcome, Refusal):
        raise outcome
    return outcome


async def issue_all(
    tx: Tx,
    organization_id: UUID,
    requests: Sequence[TicketRequest],
    *,
    by: str | None,
    at: datetime,
    companions: bool = True,
) -> list[IssuedTicket | Refusal]:
    """Issue these tickets; an outcome for each, in their order. Without `by` the audit log says nothing of each.

    Without `companions` a person who has a ticket for the event is refused another one.
    """
    situation = await read_situation(tx, organization_id, requests, companions=companions, locked=True)
    judged = list(zip(requests, await map_in_pieces(situation.judge, requests), strict=True))
    accepted = [_Accepted(request, card) for request, card in judged if isinstance(card, ChosenCard)]
    numbers = await _cards(tx, organization_id, situation, accepted, by=by, at=at)
    if accepted:
        await _tickets(tx, organization_id, accepted, by=by, at=at)
        await _tell(tx, organization_id, accepted, numbers, at=at)
    return [_outcome(request, found, numbers) for request, found in judged]


async def check_all(
    tx: Tx, organization_id: UUID, requests: Sequence[TicketRequest], *, taken: Counter[UUID], companions: bool = True
) -> list[Refusal | KnownTicket | None]:
    """Judge these requests as `issue_all` would, and make nothing. `taken` has places that others need."""
    situation = await read_situation(tx, organization_id, requests, companions=companions, locked=False)
    for category_id in situation.places:
        situation.places[category_id] -= taken[category_id]
    judged = await map_in_pieces(situation.judge, requests)
    return [None if isinstance(found, ChosenCard) else found for found in judged]


async def _cards(
    tx: Tx, organization_id: UUID, situation: Situation, accepted: Sequence[_Accepted], *, by: str | None, at: datetime
) -> dict[UUID, str]:
    """Make the cards that are missing; the numbers of new cards by id."""
    new = [
        NewCard(one.request.new_card_id, one.request.holder, one.card.companion)
        for one in accepted
        if one.card.id == one.request.new_card_id
    ]
    used = {one.request.address: one.card.id for one in accepted if one.request.address and not one.card.is_new}
    people = situation.people.values()
    unlisted = {person.email: person.card_id for person in people if not person.listed}
    unlisted = {email: card_id for email, card_id in unlisted.items() if used.get(email) == card_id}
    if unlisted:
        await cards.list_current(tx, organization_id, unlisted)
    revoked = {person.email for person in people if person.status is CardStatus.REVOKED}
    superseded = [one.holder.address for one in new if one.holder and not one.companion]
    superseded = [address for address in superseded if address in revoked]
    return dict(await cards.issue_all(tx, organization_id, new, by=by, at=at, superseded=superseded))


async def _tickets(
    tx: Tx, organization_id: UUID, accepted: Sequence[_Accepted], *, by: str | None, at: datetime
) -> None:
    requests = [one.request for one in accepted]
    ids = [request.ticket_id for request in requests]
    await tx.run(
        ISSUE, organization_id, ids, [request.event_id for request in requests],
        [request.category_id for request in requests], [one.card.id for one in accepted], at,
    )  # fmt: skip
    await twin.require_room(tx, organization_id)
    named = [request for request in requests if request.external_id]
    if named:
        await tx.run(
            NAME, organization_id, [request.event_id for request in named], [request.external_id for request in named],
            [request.ticket_id for request in named], [request.fingerprint for request in named],
        )  # fmt: skip
    taken = Counter(request.category_id for request in requests)
    await tx.run(TAKE_PLACES, organization_id, list(taken), list(taken.values()))
    if by is not None:
        await audit_log.record_all(
            tx, organization_id, "ticket", ids, "issued", by=by, at=at, becomes=TicketState.ISSUED
        )


async def _tell(
    tx: Tx, organization_id: UUID, accepted: Sequence[_Accepted], numbers: dict[UUID, str], *, at: datetime
) -> None:
    wanted = await webhooks.subscribed_types(tx, organization_id, at=at)
    if MessageType.TICKET_ISSUED in wanted:
        told = [
            messages.issued(one.request, one.card.id, one.card.number or numbers[one.card.id], at=at)
            for one in accepted
        ]
        await webhooks.emit(tx, organization_id, told, at=at, wanted=wanted)


def _outcome(
    request: TicketRequest, found: ChosenCard | KnownTicket | Refusal, numbers: dict[UUID, str]
) -> IssuedTicket | Refusal:
    if isinstance(found, Refusal):
        return found
    if isinstance(found, KnownTicket):
        number = found.card_number or numbers[found.card_id]
        return IssuedTicket(found.ticket_id, found.card_id, number, is_new=False)
    return IssuedTicket(
        request.ticket_id,
        found.id,
        found.number or numbers[found.id],
        made_card=found.id == request.new_card_id,
        companion=found.companion,
    )


ISSUE: Final = """
    INSERT INTO ticket (organization_id, id, event_id, category_id, card_id, issued_at)
    SELECT $1, u.id, u.event_id, u.category_id, u.card_id, $6
      FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[]) u (id, event_id, category_id, card_id)
"""

NAME: Final = """
    INSERT INTO ticket_reference (organization_id, event_id, reference, ticket_id, fingerprint)
    SELECT $1, u.event_id, u.reference, u.ticket_id, u.fingerprint
      FROM unnest($2::uuid[], $3::text[], $4::uuid[], $5::uuid[]) u (event_id, reference, ticket_id, fingerprint)
"""

TAKE_PLACES: Final = """
    UPDATE ticket_category c
       SET quantity_sold = c.quantity_sold + u.places
      FROM unnest($2::uuid[], $3::integer[]) u (id, places)
     WHERE c.organization_id = $1
       AND c.id = u.id
"""
