"""Draws a scenario from its seed: 20 gates, at least 200 scans, everything that goes wrong at doors."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final, TypeVar

from tests.gate.simulator.scenario import (
    Alteration,
    Arrival,
    Category,
    Change,
    Death,
    End,
    Follow,
    Forgery,
    Gate,
    Heartbeat,
    Network,
    NewRules,
    Night,
    Policy,
    Race,
    Retirement,
    Scenario,
    Show,
    Step,
    Theft,
    Upload,
    Way,
)

T = TypeVar("T")

GATES: Final = 20
SCANS: Final = 200
CARDS: Final = 72
WITHOUT_TICKET: Final = 6
UNKNOWN: Final = 3
MINUTE: Final = 60_000
CLOCK_MS: Final = 10 * MINUTE
# The scans of a scenario take about an hour.
HOUR: Final = 60 * MINUTE

NETWORKS: Final = {Network.ONLINE: 68, Network.REQUEST_LOST: 9, Network.ANSWER_LOST: 13, Network.LATE: 10}
WAYS: Final = {Way.TOKEN: 74, Way.NUMBER: 16, Way.SHORT_TOKEN: 5, Way.FORGED: 5}
POLICIES: Final = {Policy.MANIFEST: 78, Policy.SIGNATURE: 14, Policy.STOP: 8}
CHANGES: Final = {
    Change.SUSPEND: 28,
    Change.REACTIVATE: 14,
    Change.REVOKE: 16,
    Change.CANCEL: 18,
    Change.ISSUE: 12,
    Change.LET_IN: 12,
}
# What comes between two scans, out of 1,000.
BETWEEN: Final = {
    "follow": 150,
    "upload": 70,
    "change": 80,
    "race": 30,
    "arrival": 40,
    "rules": 10,
    "forgery": 12,
    "heartbeat": 30,
}


def scenario(seed: int) -> Scenario:
    return Generator(Random(seed), seed).scenario()


@dataclass
class Generator:
    """What is known while the steps are drawn: who is offline, what was shown lately, who is gone."""

    random: Random
    seed: int
    now: int = 0
    shown: list[int] = field(default_factory=list[int])
    offline: set[int] = field(default_factory=set[int])
    has_ended: bool = False
    late: list[int] = field(default_factory=list[int])

    def scenario(self) -> Scenario:
        names = tuple(f"Gate {n + 1}" for n in range(GATES))
        categories = tuple(self._categories(names))
        with_ticket = [n % len(categories) for n in range(CARDS)]
        return Scenario(
            seed=self.seed,
            policy=self._drawn(POLICIES),
            doors_open=self.random.choice([None, None, 3 * MINUTE, 8 * MINUTE]),
            categories=categories,
            cards=(*with_ticket, *[None] * WITHOUT_TICKET),
            gates=tuple(Gate(name, self.random.randint(-CLOCK_MS, CLOCK_MS)) for name in names),
            steps=tuple(self._steps(categories)),
        )

    def _categories(self, names: tuple[str, ...]) -> Iterator[Category]:
        yield Category("General")
        yield Category("Balcony")
        yield Category("Early", valid_until=self.random.randint(HOUR // 4, HOUR))
        yield Category("Late", valid_from=self.random.randint(0, HOUR // 2))
        yield Category("Side entrances", gates=tuple(sorted(self.random.sample(names, 8))))

    def _steps(self, categories: tuple[Category, ...]) -> Iterator[Step]:
        yield from self._beginning()
        unexpected = self._unexpected()
        ends_at = SCANS * 85 // 100 if self.random.random() < 0.25 else None
        for n in range(SCANS):
            self.now += self.random.choice([300, 900, 4_000, 15_000, 30_000])
            yield from unexpected.get(n, [])
            if n == ends_at:
                self.has_ended = True
                yield End(self.now - self.random.choice([0, MINUTE, 5 * MINUTE]))
            if (draw := self.random.randrange(1_000)) < sum(BETWEEN.values()):
                yield from self._between(draw, categories)
            show = self._show()
            yield show
            # Somebody types two numbers in a row, faster than people do.
            if show.way is Way.NUMBER and show.network is Network.OFFLINE and show.card % 3 == 0:
                yield replace(show, at=show.at + 200, card=(show.card + 1) % CARDS)
        yield from self._ending()

    def _beginning(self) -> Iterator[Step]:
        """Most gates fetch the manifest and have their clock measured. Some do it later, some never."""
        for gate in range(GATES):
            if self.random.random() < 0.75:
                yield Heartbeat(gate)
            if self.random.random() < 0.9:
                yield Follow(gate)

    def _unexpected(self) -> dict[int, list[Step]]:
        """What happens to devices, and after how many scans."""
        some = self.random.sample(range(GATES), 6)
        drawn: list[Step] = [Death(some[0]), Retirement(some[1])]
        if self.random.random() < 0.5:
            drawn.append(Theft(some[2], is_found=False))
        found: dict[int, list[Step]] = {}
        for step in drawn:
            found.setdefault(self.random.randrange(SCANS // 4, SCANS), []).append(step)
        if self.random.random() < 0.5:
            lost = self.random.randrange(SCANS // 4, SCANS * 3 // 4)
            found.setdefault(lost, []).append(Theft(some[3], is_found=False))
            found.setdefault(lost + SCANS // 5, []).append(Theft(some[3], is_found=True))
        return found

    def _between(self, draw: int, categories: tuple[Category, ...]) -> Iterator[Step]:
        for kind, share in BETWEEN.items():
            if draw < share:
                yield from self._one_of(kind, categories)
                return
            draw -= share

    def _one_of(self, kind: str, categories: tuple[Category, ...]) -> Iterator[Step]:
        gate = self.random.randrange(GATES)
        match kind:
            case "follow" if not self.has_ended:
                yield from (Follow(one) for one in {gate, self.random.randrange(GATES)})
            case "upload":
                yield self._upload((gate,))
            case "heartbeat":
                yield Heartbeat(gate)
            case "change":
                yield Alteration(self._drawn(CHANGES), self._card())
            case "race":
                yield self._race()
            case "arrival" if self.late:
                yield Arrival(self.late.pop(self.random.randrange(len(self.late))))
            case "rules" if not self.has_ended:
                yield self._new_rules(categories)
            case "forgery":
                yield Forgery(gate, self._card(), self.random.random() < 0.5)
            case _:
                return

    def _show(self) -> Show:
        gate = self.random.randrange(GATES)
        if self.random.random() < 0.08:
            self.offline ^= {gate}
        network = Network.OFFLINE if gate in self.offline else self._drawn(NETWORKS)
        if network is Network.LATE:
            self.late.append(gate)
        waved = self.random.random() < 0.05
        return Show(self.now, gate, self._card(), self._drawn(WAYS), network, is_waved=waved)

    def _card(self) -> int:
        """A card that was shown lately, or any; now and then one that nobody issued."""
        draw = self.random.random()
        if draw < 0.03:
            return -self.random.randint(1, UNKNOWN)
        if draw < 0.45 and self.shown:
            return self.random.choice(self.shown[-12:])
        self.shown.append(self.random.randrange(CARDS + WITHOUT_TICKET))
        return self.shown[-1]

    def _race(self) -> Race:
        card = self._card()
        gates = self.random.sample(range(GATES), self.random.randint(2, 5))
        return Race(tuple(Show(self.now, gate, card, Way.TOKEN, Network.ONLINE) for gate in gates))

    def _new_rules(self, categories: tuple[Category, ...]) -> NewRules:
        n = self.random.randrange(1, len(categories))
        name = categories[n].name
        names = [f"Gate {n + 1}" for n in range(GATES)]
        kinds = [
            Category(name),
            Category(name, valid_until=self.now + self.random.randint(-10, 10) * MINUTE),
            Category(name, valid_from=self.now + self.random.randint(-10, 10) * MINUTE),
            Category(name, gates=tuple(sorted(self.random.sample(names, 5)))),
        ]
        return NewRules(n, self.random.choice(kinds))

    def _upload(self, gates: tuple[int, ...]) -> Upload:
        return Upload(
            gates,
            most=self.random.choice([1, 3, 500]),
            backwards=self.random.random() < 0.2,
            answer_lost=self.random.random() < 0.2,
        )

    def _ending(self) -> Iterator[Step]:
        """All gates synchronize, in any order, one by one or together; what is late arrives among it."""
        gates = self.random.sample(range(GATES), GATES)
        if self.random.random() < 0.4:
            yield Night()
        while gates:
            together = self.random.choice([1, 1, 2, 5, 20])
            yield self._upload(tuple(gates[:together]))
            del gates[:together]
            if self.late and self.random.random() < 0.7:
                yield Arrival(self.late.pop())
        yield from (Arrival(gate) for gate in self.late)

    def _drawn(self, shares: dict[T, int]) -> T:
        return self.random.choices(list(shares), list(shares.values()))[0]
