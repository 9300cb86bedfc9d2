"""A request for a ticket, as the API, the studio and imports make it."""

from dataclasses import dataclass, field
from functools import cached_property
from uuid import UUID

from gatepass.base.ids import digest_of, new_id
from gatepass.domain.cards import HolderDetails, normalize_number


@dataclass(frozen=True)
class TicketRequest:
    """A ticket that somebody asks for: on a card, for a person, or on a new card that nobody holds.

    The ids are those of what is made of it; an import gives its own, so that a repeated step makes nothing twice.
    """

    event_id: UUID
    category_id: UUID
    card_id: UUID | None = None
    card_number: str | None = None
    holder: HolderDetails | None = None
    external_id: str | None = None
    ticket_id: UUID = field(default_factory=new_id)
    new_card_id: UUID = field(default_factory=new_id)

    @property
    def address(self) -> str | None:
        return self.holder.address if self.holder else None

    @cached_property
    def fingerprint(self) -> UUID:
        """A digest of what is asked for. A retry may be spelled differently, but not ask for something else."""
        holder = self.holder or HolderDetails()
        number = normalize_number(self.card_number) if self.card_number else None
        return digest_of(
            self.event_id, self.category_id, self.card_id, number, holder.name, holder.address, holder.locale
        )
