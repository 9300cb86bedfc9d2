"""Which faults, in which order: an endless sequence of rounds that a seed decides.

A cycle has each kind once alone and once in a pair, in a new order. A round can be repeated by seed and number.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice

from tests.ha.faults.catalogue import KINDS, Kind
from tests.ha.faults.kind import MACHINE, UNNOTICED
from tests.ha.lab.lab import WAYS

# Seconds from the first fault of a pair to the second.
LATEST = 5.0
# Nodes of three that may fail while the others agree.
SPARE = 1


@dataclass(frozen=True)
class Round:
    seed: int
    number: int
    names: tuple[str, ...]
    # Seconds from the first fault to the second.
    delay: float = 0.0

    @property
    def kinds(self) -> list[Kind]:
        return [KINDS[name] for name in self.names]

    @property
    def title(self) -> str:
        return f" + {self.delay:.1f} s + ".join(self.names)

    @property
    def waits_for_mending(self) -> bool:
        """No majority is left, or nobody can do anything: no gap is too long before it is mended."""
        return any(kind.from_mending for kind in self.kinds) or (
            len(self.kinds) > 1 and sum(kind.takes for kind in self.kinds) > SPARE
        )

    def stopped(self) -> set[str]:
        """The ways that need not flow before it is mended."""
        if len(self.kinds) > 1 and self.waits_for_mending:
            return set(WAYS)
        return {way for kind in self.kinds for way in kind.stops}

    def bound(self, way: str) -> float:
        """The longest wanted gap of a way; from the mending on, if it is stopped before."""
        if len(self.kinds) == 1:
            kind = self.kinds[0]
            return UNNOTICED if kind.from_mending and way not in kind.stops else kind.bound
        if way in self.stopped():
            return MACHINE
        return self.delay + sum(kind.bound for kind in self.kinds)

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        return max(kind.seconds for kind in self.kinds) + self.delay


def rounds(seed: int, start: int = 0) -> Iterator[Round]:
    """The endless sequence of a seed, from a number on."""
    return islice(_sequence(seed), start, None)


def _sequence(seed: int) -> Iterator[Round]:
    random_ = random.Random(seed)
    numbers = count()
    while True:
        deck = sorted(KINDS)
        random_.shuffle(deck)
        for name in deck:
            yield Round(seed, next(numbers), (name,))
        for first, second in _pairs(random_, deck):
            yield Round(seed, next(numbers), (first, second), round(random_.uniform(0, LATEST), 1))


def _pairs(random_: random.Random, deck: list[str]) -> Iterator[tuple[str, str]]:
    """Each kind once with another one that breaks something else."""
    left = list(deck)
    random_.shuffle(left)
    while left:
        first = left.pop()
        others = [name for name in left or deck if KINDS[name].part != KINDS[first].part]
        second = random_.choice(others or [name for name in deck if KINDS[name].part != KINDS[first].part])
        if second in left:
            left.remove(second)
        yield first, second


def part(seed: int) -> list[Round]:
    """For CI: one fault of a machine, then the cheap ones, to be run for as long as there is time."""
    deck = sorted(KINDS)
    random.Random(seed).shuffle(deck)
    machine = next(name for name in deck if KINDS[name].bound == MACHINE)
    cheap = [name for name in deck if KINDS[name].bound != MACHINE]
    return [Round(seed, number, (name,)) for number, name in enumerate([machine, *cheap])]
