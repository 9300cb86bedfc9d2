"""Cards, tickets and scans as a fake holds them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from gatepass_sdk.testing._times import maybe_rfc3339, rfc3339


@dataclass(frozen=True)
class HolderRecord:
    """`given_name` is as it was sent; without a name the e-mail address is shown.

    `address` is the e-mail address in the form in which addresses are compared.
    """

    name: str
    email: str | None
    locale: str | None
    address: str | None
    given_name: str | None

    @property
    def fingerprint(self) -> tuple[str | None, ...]:
        return (self.given_name, self.address, self.locale)


@dataclass
class CardRecord:
    """`is_current` if tickets for the holder's address go to this card, `companion` if it is for somebody with them."""

    id: UUID
    number: str
    issued_at: datetime
    status: str = "active"
    holder: HolderRecord | None = None
    is_current: bool = False
    companion: bool = False
    external_id: str | None = None
    # Of the request that gave the external id.
    fingerprint: object = None
    changed_at: datetime | None = None
    # The secret of the link of its page; None before somebody asks for it.
    link: str | None = None

    def shown(self) -> dict[str, Any]:
        holder = None
        if self.holder is not None:
            name, email, locale = self.holder.name, self.holder.email, self.holder.locale
            holder = {"name": name, "email": email, "locale": locale, "companion": self.companion}
        return {
            "id": str(self.id),
            "number": self.number,
            "status": self.status,
            "holder": holder,
            "external_id": self.external_id,
            "issued_at": rfc3339(self.issued_at),
            "updated_at": rfc3339(self.changed_at or self.issued_at),
        }


@dataclass
class TicketRecord:
    """`state` is `issued`, `activated` or `cancelled`; None is no ticket. `category` is as events show it."""

    id: UUID
    event_id: str
    category: dict[str, Any]
    card: CardRecord
    issued_at: datetime
    state: str | None = "issued"
    external_id: str | None = None
    fingerprint: object = None
    activated_at: datetime | None = None
    gate: str | None = None
    scanner_id: str | None = None
    cancelled_at: datetime | None = None
    cancel_reason: str | None = None
    changed_at: datetime | None = None

    @property
    def updated_at(self) -> datetime:
        times = (self.issued_at, self.activated_at, self.cancelled_at, self.changed_at)
        return max(time for time in times if time is not None)

    def shown(self) -> dict[str, Any]:
        return {
            "id": str(self.id),
            "event_id": self.event_id,
            "category_id": self.category["id"],
            "tier": self.category["tier"],
            "category_name": self.category["name"],
            "card_id": str(self.card.id),
            "card_number": self.card.number,
            "external_id": self.external_id,
            "state": self.state,
            "issued_at": rfc3339(self.issued_at),
            "activated_at": maybe_rfc3339(self.activated_at),
            "gate": self.gate,
            "scanner_id": self.scanner_id,
            "cancelled_at": maybe_rfc3339(self.cancelled_at),
            "cancel_reason": self.cancel_reason,
            "updated_at": rfc3339(self.updated_at),
        }


@dataclass(frozen=True)
class ScanRecord:
    """A scan that was decided, as the list of scans shows it."""

    id: UUID
    at: datetime
    event_id: str
    card_number: str
    card_id: UUID | None
    ticket_id: UUID | None
    verdict: str
    gate: str | None
    scanner_id: str | None
    occurred_at: datetime | None

    @property
    def position(self) -> tuple[datetime, UUID]:
        return self.at, self.id


class FakeCard:
    """A card with a ticket, and a `token` of it.

    Set `status` to suspend or revoke the card, `ticket_state` to `cancelled` or None. After a scan `activated_at`,
    `gate` and `scanner_id` say when and where.
    """

    def __init__(self, token: str, card: CardRecord, ticket: TicketRecord) -> None:
        self.token = token
        self._card = card
        self._ticket = ticket

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FakeCard) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.card_id)

    @property
    def card_number(self) -> str:
        return self._card.number

    @property
    def card_id(self) -> UUID:
        return self._card.id

    @property
    def ticket_id(self) -> UUID:
        return self._ticket.id

    @property
    def event_id(self) -> str:
        return self._ticket.event_id

    @property
    def tier(self) -> str:
        return str(self._ticket.category["tier"])

    @property
    def category_name(self) -> str:
        return str(self._ticket.category["name"])

    @property
    def issued_at(self) -> datetime:
        return self._card.issued_at

    @property
    def status(self) -> str:
        return self._card.status

    @status.setter
    def status(self, status: str) -> None:
        self._card.status = status

    @property
    def ticket_state(self) -> str | None:
        return self._ticket.state

    @ticket_state.setter
    def ticket_state(self, state: str | None) -> None:
        self._ticket.state = state

    @property
    def activated_at(self) -> datetime | None:
        return self._ticket.activated_at

    @property
    def gate(self) -> str | None:
        return self._ticket.gate

    @property
    def scanner_id(self) -> str | None:
        return self._ticket.scanner_id


@dataclass
class DeviceRecord:
    """A device. Its key belongs to it in the table of keys."""

    id: UUID
    name: str
    event_id: UUID
    gate: str
    paired_at: datetime
    status: str = "paired"
    last_seen_at: datetime | None = None
    queued: int | None = None
    clock_offset_ms: int | None = None
    app: str | None = None

    @property
    def position(self) -> tuple[datetime, UUID]:
        return self.paired_at, self.id

    def shown(self) -> dict[str, Any]:
        return {
            "id": str(self.id),
            "name": self.name,
            "event_id": str(self.event_id),
            "gate": self.gate,
            "status": self.status,
            "paired_at": rfc3339(self.paired_at),
            "paired_by": "a test",
            "last_seen_at": maybe_rfc3339(self.last_seen_at),
            "queued": self.queued,
            "clock_offset_ms": self.clock_offset_ms,
            "app": self.app,
        }


@dataclass(frozen=True)
class FakeDevice:
    """A device that `FakeGatepass.pair` made, and its API key."""

    api_key: str
    device: DeviceRecord

    @property
    def id(self) -> str:
        return str(self.device.id)
