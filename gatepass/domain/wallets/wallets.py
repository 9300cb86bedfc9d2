"""The wallets that this installation offers, and a pass for each: made of a link, or fetched again by a phone."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.encryption import Vault
from gatepass.base.language import Language
from gatepass.base.settings import Settings
from gatepass.domain import cards, twin
from gatepass.domain.cards.links import secret_hash
from gatepass.domain.wallets import subject
from gatepass.domain.wallets.apple_certificate import AppleCertificate
from gatepass.domain.wallets.apple_pass import Identity, apple_pass
from gatepass.domain.wallets.google_pass import GoogleIssuer, save_link
from gatepass.domain.wallets.identity import serial_of, service_url, token_of
from gatepass.domain.wallets.registrations import Opened
from gatepass.domain.wallets.subject import Subject


@dataclass(frozen=True, slots=True)
class Offered:
    """What a card's page offers."""

    apple: bool = False
    google: bool = False


@dataclass(frozen=True, slots=True)
class Wallets:
    """Made once from the settings. Without certificates and keys nothing is offered."""

    apple: AppleCertificate | None
    google: GoogleIssuer | None
    public_url: str
    cell: str

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(AppleCertificate.of(settings), GoogleIssuer.of(settings), settings.public_url, settings.cell)

    def offered(self, organization_id: UUID, *, has_coming_event: bool, at: datetime) -> Offered:
        """A sandbox card has no pass: it would lie in a wallet as if it were real. Nor has a card without an event."""
        if twin.is_twin(organization_id) or not has_coming_event:
            return Offered()
        return Offered(
            apple=self.apple is not None and self.apple.is_valid(at),
            google=self.google is not None,
        )

    async def apple_pass(
        self, tx: Tx, organization_id: UUID, card_id: UUID, link: str, vault: Vault, *, at: datetime
    ) -> bytes | None:
        """The `.pkpass` of the card with this link; None if it is not offered."""
        identity = Identity(serial_of(link, self.cell), token_of(link), service_url(self.public_url, self.cell))
        found = await subject.read(tx, organization_id, card_id, secret_hash(link), at=at)
        if self.apple is None or found is None or not found.is_live or not found.coming:
            return None
        if not self.offered(organization_id, has_coming_event=True, at=at).apple:
            return None
        return apple_pass(found, identity, await _code(tx, organization_id, found, vault, at), self.apple, at=at)

    async def fetched_pass(
        self, tx: Tx, opened: Opened, serial: str, token: str, vault: Vault, *, at: datetime
    ) -> bytes | None:
        """The pass as it is now, for a phone that has it. One whose link has ended is voided."""
        identity = Identity(serial, token, service_url(self.public_url, serial[0]))
        found = await subject.read(tx, opened.organization_id, opened.card_id, opened.link_hash, at=at)
        if self.apple is None or found is None:
            return None
        code = await _code(tx, opened.organization_id, found, vault, at)
        return apple_pass(found, identity, code, self.apple, at=at)

    async def google_link(
        self, tx: Tx, organization_id: UUID, card_id: UUID, link: str, vault: Vault, language: Language, *, at: datetime
    ) -> str | None:
        """Where a phone saves the ticket for the next event; None if that is not offered."""
        found = await subject.read(tx, organization_id, card_id, secret_hash(link), at=at)
        if self.google is None or found is None or not found.is_live or not found.coming:
            return None
        if not self.offered(organization_id, has_coming_event=True, at=at).google:
            return None
        code = await _code(tx, organization_id, found, vault, at)
        serial = serial_of(link, self.cell)
        return save_link(
            found, self.google, serial, code, language=language, public_url=self.public_url, at=at
        )  # fmt: skip


async def _code(tx: Tx, organization_id: UUID, found: Subject, vault: Vault, at: datetime) -> str | None:
    if not found.shows_code():
        return None
    sign = await cards.existing_signer(tx, organization_id, vault)
    return sign(found.number, found.code_ends_at(at)) if sign is not None else None
