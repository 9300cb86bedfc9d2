"""Writing letters: in the transaction of what they tell of, so that neither is there without the other.

Their values, such as links and codes, are sealed until the letter is sent. A worker sends it (`queue.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Self
from uuid import UUID

import msgspec

from gatepass.base.database import Tx
from gatepass.base.encryption import Vault
from gatepass.base.ids import new_id
from gatepass.base.language import Language
from gatepass.base.settings import Settings
from gatepass.domain.mail.address import sendable
from gatepass.domain.mail.kinds import LetterKind
from gatepass.domain.mail.rendering import one_line
from gatepass.domain.mail.text import letter_text
from gatepass.domain.twin import is_twin

# The organization of letters that belong to none, such as the proof of a person's address.
NO_ORGANIZATION: Final = UUID(int=0)
# The longest value is a link. Names and titles have 200 characters at most.
LONGEST_VALUE: Final = 2_000


@dataclass(frozen=True, slots=True)
class NewLetter:
    to: str
    values: Mapping[str, str] = field(repr=False)
    language: Language = Language.ENGLISH
    card_id: UUID | None = None
    event_id: UUID | None = None
    person_id: UUID | None = None
    mailing_id: UUID | None = None


class Mailer:
    """Made once from the settings. Without a mail server it writes nothing."""

    def __init__(self, vault: Vault, *, enabled: bool) -> None:
        self.enabled = enabled
        self._vault = vault

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(settings.vault(), enabled=settings.smtp_url is not None)

    def sends_for(self, organization_id: UUID | None) -> bool:
        """Whether letters of this organization are sent. Those of a sandbox never are: its people are made up."""
        return self.enabled and not (organization_id is not None and is_twin(organization_id))

    async def write(
        self, tx: Tx, kind: LetterKind, *, to: str, organization_id: UUID | None, values: Mapping[str, str],
        at: datetime, language: Language = Language.ENGLISH, card_id: UUID | None = None, event_id: UUID | None = None,
        person_id: UUID | None = None,
    ) -> UUID | None:  # fmt: skip
        """Write a letter; its id, or None if none is sent from here.

        Refused (AddressNotSendable) if the address cannot be one. Control characters in values become blanks.
        """
        letter = NewLetter(to, values, language, card_id, event_id, person_id)
        ids = await self.write_all(tx, kind, [letter], organization_id=organization_id, at=at)
        return ids[0] if ids else None

    async def write_all(
        self, tx: Tx, kind: LetterKind, letters: Sequence[NewLetter], *, organization_id: UUID | None, at: datetime,
        urgent: bool | None = None,
    ) -> list[UUID]:  # fmt: skip
        """Write many letters by one statement; their ids."""
        if not letters or not self.sends_for(organization_id):
            return []
        owner = organization_id or NO_ORGANIZATION
        ids = [new_id() for _ in letters]
        await tx.run(
            WRITE,
            owner,
            ids,
            kind.value,
            [one.language.value for one in letters],
            [sendable(one.to) for one in letters],
            [self._sealed(kind, owner, id, one.values) for id, one in zip(ids, letters, strict=True)],
            [one.card_id for one in letters],
            [one.event_id for one in letters],
            [one.person_id for one in letters],
            [one.mailing_id for one in letters],
            kind.is_urgent if urgent is None else urgent,
            at,
            at + kind.lifetime,
        )
        return ids

    def _sealed(self, kind: LetterKind, organization_id: UUID, id: UUID, values: Mapping[str, str]) -> bytes:
        clean = {name: one_line(value) for name, value in values.items()}
        if missing := letter_text(kind).fields - clean.keys():
            raise ValueError(f"a letter of kind {kind} needs {', '.join(sorted(missing))}")
        if any(len(value) > LONGEST_VALUE for value in clean.values()):
            raise ValueError(f"a value of a letter of kind {kind} is too long")
        return self._vault.seal(msgspec.json.encode(clean), values_context(organization_id, id))


def values_context(organization_id: UUID, letter_id: UUID) -> str:
    return f"letter {organization_id} {letter_id}"


WRITE: Final = """
    INSERT INTO letter (organization_id, id, kind, language, address, sealed_values, card_id, event_id, person_id,
                        mailing_id, urgent, written_at, next_at, expires_at)
    SELECT $1, n.id, $3, n.language, n.address, n.sealed_values, n.card_id, n.event_id, n.person_id, n.mailing_id, $11,
           $12, $12, $13
      FROM unnest($2::uuid[], $4::text[], $5::text[], $6::bytea[], $7::uuid[], $8::uuid[], $9::uuid[], $10::uuid[])
        AS n (id, language, address, sealed_values, card_id, event_id, person_id, mailing_id)
"""
