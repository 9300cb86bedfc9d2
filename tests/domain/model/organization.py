"""What the two sides of an organization share in the model: the time, its idempotency keys and its log of calls."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.domain.keys import Mode

T0: Final = datetime(2031, 5, 1, tzinfo=UTC)
KEPT: Final = timedelta(hours=24)


@dataclass(frozen=True)
class Answer:
    verdict: str
    given: tuple[UUID, str, str] | None = None
    first: tuple[datetime, str | None, str | None] | None = None
    rule: dict[str, object] | None = None


@dataclass
class StoredAnswer:
    fingerprint: object
    answer: Answer
    at: datetime
    generation: int


@dataclass
class ModelOrganization:
    now: datetime = T0
    stored: dict[tuple[Mode, str], StoredAnswer] = field(default_factory=dict[tuple[Mode, str], StoredAnswer])
    generation: int = 0
    opened_at: datetime = T0
    calls: Counter[str] = field(default_factory=Counter[str])

    def store(self, mode: Mode, idempotency_key: str, fingerprint: object, answer: Answer) -> None:
        self.stored[mode, idempotency_key] = StoredAnswer(fingerprint, answer, self.now, self.generation)

    def rotate(self) -> int:
        """A generation is read while it and the next one are open. An answer is deleted after a day at the earliest."""
        if self.now - self.opened_at < KEPT:
            return 0
        self.generation += 1
        self.opened_at = self.now
        for key, one in list(self.stored.items()):
            if one.generation < self.generation - 1:
                assert self.now - one.at >= KEPT
                del self.stored[key]
        return 1
