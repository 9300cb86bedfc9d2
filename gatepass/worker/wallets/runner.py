"""The wallet runner: finds passes that have changed, and tells the phones that hold them.

One worker at a time compares, as part of the maintenance; every worker tells phones that are due.
"""

from time import monotonic
from typing import Final

from gatepass.base.clock import Clock
from gatepass.base.database import Database
from gatepass.base.log import logger
from gatepass.base.settings import Settings
from gatepass.domain import wallets
from gatepass.domain.wallets import AppleCertificate, DuePush
from gatepass.worker.metrics import WorkerMetrics
from gatepass.worker.steps import keep_stepping
from gatepass.worker.wallets.apple_push import ApplePush, Outcome, push_tls

# Seconds from the beginning of a walk through all passes to that of the next, at least.
WALK_EVERY: Final = 10.0
IDLE_SECONDS: Final = 2.0

log = logger(__name__)


class PassWalk:
    """A walk through all passes, a batch at a time."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._place: wallets.Place | None = wallets.BEGINNING
        self._begun = float("-inf")

    async def step(self) -> None:
        """The next batch; nothing while the last walk has just ended."""
        now = monotonic()
        if self._place is None and now - self._begun < WALK_EVERY:
            return
        if self._place is None or self._place == wallets.BEGINNING:
            self._place, self._begun = wallets.BEGINNING, now
        async with self._db.autocommit(writes=True) as tx:
            self._place, changed = await wallets.compare_some(tx, self._place, at=self._clock())
        if changed:
            log.info("passes changed", count=changed)


class WalletRunner:
    def __init__(
        self,
        db: Database,
        settings: Settings,
        certificate: AppleCertificate,
        metrics: WorkerMetrics,
        clock: Clock,
    ) -> None:
        self._db = db
        self._metrics = metrics
        self._clock = clock
        self._push = ApplePush(settings.apple_push_url, certificate, push_tls(settings, certificate))
        metrics.wallet_certificate_ends.set(certificate.ends_at.timestamp())

    async def run(self) -> None:
        try:
            await keep_stepping(self._step, IDLE_SECONDS, "wallet step failed")
        finally:
            await self._push.close()

    async def _step(self) -> bool:
        """Tell the phones that have been due longest; return whether there were any."""
        async with self._db.autocommit(writes=True) as tx:
            due = await wallets.claim(tx, at=self._clock())
        if not due:
            return False
        outcomes = await self._push.push_all([push.push_token for push in due])
        for push, (outcome, reason) in zip(due, outcomes, strict=True):
            self._metrics.wallet_pushes.labels(outcome).inc()
            await self._record(push, outcome)
            if outcome in (Outcome.REFUSED, Outcome.FAILED):
                log.warning("push failed", outcome=outcome, reason=reason, organization_id=str(push.organization_id))
        return True

    async def _record(self, push: DuePush, outcome: Outcome) -> None:
        async with self._db.autocommit(writes=True) as tx:
            if outcome is Outcome.TOLD:
                await wallets.told(tx, push)
            elif outcome is Outcome.GONE:
                await wallets.forget(tx, push)
            else:
                await wallets.put_off(tx, push, at=self._clock())
