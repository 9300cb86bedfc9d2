"""Rate limits of card pages: by address, by link, and for links that do not exist.

256 random bits are not guessed; the last limit bounds what trying costs us. Thousands of phones may share one address,
in a venue's network or a carrier's. So an address that tried too many unknown links is only refused links that this
process has not seen: one person who guesses does not keep the others from their cards. A link is counted for each
network on its own: who has a forwarded link and opens it without end does not keep its holder from the page.
"""

import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import StrEnum
from typing import Final

from gatepass.base.bounded_cache import BoundedCache
from gatepass.base.client_ip import Address, network_of
from gatepass.domain.limits import Buckets, Policy, RateLimited

# A venue of 10,000 phones behind one address, of which all poll each 15 seconds, asks 667 times a second, of all
# processes together.
BY_ADDRESS: Final = Policy("card-page-address", per_second=400, burst=4_000)
# A page asks once in 15 seconds, and at each scan; a person reloads it, on two phones.
BY_LINK: Final = Policy("card-page-link", per_second=1, burst=60)
# Looks for one link at the same moment. Each holds a connection to the database, and a crowd that opens one link must
# not keep others waiting for it. A browser that loads a page makes up to 6 requests at a time.
MOST_AT_ONCE: Final = 16
UNKNOWN: Final = Policy("card-page-unknown", per_second=0.2, burst=20)
# Links that were found here lately; about 10 MB.
MOST_SEEN: Final = 50_000


class TooManyVisits(RateLimited):
    """This page was opened too often. Wait a moment and try again."""


class TooManyGuesses(RateLimited):
    """Too many links that do not exist were tried from this network. Wait a minute and try again."""


class Limit(StrEnum):
    """What was limited, for the metric."""

    ADDRESS = "address"
    LINK = "link"
    UNKNOWN = "unknown"
    STREAMS = "streams"


class VisitLimits:
    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._addresses = Buckets()
        self._links = Buckets()
        self._guesses = Buckets()
        self._being_looked_up: Counter[bytes] = Counter()
        self._seen: BoundedCache[bytes, None] = BoundedCache(MOST_SEEN)
        # Networks that tried too many unknown links, and until when.
        self._guessers: BoundedCache[str, float] = BoundedCache(MOST_SEEN)

    def visit(self, address: Address | None, secret_hash: bytes) -> Limit | None:
        """Count a visit, before anything is looked up. What it exceeds, if it must be refused."""
        network, now = _network(address), self._monotonic()
        if not self._addresses.take(network, BY_ADDRESS, now).allowed:
            return Limit.ADDRESS
        if (
            not self._links.take((secret_hash, network), BY_LINK, now).allowed
            or self._being_looked_up[secret_hash] >= MOST_AT_ONCE
        ):
            return Limit.LINK
        is_guess = secret_hash not in self._seen and self._guessers.get(network, 0.0) > now
        return Limit.UNKNOWN if is_guess else None

    @contextmanager
    def looking_up(self, secret_hash: bytes) -> Generator[None]:
        """For as long as the database is asked for this link."""
        self._being_looked_up[secret_hash] += 1
        try:
            yield
        finally:
            self._being_looked_up[secret_hash] -= 1
            if not self._being_looked_up[secret_hash]:
                del self._being_looked_up[secret_hash]

    def found(self, secret_hash: bytes) -> None:
        self._seen[secret_hash] = None

    def unknown(self, address: Address | None) -> None:
        """Count a link that does not exist. After too many, this network waits for a new token."""
        network, now = _network(address), self._monotonic()
        standing = self._guesses.take(network, UNKNOWN, now)
        if standing.tokens < 1:
            self._guessers[network] = now + standing.retry_after()


REFUSALS: Final = {
    Limit.ADDRESS: TooManyVisits,
    Limit.LINK: TooManyVisits,
    Limit.UNKNOWN: TooManyGuesses,
    Limit.STREAMS: TooManyVisits,
}
RETRY_AFTER: Final = {Limit.ADDRESS: 1, Limit.LINK: 1, Limit.UNKNOWN: 5, Limit.STREAMS: 15}


def refusal(limit: Limit) -> RateLimited:
    refused = REFUSALS[limit]()
    refused.retry_after = RETRY_AFTER[limit]
    return refused


def _network(address: Address | None) -> str:
    return network_of(address) if address is not None else ""
