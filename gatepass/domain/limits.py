"""Rate limits: a token bucket per key, with one of its own for scans, so that reads never starve a gate.

Pure; the clock is an argument, in seconds that only go forward. One process alone keeps a bucket exactly. Several
processes share one by reporting at intervals. Until its report is settled, a process grants no more than its share, so
that together they overdraw a bucket only a little.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

import msgspec

from gatepass.base.errors import Refusal

# More than the keys that one process sees in a busy minute. The least recently used is dropped, which refills it.
MOST_BUCKETS: Final = 50_000

# After exactly the wait that `Retry-After` names, rounding may leave a token short by the last bits of a float.
ROUNDING: Final = 1e-6

# With 4 processes, ten seconds admit at most 110 % of the rate and one burst. Each grants at most the tokens of a
# quarter of a second before the others know of them, and three may do so after the fourth took the last token.
PROCESSES: Final = 4
# Seconds between a call and its report. Tokens that flow into a full bucket in between must not be lost, or a key with
# a small burst would be refused at its own rate. They come from the same 10 % as the shares.
LATE: Final = 0.1


class RateLimited(Refusal):
    """Too many calls with this API key. Slow down and try again."""

    code = "rate_limited"


class TooManyFailures(RateLimited):
    """Too many calls without a valid API key from this address."""


# These two are created on every call: a struct costs a tenth of a frozen dataclass.
class Policy(msgspec.Struct, frozen=True):
    name: str
    per_second: float
    burst: int

    def header(self) -> str:
        """`RateLimit-Policy`, as in draft 11 of the IETF: a quota and the seconds in which it refills."""
        return f'"{self.name}";q={self.burst};w={math.ceil(self.burst / self.per_second)}'

    def shared_burst(self) -> float:
        """The size of a shared bucket. It is less for a very slow key, because no process grants half a call."""
        late = LATE * self.per_second
        overdrawn = (PROCESSES - 1) * max(1.0, self.per_second / PROCESSES)
        return max(1.0, self.burst + late - max(0.0, overdrawn + late - self.per_second))


class Standing(msgspec.Struct, frozen=True):
    """A bucket after a call. Tokens may be negative, if several processes granted them at once."""

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
    # Tokens taken here that are not settled with the other processes.
    unreported: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """Tokens taken from a bucket, for the report to the other processes."""

    owner: Hashable
    policy: Policy
    bucket: Bucket
    count: int


class Buckets:
    """As many buckets as there are callers, up to a bound."""

    def __init__(self, most: int = MOST_BUCKETS) -> None:
        self._most = most
        self._buckets: OrderedDict[Hashable, Bucket] = OrderedDict()
        self._unreported: dict[Hashable, Bucket] = {}
        self._reporting: list[Taken] = []
        self._hurry: Callable[[], None] | None = None

    def take(self, owner: Hashable, policy: Policy, now: float) -> Standing:
        """Take one token, if there is one and this process may grant it."""
        bucket = self._buckets.get(owner)
        if bucket is None:
            bucket = self._add(owner, policy, now)
        else:
            self._buckets.move_to_end(owner)
        tokens = _refill(bucket, policy, now)
        if tokens < 1 - ROUNDING:
            return Standing(policy, False, tokens)
        if self._hurry is not None and not self._share(owner, bucket, self._hurry):
            return Standing(policy, False, 0.0)
        bucket.tokens = tokens = tokens - 1 if tokens > 1 else 0.0
        return Standing(policy, True, tokens)

    def share(self, hurry: Callable[[], None]) -> None:
        """Share from now on. `hurry` is called when a share, or a quarter of a burst, is half used."""
        self._hurry = hurry

    def unshare(self) -> None:
        """Stop sharing: each bucket continues alone. Unsettled tokens are dropped, so that none is reported twice."""
        for taken in self._reporting:
            taken.bucket.unreported = 0
        for bucket in self._unreported.values():
            bucket.unreported = 0
        self._unreported, self._reporting, self._hurry = {}, [], None

    def report(self) -> list[Taken]:
        """All tokens that are not reported yet. Settle each, or call `unshare`, before the next report."""
        self._reporting = [
            Taken(owner, bucket.policy, bucket, bucket.unreported) for owner, bucket in self._unreported.items()
        ]
        self._unreported = {}
        return self._reporting

    def settle(self, taken: Taken, level: float, now: float) -> None:
        """Set a bucket to its shared level, less the tokens that were taken here since the report."""
        bucket = taken.bucket
        bucket.unreported -= taken.count
        bucket.tokens, bucket.at = level - bucket.unreported, now

    def _add(self, owner: Hashable, policy: Policy, now: float) -> Bucket:
        if len(self._buckets) >= self._most:
            dropped, _ = self._buckets.popitem(last=False)
            self._unreported.pop(dropped, None)
        bucket = self._buckets[owner] = Bucket(policy, float(policy.burst), now)
        return bucket

    def _share(self, owner: Hashable, bucket: Bucket, hurry: Callable[[], None]) -> bool:
        """Count one more token, unless this process has granted its share and its report is not settled."""
        share = bucket.policy.per_second / PROCESSES
        if bucket.unreported and bucket.unreported + 1 > share:
            return False
        bucket.unreported += 1
        self._unreported[owner] = bucket
        if bucket.unreported * 2 >= share or bucket.unreported * 2 * PROCESSES >= bucket.policy.burst:
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
