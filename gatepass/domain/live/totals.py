"""The totals of an event: a snapshot count, and the deltas since, added to it. Pure."""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Self
from uuid import UUID

from gatepass.domain import sandbox
from gatepass.domain.live.deltas import Deltas, LiveCategory, ScanDelta
from gatepass.domain.live.full_count import MOST_SCANNERS, REST, FullCount
from gatepass.domain.tickets import ACTIVATED

# Callers choose the names of gates. Gates past this number are counted together.
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
    LiveCategory(one.id, one.name, one.tier, one.quantity_total, one.quantity_sold)
    for one in sandbox.CATALOGUE_ENTRY.categories
]
# Sandbox tickets are in no table, only in the verdicts.
SANDBOX_TICKET_CATEGORIES: Final = {
    given.ticket_id: category.id
    for given in sandbox.CARDS.values()
    for category in SANDBOX_CATEGORIES
    if category.name == given.category_name
}


@dataclass
class Totals:
    """`seen` is the snapshot that these totals belong to."""

    seen: str
    partitions: int
    status: str | None
    categories: list[LiveCategory]
    verdicts: Counter[str] = field(default_factory=Counter[str])
    activated: Counter[tuple[UUID, str | None]] = field(default_factory=Counter[tuple[UUID, str | None]])
    denied: Counter[str | None] = field(default_factory=Counter[str | None])
    minutes: dict[datetime, Minute] = field(default_factory=dict[datetime, Minute])
    scanners: dict[str, Scanner] = field(default_factory=dict[str, Scanner])
    # Set by `add` when adding was not enough: a full count must follow.
    needs_count: bool = False
    _gates: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, counted: FullCount, now: Deltas) -> Self:
        """The totals of a full count. `now` was read in the same snapshot."""
        made = cls(counted.snapshot, counted.partitions, now.status, now.categories or SANDBOX_CATEGORIES)
        for tickets in sorted(counted.tickets, key=lambda one: -one.activated):
            if tickets.activated:
                made.activated[tickets.category_id, made._gate(tickets.gate)] += tickets.activated
        for scans in sorted(counted.scans, key=lambda one: -one.scans):
            made.verdicts[scans.verdict] += scans.scans
            if scans.verdict != ACTIVATED:
                made.denied[made._gate(scans.gate)] += scans.scans
            elif scans.ticket_id in SANDBOX_TICKET_CATEGORIES:
                made.activated[SANDBOX_TICKET_CATEGORIES[scans.ticket_id], made._gate(scans.gate)] += scans.scans
        made.minutes = {one.minute: Minute(one.minute, one.activated, one.denied) for one in counted.minutes}
        for seen in sorted(counted.scanners, key=lambda one: one.last_at):
            made._add_scanner(seen.scanner_id, seen.gate, seen.last_at, seen.scans)
        return made

    def add(self, now: Deltas) -> None:
        """Add the new scans. A decrease cannot be added; it sets `needs_count`."""
        expected = {one.id: one.expected for one in self.categories}
        categories = now.categories or SANDBOX_CATEGORIES
        shrunk = any(one.expected < expected.get(one.id, 0) for one in categories)
        self.needs_count |= now.undone or shrunk or now.partitions != self.partitions
        self.seen, self.partitions, self.status, self.categories = now.snapshot, now.partitions, now.status, categories
        for delta in now.scans:
            self._add(delta)
        self._trim()

    def _trim(self) -> None:
        """Drop minutes that have left the chart, and scanners past MOST_SCANNERS."""
        if len(self.minutes) > 2 * MINUTES:
            self.minutes = {at: self.minutes[at] for at in sorted(self.minutes)[-MINUTES:]}
        if len(self.scanners) > 2 * MOST_SCANNERS:
            latest = sorted(self.scanners.values(), key=lambda one: one.last_at)[-MOST_SCANNERS:]
            self.scanners = {one.id: one for one in latest}

    def _add(self, delta: ScanDelta) -> None:
        self.verdicts[delta.verdict] += delta.scans
        was = self.minutes.get(delta.minute, Minute(delta.minute, 0, 0))
        if delta.verdict == ACTIVATED:
            if delta.category_or_ticket_id is not None:
                category_id = SANDBOX_TICKET_CATEGORIES.get(delta.category_or_ticket_id, delta.category_or_ticket_id)
                self.activated[category_id, self._gate(delta.gate)] += delta.scans
            self.minutes[delta.minute] = replace(was, activated=was.activated + delta.scans)
        else:
            self.denied[self._gate(delta.gate)] += delta.scans
            self.minutes[delta.minute] = replace(was, denied=was.denied + delta.scans)
        if delta.scanner_id is not None:
            self._add_scanner(delta.scanner_id, delta.gate, delta.last_at, delta.scans)

    def _gate(self, gate: str | None) -> str | None:
        if gate is None or gate in self._gates:
            return gate
        if len(self._gates) == MOST_GATES:
            return REST
        self._gates.add(gate)
        return gate

    def _add_scanner(self, scanner_id: str, gate: str | None, last_at: datetime, scans: int) -> None:
        was = self.scanners.get(scanner_id)
        if was is not None and was.last_at > last_at:
            gate, last_at = was.gate, was.last_at
        self.scanners[scanner_id] = Scanner(scanner_id, gate, last_at, scans + (was.scans if was else 0))

    # ---- reading ---------------------------------------------------------------------------------------------

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
        """The last sixty minutes, the current one and those without a scan included."""
        first = now.replace(second=0, microsecond=0) - (MINUTES - 1) * MINUTE
        shown = (first + n * MINUTE for n in range(MINUTES))
        return [self.minutes.get(at, Minute(at, 0, 0)) for at in shown]

    def differs_from(self, counted: Self) -> list[str]:
        """The parts that differ from a full count of the same snapshot. Any is a bug of ours."""
        assert self.seen == counted.seen  # noqa: S101  two snapshots cannot be compared
        checks = {
            "verdicts": +self.verdicts == +counted.verdicts,
            "activated": {one.id: self.activated_of(one.id) for one in self.categories}
            == {one.id: counted.activated_of(one.id) for one in counted.categories},
        }
        if max(len(self._gates), len(counted._gates)) < MOST_GATES:
            checks["gates"] = self.gates() == counted.gates()
        return [name for name, same in checks.items() if not same]
