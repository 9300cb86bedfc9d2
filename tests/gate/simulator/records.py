"""What the model keeps: cards and tickets, what was shown, and what the service has heard of it."""

from dataclasses import dataclass, field
from typing import Final

# A typed number sooner than this before or after another one at the same device activates nothing.
TYPING_MS: Final = 2_000


@dataclass
class Ticket:
    """`activated_by` is the key of a scan, or PEOPLE. `admissions` has who was let in, as the service has heard it."""

    category: int
    is_cancelled: bool = False
    activated_by: str | None = None
    admissions: list[str] = field(default_factory=list[str])


@dataclass
class Card:
    status: str = "active"
    tickets: list[Ticket] = field(default_factory=list[Ticket])

    @property
    def in_use(self) -> Ticket | None:
        return next((ticket for ticket in self.tickets if not ticket.is_cancelled), None)

    def copied(self) -> "Card":
        tickets = [Ticket(one.category, one.is_cancelled, one.activated_by, [*one.admissions]) for one in self.tickets]
        return Card(self.status, tickets)

    def was_activated_by(self, key: str) -> bool:
        return any(ticket.activated_by == key for ticket in self.tickets)

    @property
    def ticket(self) -> Ticket | None:
        """The one in use, else the last one."""
        return self.in_use or (self.tickets[-1] if self.tickets else None)


@dataclass(frozen=True)
class Shown:
    """A card at a gate, judged at this moment. `card` is None for a forged code; `expires` is when a token ends."""

    key: str
    gate: str
    card: int | None
    moment: int
    expires: int | None = None


@dataclass(frozen=True)
class Entry:
    """A line of a device's journal as it is uploaded. Its moment is the device's time, corrected."""

    device: int
    sequence: int
    shown: Shown
    admitted: bool
    is_typed: bool
    is_forged: bool = False


@dataclass(frozen=True)
class Result:
    outcome: str
    kinds: frozenset[str] = frozenset()
    code: str | None = None


@dataclass(frozen=True)
class Incident:
    """`sequence` is None for a scan that the service answered at once, `device` also for what people did."""

    kind: str
    card: int | None
    device: int | None = None
    sequence: int | None = None


@dataclass
class DeviceRecord:
    """What the service has of a device. Entries from before `found_at`, when it was paired again, activate nothing."""

    results: dict[int, tuple[Entry, Result]] = field(default_factory=dict[int, tuple[Entry, Result]])
    found_at: int | None = None

    def types_too_fast(self, entry: Entry) -> bool:
        return entry.is_typed and any(
            other.is_typed and abs(other.shown.moment - entry.shown.moment) < TYPING_MS
            for other, _ in self.results.values()
        )
