"""Messages about cards. None holds a holder's data."""

from dataclasses import dataclass
from datetime import datetime

from gatepass_sdk._decode import Model
from gatepass_sdk.messages.message import Message


@dataclass(frozen=True, kw_only=True)
class ChangedCardStatus(Model):
    card_id: str
    card_number: str
    previous_status: str
    status: str
    changed_at: datetime
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class CardStatusChanged(Message):
    """A card was suspended, resumed or revoked."""

    data: ChangedCardStatus


@dataclass(frozen=True, kw_only=True)
class IssuedCard(Model):
    card_id: str
    card_number: str
    status: str
    external_id: str | None
    issued_at: datetime


@dataclass(frozen=True, kw_only=True)
class CardIssued(Message):
    """A card was made."""

    data: IssuedCard


@dataclass(frozen=True, kw_only=True)
class ReplacedCard(Model):
    """`card_id` is the old card, which is revoked."""

    card_id: str
    card_number: str
    new_card_id: str
    new_card_number: str
    external_id: str | None
    replaced_at: datetime
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class CardReplaced(Message):
    """A new card took the place of a lost one."""

    data: ReplacedCard


@dataclass(frozen=True, kw_only=True)
class UpdatedCard(Model):
    """`changed` names what was changed. No message holds a holder's data."""

    card_id: str
    card_number: str
    external_id: str | None
    changed: tuple[str, ...]
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class CardUpdated(Message):
    """A card got an external id, or its holder was corrected or erased."""

    data: UpdatedCard
