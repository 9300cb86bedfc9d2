"""What decides whether tickets can be issued: events, people, cards, tickets and places, read in a few statements.

`judge` is pure. It goes through the requests of a batch one after the other, as if each were alone, and keeps in mind
what those before it have taken.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import NotAllowedFromHere, Refusal
from gatepass.domain import cards
from gatepass.domain.cards import (
    CardNotFound,
    CardRevoked,
    CardStatus,
    CardSuspended,
    ExternalIdTaken,
    PersonCard,
    normalize_number,
)
from gatepass.domain.events import CategoryNotFound, EventNotFound, EventStatus
from gatepass.domain.tickets.request import TicketRequest
from gatepass.domain.tickets.ticket import CardHasTicket, GuestHasTicket, SoldOut

OPEN_FOR_SALE: Final = frozenset({EventStatus.DRAFT, EventStatus.PUBLISHED})


@dataclass(frozen=True, slots=True)
class FoundCard:
    id: UUID
    number: str
    status: CardStatus


@dataclass(frozen=True, slots=True)
class KnownTicket:
    """A ticket that has the external id of a request."""

    ticket_id: UUID
    card_id: UUID
    card_number: str | None
    fingerprint: UUID | None


@dataclass(frozen=True, slots=True)
class ChosenCard:
    """The card for a ticket. A new card has no number yet."""

    id: UUID
    number: str | None = None
    companion: bool = False

    @property
    def is_new(self) -> bool:
        return self.number is None


@dataclass
class Situation:
    companions: bool
    events: dict[UUID, EventStatus]
    category_events: dict[UUID, UUID]
    places: dict[UUID, int]
    by_id: dict[UUID, FoundCard]
    by_number: dict[str, FoundCard]
    people: dict[str, PersonCard]
    holding: set[tuple[UUID, UUID]]
    known: dict[tuple[UUID, str], KnownTicket]
    new_people: dict[str, UUID] = field(default_factory=dict[str, UUID])

    def judge(self, request: TicketRequest) -> ChosenCard | KnownTicket | Refusal:
        """The card for the ticket, the ticket that was made of this request before, or the first refusal."""
        known = self.known.get((request.event_id, request.external_id)) if request.external_id else None
        if known is not None:
            same = known.fingerprint == request.fingerprint
            return known if same else ExternalIdTaken(param="external_id")
        refusal = self._refused_by_event(request)
        if refusal is not None:
            return refusal
        chosen = self.choose_card(request)
        if isinstance(chosen, Refusal):
            return chosen
        if self.places[request.category_id] <= 0:
            return SoldOut(param="category_id")
        self._take(request, chosen)
        return chosen

    def _refused_by_event(self, request: TicketRequest) -> Refusal | None:
        status = self.events.get(request.event_id)
        if status is None:
            return EventNotFound(param="event_id")
        if status not in OPEN_FOR_SALE:
            return NotAllowedFromHere(f"An event that is {status} takes no more tickets.", param="event_id")
        if self.category_events.get(request.category_id) != request.event_id:
            return CategoryNotFound(param="category_id")
        return None

    def choose_card(self, request: TicketRequest) -> ChosenCard | Refusal:
        if request.card_id is not None:
            return self._named_card(request, self.by_id.get(request.card_id), "card_id")
        if request.card_number is not None:
            card = self.by_number.get(normalize_number(request.card_number))
            return self._named_card(request, card, "card_number")
        if request.address is not None:
            return self._card_of_person(request, request.address)
        return ChosenCard(request.new_card_id)

    def _named_card(self, request: TicketRequest, card: FoundCard | None, param: str) -> ChosenCard | Refusal:
        if card is None:
            return CardNotFound(param=param)
        if card.status is CardStatus.SUSPENDED:
            return CardSuspended(param=param)
        if card.status is CardStatus.REVOKED:
            return CardRevoked(param=param)
        if (request.event_id, card.id) in self.holding:
            return CardHasTicket(param=param)
        return ChosenCard(card.id, card.number)

    def _card_of_person(self, request: TicketRequest, address: str) -> ChosenCard | Refusal:
        new = self.new_people.get(address)
        person = self.people.get(address)
        if new is None and (person is None or person.status is CardStatus.REVOKED):
            return ChosenCard(request.new_card_id)
        if new is None and person is not None and person.status is CardStatus.SUSPENDED:
            return CardSuspended(param="holder")
        card_id = new or (person.card_id if person else request.new_card_id)
        if (request.event_id, card_id) not in self.holding:
            return ChosenCard(card_id, None if new or person is None else person.number)
        return ChosenCard(request.new_card_id, companion=True) if self.companions else GuestHasTicket(param="holder")

    def _take(self, request: TicketRequest, chosen: ChosenCard) -> None:
        self.places[request.category_id] -= 1
        self.holding.add((request.event_id, chosen.id))
        if request.external_id:
            known = KnownTicket(request.ticket_id, chosen.id, chosen.number, request.fingerprint)
            self.known[request.event_id, request.external_id] = known
        if request.address and chosen.is_new and not chosen.companion:
            self.new_people.setdefault(request.address, chosen.id)


async def read_situation(
    tx: Tx, organization_id: UUID, requests: Sequence[TicketRequest], *, companions: bool, locked: bool
) -> Situation:
    """All that decides about these requests. `locked`: nothing of it changes before the transaction ends.

    A batch locks the rows of its events, so that no other transaction takes a place or an external id of these events
    in between. Gates read those rows and never wait for them.
    """
    event_ids = sorted({request.event_id for request in requests})
    rows = await tx.rows(LOCK_EVENTS if locked else EVENTS, organization_id, event_ids)
    events = {row["id"]: EventStatus(row["status"]) for row in rows}
    known = await _known(tx, organization_id, requests)
    addresses = sorted({request.address for request in requests if request.address})
    if locked:
        await cards.take_turns(tx, organization_id, addresses)
    people = await cards.cards_of_people(tx, organization_id, addresses)
    by_id, by_number = await _cards(tx, organization_id, requests, people, locked=locked)
    people = {email: _as_locked(person, by_id) for email, person in people.items() if person.card_id in by_id}
    holding = await _holding(tx, organization_id, event_ids, by_id)
    categories = sorted({request.category_id for request in requests})
    rows = await tx.rows(LOCK_CATEGORIES if locked else CATEGORIES, organization_id, categories)
    return Situation(
        companions=companions,
        events=events,
        category_events={row["id"]: row["event_id"] for row in rows},
        places={row["id"]: row["places"] for row in rows},
        by_id=by_id,
        by_number=by_number,
        people=people,
        holding=holding,
        known=known,
    )


async def _known(
    tx: Tx, organization_id: UUID, requests: Sequence[TicketRequest]
) -> dict[tuple[UUID, str], KnownTicket]:
    named = [(request.event_id, request.external_id) for request in requests if request.external_id]
    if not named:
        return {}
    rows = await tx.rows(KNOWN, organization_id, [event for event, _ in named], [text for _, text in named])
    return {
        (row["event_id"], row["reference"]): KnownTicket(row["id"], row["card_id"], row["number"], row["fingerprint"])
        for row in rows
    }


async def _cards(
    tx: Tx,
    organization_id: UUID,
    requests: Sequence[TicketRequest],
    people: dict[str, PersonCard],
    *,
    locked: bool,
) -> tuple[dict[UUID, FoundCard], dict[str, FoundCard]]:
    ids = {request.card_id for request in requests if request.card_id}
    ids |= {person.card_id for person in people.values()}
    numbers = {normalize_number(request.card_number) for request in requests if request.card_number}
    if numbers:
        ids |= {row["id"] for row in await tx.rows(CARDS_BY_NUMBER, organization_id, list(numbers))}
    found = await tx.all(FoundCard, LOCK_CARDS if locked else CARDS, organization_id, sorted(ids)) if ids else []
    return {card.id: card for card in found}, {card.number: card for card in found}


def _as_locked(person: PersonCard, by_id: dict[UUID, FoundCard]) -> PersonCard:
    """The person's card with the status that it had when its row was locked."""
    return PersonCard(person.email, person.card_id, person.number, by_id[person.card_id].status, person.listed)


