"""The letter that brings a card to its holder: the event, when and where, and the link of the card."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from gatepass.base.database import Tx
from gatepass.base.encryption import Vault
from gatepass.base.language import Language, language_of, written
from gatepass.base.settings import Settings
from gatepass.domain.cards import keep_holders, link_url, links_of
from gatepass.domain.events import Event
from gatepass.domain.mail import LetterKind, Mailer, NewLetter, Rendered, is_sendable, rendered

# A few chosen cards: somebody is at the desk and waits for them.
FEW = 10


@dataclass(frozen=True, slots=True)
class Recipient:
    """The holder of a ticket, who may have no address, or no data at all."""

    ticket_id: UUID
    card_id: UUID
    number: str
    name: str | None
    email: str | None
    locale: str | None
    has_letter: bool

    @property
    def address(self) -> str | None:
        """The address, if a letter can be sent to it."""
        return self.email if is_sendable(self.email) else None

    @property
    def language(self) -> Language:
        return language_of(self.locale)


class CardLetters:
    """Writes and shows letters with cards. Made once from the settings."""

    def __init__(self, mailer: Mailer, vault: Vault, cell: str, public_url: str) -> None:
        self.mailer = mailer
        self._vault = vault
        self._cell = cell
        self._public_url = public_url

    @classmethod
    def of(cls, settings: Settings) -> "CardLetters":
        return cls(Mailer.of(settings), settings.vault(), settings.cell, settings.public_url)

    async def write(
        self, tx: Tx, organization_id: UUID, mailing_id: UUID | None, event: Event, organizer: str,
        recipients: Sequence[Recipient], *, few: bool, at: datetime,
    ) -> int:  # fmt: skip
        """Write to these people, all of whom have an address; how many letters. Who was just erased gets none."""
        kept = await keep_holders(tx, organization_id, [one.card_id for one in recipients])
        links = await self.links(tx, organization_id, kept, at=at)
        letters = [
            NewLetter(
                one.email or "",
                values(event, organizer, one, links[one.card_id]),
                one.language,
                card_id=one.card_id,
                event_id=event.id,
                mailing_id=mailing_id,
            )
            for one in recipients
            if one.card_id in links
        ]
        written = await self.mailer.write_all(
            tx, LetterKind.CARD, letters, organization_id=organization_id, at=at, urgent=few
        )
        return len(written)

    async def links(
        self, tx: Tx, organization_id: UUID, card_ids: Collection[UUID], *, at: datetime
    ) -> dict[UUID, str]:
        """The link of each card; a revoked one has none."""
        tokens = await links_of(tx, organization_id, card_ids, self._vault, self._cell, at=at)
        return {card_id: link_url(self._public_url, token) for card_id, token in tokens.items()}

    def shown(self, event: Event, organizer: str, recipient: Recipient, language: Language) -> Rendered:
        """The letter as this person gets it, or would in another language. Its link leads nowhere."""
        reader = replace(recipient, locale=language.value)
        return rendered(LetterKind.CARD, language, values(event, organizer, reader, link_url(self._public_url, "…")))


def values(event: Event, organizer: str, recipient: Recipient, link: str) -> dict[str, str]:
    return {
        "event": event.title,
        "organizer": organizer,
        "name": recipient.name or recipient.email or "",
        "when": written(event.starts_at, "EEEE d MMMM y, HH:mm", ZoneInfo(event.time_zone), recipient.language),
        "where": ", ".join(part for part in (event.venue, event.city) if part),
        "number": recipient.number,
        "link": link,
    }
