"""Gates that race for the same cards, each with a `ScanQueue` of its own. Without a service they go on offline."""

import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from gatepass_sdk import Gatepass, ScanQueue, Verdict
from tests.drills.judge import Winner

# Each card comes to this many gates in the same moment: one wins.
RIVALS = 3


@dataclass(frozen=True)
class Arrival:
    """A card that comes to several gates; whether it is shown as a token, at each of them."""

    seconds: float
    card_number: str
    token: str
    by_token: dict[int, bool]


@dataclass
class Gates:
    """`told` are the verdicts that gates were told, apart from what their files hold."""

    event_id: str
    arrivals: Sequence[Arrival]
    folder: Path
    number: int
    told: list[Verdict] = field(default_factory=list[Verdict])

    @property
    def paths(self) -> list[Path]:
        return [self.folder / f"gate-{n}.db" for n in range(self.number)]

    def activations(self) -> dict[str, Winner]:
        return activations(self.told)

    def scan(self, client: Gatepass) -> None:
        """All gates scan all their cards, each at its time."""
        began = time.monotonic()
        with ThreadPoolExecutor(self.number) as gates:
            for done in [gates.submit(self._gate, n, client, began) for n in range(self.number)]:
                done.result()

    def _gate(self, n: int, client: Gatepass, began: float) -> None:
        with ScanQueue(self.paths[n]) as queue:
            is_online = True
            for one in self.arrivals:
                if n not in one.by_token:
                    continue
                time.sleep(max(0.0, began + one.seconds - time.monotonic()))
                queue.add(
                    self.event_id,
                    token=one.token if one.by_token[n] else None,
                    card_number=None if one.by_token[n] else one.card_number,
                    gate=f"Gate {n}",
                    scanner_id=f"scanner {n}",
                )
                if is_online:
                    is_online = queue.drain(client).stopped_by is None
                    self.told += queue.verdicts()


def arrivals(cards: Sequence[dict[str, str]], number: int, rate: float, rng: random.Random) -> list[Arrival]:
    """These cards, `rate` of them in a second, each at RIVALS of the gates."""
    return [
        Arrival(
            at / rate,
            card["card_number"],
            card["token"],
            {n: rng.random() < 0.5 for n in rng.sample(range(number), RIVALS)},
        )
        for at, card in enumerate(cards)
    ]


def drain_all(paths: Sequence[Path], client: Gatepass) -> list[Verdict]:
    """What the gates are told about the scans that waited."""
    told: list[Verdict] = []
    for path in paths:
        with ScanQueue(path) as queue:
            assert queue.drain(client).stopped_by is None
            told += queue.verdicts()
    return told


def activations(told: Sequence[Verdict]) -> dict[str, Winner]:
    """The acknowledged winner of each card."""
    won = {one.card: one for one in told if one.ticket is not None}
    assert len(won) == sum(one.ticket is not None for one in told), "a card got in twice"
    return {
        card: Winner(UUID(one.ticket.ticket_id), one.scanner_id, one.occurred_at)
        for card, one in won.items()
        if one.ticket is not None
    }