async def _holding(
    tx: Tx, organization_id: UUID, event_ids: Sequence[UUID], card_ids: Collection[UUID]
) -> set[tuple[UUID, UUID]]:
    """Which of these cards hold a ticket for which of these events."""
    if not card_ids:
        return set()
    rows = await tx.rows(HOLDING, organization_id, list(card_ids), list(event_ids))
    return {(row["event_id"], row["card_id"]) for row in rows}


EVENTS: Final = """
    SELECT id, status
      FROM event
     WHERE organization_id = $1
       AND id = ANY ($2)
     ORDER BY id
"""
LOCK_EVENTS: Final = EVENTS + " FOR NO KEY UPDATE"

# Here and below, a look-up in an index for each value: for a thousand values at once PostgreSQL would rather read a
# table whole, which grows with every batch. OFFSET 0 keeps the look-ups apart. The organization in a SELECT of its own:
# see BY_IDS in `listing.py`.
KNOWN: Final = """
    SELECT u.event_id, u.reference, r.fingerprint, t.id, t.card_id, c.number
      FROM unnest($2::uuid[], $3::text[]) u (event_id, reference)
     CROSS JOIN LATERAL (SELECT x.ticket_id, x.fingerprint
                           FROM ticket_reference x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.reference = u.reference
                            AND x.event_id = u.event_id
                         OFFSET 0) r
     CROSS JOIN LATERAL (SELECT x.id, x.card_id
                           FROM ticket x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.id = r.ticket_id
                         OFFSET 0) t
     CROSS JOIN LATERAL (SELECT x.number
                           FROM card x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.id = t.card_id
                         OFFSET 0) c
"""

CARDS_BY_NUMBER: Final = """
    SELECT c.id
      FROM unnest($2::text[]) u (number)
     CROSS JOIN LATERAL (SELECT x.id
                           FROM card x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.number = u.number
                         OFFSET 0) c
"""

CARDS: Final = """
    SELECT c.id, c.number, c.status
      FROM unnest($2::uuid[]) u (id)
     CROSS JOIN LATERAL (SELECT x.id, x.number, x.status
                           FROM card x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.id = u.id
                         OFFSET 0) c
"""
# Nobody suspends or revokes them until this transaction ends. They are locked in the order in which they are given.
LOCK_CARDS: Final = CARDS.replace("OFFSET 0", "FOR SHARE")

HOLDING: Final = """
    SELECT t.event_id, t.card_id
      FROM unnest($2::uuid[]) u (card_id)
     CROSS JOIN LATERAL (SELECT x.event_id, x.card_id
                           FROM ticket x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.card_id = u.card_id
                            AND x.cancelled_at IS NULL
                         OFFSET 0) t
     WHERE t.event_id = ANY ($3)
"""

CATEGORIES: Final = """
    SELECT id, event_id, quantity_total - quantity_sold AS places
      FROM ticket_category
     WHERE organization_id = $1
       AND id = ANY ($2)
       AND removed_at IS NULL
     ORDER BY id
"""
LOCK_CATEGORIES: Final = CATEGORIES + " FOR NO KEY UPDATE"
