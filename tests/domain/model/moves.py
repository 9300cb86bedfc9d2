"""The machine with all that moves a ticket from one card to another: transfer, replacement, merging."""

from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from gatepass.base.database import Tx
from gatepass.domain import tickets
from gatepass.domain.cards import Card
from tests.domain.model.machine import BY, TicketMachine
from tests.domain.model.strategies import CARDS


class MovingMachine(TicketMachine):
    @precondition(lambda self: self.model.tickets)
    @rule(ticket=st.integers(0, 20), card=st.sampled_from(CARDS))
    def transfer_ticket(self, ticket: int, card: int) -> None:
        ticket_id, card_id, at = self.side.ticket(ticket), self.side.card(card).id, self._tick()
        refused = self.world.refused(lambda tx: tickets.transfer(tx, self.id, ticket_id, card_id=card_id, by=BY, at=at))
        assert refused is self.model.transfer(ticket_id, card_id)

    @rule(card=st.sampled_from(CARDS))
    def replace_card(self, card: int) -> None:
        """The new card takes the place of the old one, so that scans go on meeting it."""
        place, at, made = card % len(self.side.cards), self._tick(), list[Card]()
        old = self.side.cards[place]

        async def replace(tx: Tx) -> None:
            made.append(await tickets.replace(tx, self.id, old.id, by=BY, at=at, reason="so"))

        refused = self.world.refused(replace)
        assert refused is self.model.replace(old.id, made[0].id if made else None)
        for new in made:
            self.model.numbers[new.number] = new.id
            self.side.cards[place] = new
            self.side.cards.append(old)

    @rule(duplicate=st.sampled_from(CARDS), kept=st.sampled_from(CARDS))
    def merge_cards(self, duplicate: int, kept: int) -> None:
        ids: list[UUID] = [self.side.card(place).id for place in (duplicate, kept)]
        at = self._tick()
        refused = self.world.refused(lambda tx: tickets.merge(tx, self.id, *ids, by=BY, at=at, reason="so"))
        assert refused is self.model.merge(*ids)
