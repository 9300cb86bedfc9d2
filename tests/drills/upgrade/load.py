"""Gates that scan without a pause at two servers, and try the other one when theirs does not answer."""

import itertools
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID, uuid4

from gatepass_sdk import AlreadyUsed, APIConnectionError, Gatepass, RateLimited, ServerError
from tests.drills.judge import Winner

# A gate gives up one server after this many seconds, and a scan after this many tries.
PATIENCE, TRIES = 1.0, 60
# Answers for each gate before anything is measured.
WARM, WARM_WITHIN = 5, 60.0


@dataclass
class Load:
    """`answered` has the time of every answer; `acknowledged` the winner of every card."""

    event_id: str
    key: str
    urls: Sequence[str]
    cards: Sequence[str]
    gates: int = 8
    # Between two scans of a gate.
    pause: float = 0.1
    answered: list[float] = field(default_factory=list[float])
    acknowledged: dict[str, Winner] = field(default_factory=dict[str, Winner])
    refused: int = 0
    retried: int = 0
    _over: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def running(self) -> Generator[None]:
        """All gates scan when the block is entered, until it is left; then every scan has its answer."""
        # Each card comes twice, to two gates at once: one wins. On a slow machine the cards may come round again.
        shown = itertools.chain.from_iterable((card, card) for card in itertools.cycle(self.cards))
        lock = threading.Lock()

        def next_card() -> str:
            with lock:
                return next(shown)

        with ThreadPoolExecutor(self.gates) as pool:
            done = [pool.submit(self._gate, n, next_card) for n in range(self.gates)]
            try:
                self._wait_for(WARM * self.gates)
                yield
            finally:
                self._over.set()
            for one in done:
                one.result()

    def _wait_for(self, answers: int) -> None:
        deadline = time.monotonic() + WARM_WITHIN
        while len(self.answered) < answers:
            assert time.monotonic() < deadline, "the gates get no answers"
            time.sleep(0.01)

    def longest_gap(self, after: float, before: float) -> float:
        """The longest time without an answer between these two times."""
        times = [after, *sorted(at for at in self.answered if after < at < before), before]
        return max(later - earlier for earlier, later in itertools.pairwise(times))

    def _gate(self, n: int, next_card: Callable[[], str]) -> None:
        clients = [
            Gatepass(self.key, base_url=url, max_retries=0, scan_deadline=PATIENCE)
            for url in (self.urls[n % 2], self.urls[1 - n % 2])
        ]
        while not self._over.is_set():
            self._scan(n, next_card(), clients)
            time.sleep(self.pause)
        for client in clients:
            client.close()

    def _scan(self, n: int, card: str, clients: Sequence[Gatepass]) -> None:
        key, occurred_at = str(uuid4()), datetime.now(UTC)
        for client in itertools.islice(itertools.cycle(clients), TRIES):
            try:
                ticket = client.scans.create(
                    self.event_id,
                    card_number=card,
                    gate=f"Gate {n}",
                    scanner_id=f"scanner {n}",
                    occurred_at=occurred_at,
                    idempotency_key=key,
                )
            except AlreadyUsed:
                self.refused += 1
            except (APIConnectionError, ServerError, RateLimited):
                self.retried += 1
                continue
            else:
                assert card not in self.acknowledged, f"{card} got in twice"
                self.acknowledged[card] = Winner(UUID(ticket.ticket_id), f"scanner {n}", occurred_at)
            self.answered.append(time.monotonic())
            return
        raise AssertionError(f"{card} was not answered {TRIES} times")
