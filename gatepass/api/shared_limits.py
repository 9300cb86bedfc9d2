"""Rate limits shared between processes, through Valkey or Redis, in the background.

A call takes from the bucket in this process and waits for nothing. Twenty times a second, and sooner when a share is
half used up, the process reports the taken tokens and learns the level of each bucket for all processes together.

Valkey holds no truth. While it is away, each process continues with its own buckets, and `gatepass_limits_shared` is 0.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from gatepass.api.metrics import Metrics
from gatepass.base.log import logger
from gatepass.base.tls import tls_fault
from gatepass.domain.limits import Buckets, Taken

if TYPE_CHECKING:
    from redis.asyncio import Redis

# Half of `limits.LATE`: a caller that keeps to its rate loses tokens that are reported later than that.
EVERY: Final = 0.05
# Each report costs a round trip; at this distance one report serves many keys.
APART: Final = 0.002
# The interval at which a server that returns, or one that goes away while there are no calls, is noticed.
AGAIN: Final = 0.25
# At a key's full rate a process uses up its share in half of this time, then refuses until a report succeeds or fails.
TIMEOUT: Final = 0.5
# A script blocks all other processes; this many buckets take about a millisecond.
BATCH: Final = 200

# The buckets of all processes: refill, subtract the taken tokens, return the level. The clock is Valkey's own.
# A name that has expired is a full bucket.
SETTLE: Final = """
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local levels = {}
for i, name in ipairs(KEYS) do
  local rate, burst, taken = tonumber(ARGV[3 * i - 2]), tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i])
  local known = redis.call('HMGET', name, 'level', 'at')
  local level = burst
  if known[1] then
    level = math.min(burst, tonumber(known[1]) + math.max(0, now - tonumber(known[2])) * rate)
  end
  level = level - taken
  levels[i] = string.format('%.6f', level)
  redis.call('HSET', name, 'level', levels[i], 'at', string.format('%.6f', now))
  redis.call('PEXPIRE', name, math.ceil((burst - level) / rate * 1000))
end
return levels
"""

log = logger(__name__)


class SharedLimits:
    def __init__(self, url: str, buckets: Buckets, metrics: Metrics, monotonic: Callable[[], float]) -> None:
        self._valkey = _client(url)
        self._settle_there = self._valkey.register_script(SETTLE)
        self._buckets = buckets
        self._metrics = metrics
        metrics.registry.register(metrics.limits_shared)
        self._monotonic = monotonic
        self._shared: bool | None = None
        self._tls_fault: str | None = None
        self._heard_at = float("-inf")
        self._hurry = asyncio.Event()
        self._closing = False
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        """From the first call on, this process gives no more than its share, until it knows that Valkey is away."""
        self._buckets.share(self._hurry.set)
        self._task = asyncio.create_task(self._keep_settling())

    async def close(self) -> None:
        """Report the remaining tokens, then stop."""
        self._closing = True
        self._hurry.set()
        if self._task is not None:
            await self._task
        await self._valkey.aclose()

    async def _keep_settling(self) -> None:
        while True:
            last = self._closing
            try:
                async with asyncio.timeout(TIMEOUT):
                    await self._settle()
                self._share()
            except Exception as error:  # noqa: BLE001  on any error: shares that are not renewed would refuse all calls
                self._keep_alone(error)
            if last:
                return
            await self._pause()

    async def _settle(self) -> None:
        taken = self._buckets.report()
        if not taken and self._monotonic() - self._heard_at >= AGAIN:
            await self._valkey.ping()
            self._heard_at = self._monotonic()
        for first in range(0, len(taken), BATCH):
            await self._settle_some(taken[first : first + BATCH])

    async def _settle_some(self, taken: list[Taken]) -> None:
        levels = await self._settle_there(
            keys=[_name(one) for one in taken],
            args=[x for one in taken for x in (one.policy.per_second, one.policy.shared_burst(), one.count)],
        )
        self._heard_at = now = self._monotonic()
        for one, level in zip(taken, levels, strict=True):
            self._buckets.settle(one, float(level), now)

    def _share(self) -> None:
        if not self._shared:
            self._shared = True
            self._buckets.share(self._hurry.set)
            self._metrics.limits_shared.set(1)
            log.info("rate limits are shared")

    def _keep_alone(self, error: Exception) -> None:
        """A lost answer may have followed a completed script, so nothing is reported again."""
        self._buckets.unshare()
        self._heard_at = float("-inf")
        fault = tls_fault(error)
        if self._shared is not False or fault not in (None, self._tls_fault):
            self._shared = False
            self._tls_fault = fault
            self._metrics.limits_shared.set(0)
            log.warning("rate limits are not shared", error=type(error).__name__, reason=fault)

    async def _pause(self) -> None:
        await asyncio.sleep(APART)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(EVERY if self._shared else AGAIN):
                await self._hurry.wait()
        self._hurry.clear()


def _client(url: str) -> "Redis":
    """There are no retries: a report that is sent twice would be counted twice."""
    # A process without shared limits does not wait for this, nor have it in memory.
    from redis.asyncio import Redis  # noqa: PLC0415
    from redis.asyncio.retry import Retry  # noqa: PLC0415
    from redis.backoff import NoBackoff  # noqa: PLC0415

    try:
        return Redis.from_url(
            url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT, retry=Retry(NoBackoff(), 0), protocol=2
        )
    except ValueError:
        # The library's own message may contain a part of the password.
        raise ValueError("GATEPASS_VALKEY_URL is not a URL like redis://host:6379/0") from None


def _name(taken: Taken) -> str:
    """The id of the key and the name of its bucket, never the key itself."""
    owner = taken.owner if isinstance(taken.owner, tuple) else (taken.owner,)
    return "gatepass:limit:" + ":".join(map(str, owner))
