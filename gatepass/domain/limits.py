"""Rate limits: a token bucket per key, with one of its own for scans, so that reads never starve a gate.

Pure; the clock is an argument, in seconds that only go forward. A process alone keeps a bucket exactly.
Several processes share one by telling each other now and then; until it has told the others, a process
gives out no more than its share, so that all of them together overdraw a bucket by little.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

import msgspec

from gatepass.base.refusals import Refusal

# More than the keys that one process meets in a busy minute; the least recently used is forgotten, which refills it.
MOST_BUCKETS: Final = 50_000

# Who waits exactly as long as told may find a token short by the last bits of a float.
ROUNDING: Final = 1e-6

# So many processes keep the promise: in ten seconds at most 110 % of the rate, and one burst. Each gives at most a
# quarter of a second's worth before the others hear of it, and three may do so after the fourth took the last token.
PROCESSES: Final = 4
# Seconds between a call and its being told. What flows into a full bucket meanwhile must not be lost, or a key with
# a small burst would be refused at its own rate. Taken from the same tenth as the shares.
LATE: Final = 0.1


class RateLimited(Refusal):
    """Too many calls with this API key. Slow down and try again."""

    code = "rate_limited"


class TooManyFailures(RateLimited):
    """Too many calls without a valid API key from this address."""


# These two are made on every call: a struct costs a tenth of a frozen dataclass.
class Policy(msgspec.Struct, frozen=True):
    name: str
    per_second: float
    burst: int

    def header(self) -> str:
        """`RateLimit-Policy`, as in draft 11 of the IETF: a quota and the seconds in which it refills."""
        return f'"{self.name}";q={self.burst};w={math.ceil(self.burst / self.per_second)}'

    def shared_burst(self) -> float:
        """What a shared bucket holds. That of a very slow key holds less, as no process gives half a call."""
        late = LATE * self.per_second
        overdrawn = (PROCESSES - 1) * max(1.0, self.per_second / PROCESSES)
        return max(1.0, self.burst + late - max(0.0, overdrawn + late - self.per_second))


class Standing(msgspec.Struct, frozen=True):
    """Where a bucket stands after a call. It may be in debt for what several processes gave out at once."""

    policy: Policy
    allowed: bool
    tokens: float

    def header(self) -> str:
        """`RateLimit`: what is left, and in how many seconds the bucket is full again."""
        refill = math.ceil((self.policy.burst - self.tokens) / self.policy.per_second)
        return f'"{self.policy.name}";r={max(0, math.floor(self.tokens))};t={refill}'

    def retry_after(self) -> int:
        return max(1, math.ceil((1 - self.tokens) / self.policy.per_second))


@dataclass(slots=True)
class Bucket:
    policy: Policy
    tokens: float
    at: float
    # Taken here; the others do not know, or have not said that they do.
    untold: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """What was taken from a bucket, to be told to the other processes."""

    whose: Hashable
    policy: Policy
    bucket: Bucket
    count: int


class Buckets:
    """As many buckets as there are callers, up to a bound."""

    def __init__(self, most: int = MOST_BUCKETS) -> None:
        self._most = most
        self._buckets: OrderedDict[Hashable, Bucket] = OrderedDict()
        self._untold: dict[Hashable, Bucket] = {}
        self._being_told: list[Taken] = []
        self._hurry: Callable[[], None] | None = None

    def take(self, whose: Hashable, policy: Policy, now: float) -> Standing:
        """Take one token, if there is one and this process may give it."""
        bucket = self._buckets.get(whose)
        if bucket is None:
            bucket = self._add(whose, policy, now)
        else:
            self._buckets.move_to_end(whose)
        tokens = _refill(bucket, policy, now)
        if tokens < 1 - ROUNDING:
            return Standing(policy, False, tokens)
        if self._hurry is not None and not self._share(whose, bucket, self._hurry):
            return Standing(policy, False, 0.0)
        bucket.tokens = tokens = tokens - 1 if tokens > 1 else 0.0
        return Standing(policy, True, tokens)

    def share(self, hurry: Callable[[], None]) -> None:
        """From now on others are told. `hurry` is called when a share, or a quarter of a burst, is half used up."""
        self._hurry = hurry

    def keep_alone(self) -> None:
        """Nobody hears us: each bucket goes on from here. What was not told is forgotten, never told twice."""
        for taken in self._being_told:
            taken.bucket.untold = 0
        for bucket in self._untold.values():
            bucket.untold = 0
        self._untold, self._being_told, self._hurry = {}, [], None

    def tell(self) -> list[Taken]:
        """What the others do not know yet. Each is to be settled, or all forgotten, before the next is told."""
        self._being_told = [
            Taken(whose, bucket.policy, bucket, bucket.untold) for whose, bucket in self._untold.items()
        ]
        self._untold = {}
        return self._being_told

    def settle(self, taken: Taken, level: float, now: float) -> None:
        """The others know: the bucket as all see it, less what was taken here meanwhile."""
        bucket = taken.bucket
        bucket.untold -= taken.count
        bucket.tokens, bucket.at = level - bucket.untold, now

    def _add(self, whose: Hashable, policy: Policy, now: float) -> Bucket:
        if len(self._buckets) >= self._most:
            forgotten, _ = self._buckets.popitem(last=False)
            self._untold.pop(forgotten, None)
        bucket = self._buckets[whose] = Bucket(policy, float(policy.burst), now)
        return bucket

    def _share(self, whose: Hashable, bucket: Bucket, hurry: Callable[[], None]) -> bool:
        """Note that one more is taken, unless this process has given its share and not been heard."""
        share = bucket.policy.per_second / PROCESSES
        if bucket.untold and bucket.untold + 1 > share:
            return False
        bucket.untold += 1
        self._untold[whose] = bucket
        if bucket.untold * 2 >= share or bucket.untold * 2 * PROCESSES >= bucket.policy.burst:
            hurry()
        return True


def _refill(bucket: Bucket, policy: Policy, now: float) -> float:
    bucket.policy = policy
    if now > bucket.at:
        bucket.tokens += (now - bucket.at) * policy.per_second
        bucket.at = now
    if bucket.tokens > policy.burst:
        bucket.tokens = float(policy.burst)
    return bucket.tokens
