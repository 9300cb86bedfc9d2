"""Rate limits: a token bucket per key, with one of its own for scans, so that reads never starve a gate.

Pure; the clock is an argument, in seconds that only go forward.
"""

import math
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

from gatepass.base.refusals import Refusal

# More than the keys that one process meets in a busy minute; the least recently used is forgotten, which refills it.
MOST_BUCKETS: Final = 50_000


# Who waits exactly as long as told may find a token short by the last bit of a float.
ROUNDING: Final = 1e-9


class RateLimited(Refusal):
    """Too many calls with this API key. Slow down and try again."""

    code = "rate_limited"


class TooManyFailures(RateLimited):
    """Too many calls without a valid API key from this address."""


@dataclass(frozen=True, slots=True)
class Policy:
    name: str
    per_second: float
    burst: int

    def header(self) -> str:
        """`RateLimit-Policy`, as in draft 11 of the IETF: a quota and the seconds in which it refills."""
        return f'"{self.name}";q={self.burst};w={math.ceil(self.burst / self.per_second)}'


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a bucket stands after a call."""

    policy: Policy
    allowed: bool
    tokens: float

    def header(self) -> str:
        """`RateLimit`: what is left, and in how many seconds the bucket is full again."""
        refill = math.ceil((self.policy.burst - self.tokens) / self.policy.per_second)
        return f'"{self.policy.name}";r={math.floor(self.tokens)};t={refill}'

    def retry_after(self) -> int:
        return max(1, math.ceil((1 - self.tokens) / self.policy.per_second))


class Buckets:
    """As many buckets as there are callers, up to a bound."""

    def __init__(self, most: int = MOST_BUCKETS) -> None:
        self._most = most
        self._levels: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def take(self, whose: Hashable, policy: Policy, now: float) -> Standing:
        """Take one token, if there is one."""
        tokens = self._level(whose, policy, now)
        allowed = tokens >= 1 - ROUNDING
        if allowed:
            tokens = max(0.0, tokens - 1)
        self._levels[whose] = (tokens, now)
        self._levels.move_to_end(whose)
        if len(self._levels) > self._most:
            self._levels.popitem(last=False)
        return Standing(policy, allowed, tokens)

    def _level(self, whose: Hashable, policy: Policy, now: float) -> float:
        tokens, then = self._levels.get(whose, (float(policy.burst), now))
        return min(float(policy.burst), tokens + max(0.0, now - then) * policy.per_second)
