"""Rate limits of pairing: by network, and for codes and requests that do not exist.

A code has 45 random bits and lives for ten minutes, and a person confirms what asks with it. The limit for wrong ones
bounds what trying costs us, and keeps a guess a guess: 20 at once, then one in 5 seconds from a network.
"""

import math
import time
from collections.abc import Callable
from typing import Final

from gatepass.base.bounded_cache import BoundedCache
from gatepass.base.client_ip import Address, network_of
from gatepass.domain.limits import MOST_BUCKETS, Buckets, Policy, RateLimited

# Fifty devices behind one address, each of which asks every two seconds whether it was confirmed, and more.
CALLS: Final = Policy("pairing", per_second=50, burst=300)
WRONG: Final = Policy("pairing-wrong", per_second=0.2, burst=20)


class TooManyPairings(RateLimited):
    """Too many devices ask from this network. Wait a moment and try again."""


class TooManyWrongCodes(RateLimited):
    """Too many codes that do not exist were tried from this network. Wait a minute and try again."""


class PairingLimits:
    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._calls = Buckets()
        self._wrong = Buckets()
        # Networks that tried too many, and until when they wait.
        self._until: BoundedCache[str, float] = BoundedCache(MOST_BUCKETS)

    def count(self, address: Address | None) -> None:
        """Count a call, before anything is looked up. Raises if there are too many, or too many were wrong."""
        network, now = _network(address), self._monotonic()
        standing = self._calls.take(network, CALLS, now)
        if not standing.allowed:
            raise _limited(TooManyPairings(), standing.retry_after())
        until = self._until.get(network, 0.0)
        if until > now:
            raise _limited(TooManyWrongCodes(), math.ceil(until - now))

    def wrong(self, address: Address | None) -> None:
        """Count a code or request that does not exist. After too many, this network waits."""
        network, now = _network(address), self._monotonic()
        standing = self._wrong.take(network, WRONG, now)
        if standing.tokens < 1:
            self._until[network] = now + standing.retry_after()


def _limited(refusal: RateLimited, retry_after: int) -> RateLimited:
    refusal.retry_after = retry_after
    return refusal


def _network(address: Address | None) -> str:
    return network_of(address) if address is not None else ""
