"""The tally of a door: the counts of one snapshot, and what came since added to them. Pure."""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Self
from uuid import UUID

from gatepass.domain import sandbox
from gatepass.domain.door.coming import Came, Category, Fresh
from gatepass.domain.door.counting import MOST_SCANNERS, REST, Count
from gatepass.domain.tickets import ACTIVATED

# A gate is a word that callers choose; who makes a new one for every scan gets the rest in one line.
MOST_GATES: Final = 200
MINUTE: Final = timedelta(minutes=1)
MINUTES: Final = 60


@dataclass(frozen=True, slots=True)
class Minute:
    at: datetime
    activated: int
    denied: int


@dataclass(frozen=True, slots=True)
class Scanner:
    id: str
    gate: str | None
    last_at: datetime
    scans: int


SANDBOX_CATEGORIES: Final = [
    Category(one.id, one.name, one.tier, one.quantity_total, one.quantity_sold) for one in sandbox.LISTING.categories
]
# The sandbox has no tickets in any table, only in its verdicts.
SANDBOX_PLACES: Final = {
    given.ticket_id: category.id
    for given in sandbox.CARDS.values()
    for category in SANDBOX_CATEGORIES
    if category.name == given.category_name
}


@dataclass
class Tally:
    """`seen` is the snapshot in which all of this is true."""

    seen: str
    pieces: int
    status: str | None
    categories: list[Category]
    verdicts: Counter[str] = field(default_factory=Counter[str])
    activated: Counter[tuple[UUID, str | None]] = field(default_factory=Counter[tuple[UUID, str | None]])
    denied: Counter[str | None] = field(default_factory=Counter[str | None])
    minutes: dict[datetime, Minute] = field(default_factory=dict[datetime, Minute])
    scanners: dict[str, Scanner] = field(default_factory=dict[str, Scanner])
    # Set by `add` when adding was not enough: a count must follow.
    needs_count: bool = False
    _gates: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, counted: Count, now: Fresh) -> Self:
        """The tally of a count. `now` was read in the same snapshot."""
        made = cls(counted.snapshot, counted.pieces, now.status, now.categories or SANDBOX_CATEGORIES)
        for tickets in sorted(counted.tickets, key=lambda one: -one.activated):
            if tickets.activated:
                made.activated[tickets.category_id, made._gate(tickets.gate)] += tickets.activated
        for scans in sorted(counted.scans, key=lambda one: -one.scans):
            made.verdicts[scans.verdict] += scans.scans
            if scans.verdict != ACTIVATED:
                made.denied[made._gate(scans.gate)] += scans.scans
            elif scans.place in SANDBOX_PLACES:
                made.activated[SANDBOX_PLACES[scans.place], made._gate(scans.gate)] += scans.scans
        made.minutes = {one.minute: Minute(one.minute, one.activated, one.denied) for one in counted.minutes}
        for seen in sorted(counted.scanners, key=lambda one: one.last_at):
            made._heard(seen.scanner_id, seen.gate, seen.last_at, seen.scans)
        return made

    def add(self, now: Fresh) -> None:
        """Add what came. Whatever takes away cannot be added, and asks for a count."""
        expected = {one.id: one.expected for one in self.categories}
        categories = now.categories or SANDBOX_CATEGORIES
        shrunk = any(one.expected < expected.get(one.id, 0) for one in categories)
        self.needs_count |= now.undone or shrunk or now.pieces != self.pieces
        self.seen, self.pieces, self.status, self.categories = now.snapshot, now.pieces, now.status, categories
        for came in now.came:
            self._add(came)
        self._forget()

    def _forget(self) -> None:
        """Minutes that have left the chart, and scanners past the most that are kept."""
        if len(self.minutes) > 2 * MINUTES:
            self.minutes = {at: self.minutes[at] for at in sorted(self.minutes)[-MINUTES:]}
        if len(self.scanners) > 2 * MOST_SCANNERS:
            latest = sorted(self.scanners.values(), key=lambda one: one.last_at)[-MOST_SCANNERS:]
            self.scanners = {one.id: one for one in latest}

    def _add(self, came: Came) -> None:
        self.verdicts[came.verdict] += came.scans
        was = self.minutes.get(came.minute, Minute(came.minute, 0, 0))
        if came.verdict == ACTIVATED:
            if came.place is not None:
                category_id = SANDBOX_PLACES.get(came.place, came.place)
                self.activated[category_id, self._gate(came.gate)] += came.scans
            self.minutes[came.minute] = replace(was, activated=was.activated + came.scans)
        else:
            self.denied[self._gate(came.gate)] += came.scans
            self.minutes[came.minute] = replace(was, denied=was.denied + came.scans)
        if came.scanner_id is not None:
            self._heard(came.scanner_id, came.gate, came.last_at, came.scans)

    def _gate(self, gate: str | None) -> str | None:
        if gate is None or gate in self._gates:
            return gate
        if len(self._gates) == MOST_GATES:
            return REST
        self._gates.add(gate)
        return gate

    def _heard(self, scanner_id: str, gate: str | None, last_at: datetime, scans: int) -> None:
        was = self.scanners.get(scanner_id)
        if was is not None and was.last_at > last_at:
            gate, last_at = was.gate, was.last_at
        self.scanners[scanner_id] = Scanner(scanner_id, gate, last_at, scans + (was.scans if was else 0))

    # ---- what it says ----------------------------------------------------------------------------------------

    @property
    def total_activated(self) -> int:
        return self.activated.total()

    @property
    def total_expected(self) -> int:
        return sum(one.expected for one in self.categories)

    def activated_of(self, category_id: UUID) -> int:
        return sum(number for (id, _), number in self.activated.items() if id == category_id)

    def gates(self) -> list[tuple[str | None, int, int]]:
        """Each gate with its activated tickets and its denials, the busiest first."""
        activated: Counter[str | None] = Counter()
        for (_, gate), number in self.activated.items():
            activated[gate] += number
        named = {*activated, *self.denied}
        return sorted(
            ((gate, activated[gate], self.denied[gate]) for gate in named),
            key=lambda one: (-one[1], -one[2], str(one[0])),
        )

    def denials(self) -> list[tuple[str, int]]:
        return [(verdict, number) for verdict, number in self.verdicts.most_common() if verdict != ACTIVATED]

    def last_hour(self, now: datetime) -> list[Minute]:
        """The last sixty minutes, the one under way included, also those in which nobody came."""
        first = now.replace(second=0, microsecond=0) - (MINUTES - 1) * MINUTE
        shown = (first + n * MINUTE for n in range(MINUTES))
        return [self.minutes.get(at, Minute(at, 0, 0)) for at in shown]

    def differs_from(self, counted: Self) -> list[str]:
        """Where this is not what a count of the same snapshot says. Nothing, always; a fault of ours otherwise."""
        assert self.seen == counted.seen  # noqa: S101  anything else compares two moments
        checks = {
            "verdicts": +self.verdicts == +counted.verdicts,
            "activated": {one.id: self.activated_of(one.id) for one in self.categories}
            == {one.id: counted.activated_of(one.id) for one in counted.categories},
        }
        if max(len(self._gates), len(counted._gates)) < MOST_GATES:
            checks["gates"] = self.gates() == counted.gates()
        return [name for name, same in checks.items() if not same]
