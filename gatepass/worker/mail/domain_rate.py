"""The pace of each recipient domain. Large providers refuse who sends too much at once.

A domain has tokens that come back at a steady rate. A letter without a token is put off, each to a moment of its own,
so that the letters of one domain come back one after another and wait in the database, not in this process.
"""

from collections.abc import Callable
from typing import Final

# Domains in memory. Beyond that, those that are not waited for are forgotten: their tokens are full anyway.
MOST_DOMAINS: Final = 10_000


class _Domain:
    __slots__ = ("at", "later", "tokens")

    def __init__(self, tokens: float, now: float) -> None:
        self.tokens = tokens
        self.at = now
        self.later = now


class DomainRate:
    def __init__(self, per_second: float, monotonic: Callable[[], float]) -> None:
        self._rate = per_second
        self._monotonic = monotonic
        self._domains: dict[str, _Domain] = {}

    def wait(self, domain: str, *, put_off_before: bool) -> float:
        """Seconds that a letter to this domain must wait; 0 takes a token.

        A new letter does not overtake those that were put off.
        """
        now = self._monotonic()
        found = self._domains.get(domain)
        if found is None:
            self._forget_idle(now)
            found = self._domains[domain] = _Domain(self._rate, now)
        found.tokens = min(self._rate, found.tokens + (now - found.at) * self._rate)
        found.at = now
        if found.tokens >= 1 and (put_off_before or found.later <= now):
            found.tokens -= 1
            return 0.0
        # A second from now at the earliest: what is due sooner can be sent when its token is there.
        found.later = max(found.later, now + 1) + 1 / self._rate
        return found.later - now

    def _forget_idle(self, now: float) -> None:
        if len(self._domains) >= MOST_DOMAINS:
            self._domains = {name: one for name, one in self._domains.items() if one.later > now or now - one.at < 1}
