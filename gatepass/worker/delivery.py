"""The attempt of a claimed delivery: sign, send, decide. No transaction is open during it."""

import random
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from gatepass.base.bounded_cache import BoundedCache
from gatepass.base.clock import Clock
from gatepass.base.encryption import Vault, VaultLocked
from gatepass.domain import webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import signature
from gatepass.domain.webhooks.queue import Attempt, Claimed, Health, Result, State
from gatepass.domain.webhooks.schedule import LONGEST_RETRY_AFTER, again_in
from gatepass.domain.webhooks.signature import Secrets

GONE: Final = 410
# Statuses by which a receiver asks for fewer requests.
BACKPRESSURE: Final = frozenset({429, 503})
OVERLOAD_ERRORS: Final = frozenset({"timeout", "connection_lost", "connect_failed"})
# Errors without an attempt: the body is past its retention, or no encryption key decrypts the secret.
EXPIRED: Final = "expired"
SECRET_LOCKED: Final = "secret_locked"  # noqa: S105  a code
# Decrypted secrets in memory.
MOST_SECRETS: Final = 10_000


class Sends(Protocol):
    async def send(self, url: str, headers: Callable[[], dict[str, str]], body: bytes) -> Attempt: ...


class Deliverer:
    """Makes the attempts of this process."""

    def __init__(self, sender: Sends, vault: Vault, clock: Clock) -> None:
        self._sender = sender
        self._vault = vault
        self._clock = clock
        self._opened: BoundedCache[bytes, str] = BoundedCache(MOST_SECRETS)

    async def attempt(self, claimed: Claimed) -> Result:
        return decided(claimed, await self._send(claimed), random.random())  # noqa: S311  not a secret

    async def _send(self, claimed: Claimed) -> Attempt:
        body = claimed.body
        if body is None:
            return self._not_attempted(EXPIRED)
        try:
            secrets = self._secrets(claimed, self._clock())
        except VaultLocked:
            return self._not_attempted(SECRET_LOCKED)
        return await self._sender.send(claimed.url, lambda: self._headers(claimed, secrets, body), body)

    def _headers(self, claimed: Claimed, secrets: Secrets, body: bytes) -> dict[str, str]:
        return signature.headers(
            secrets,
            body,
            event_id=claimed.event_id,
            type=claimed.type,
            delivery_id=claimed.delivery_id,
            attempt=claimed.attempt,
            replayed=claimed.is_replay,
            at=self._clock(),
        )

    def _secrets(self, claimed: Claimed, at: datetime) -> Secrets:
        signing, other = signature.chosen(
            claimed.sealed_secret,
            claimed.sealed_new_secret,
            switches_at=claimed.switches_at,
            retires_at=claimed.retires_at,
            at=at,
        )
        return Secrets(self._open(claimed, signing), None if other is None else self._open(claimed, other))

    def _open(self, claimed: Claimed, sealed: bytes) -> str:
        found = self._opened.get(sealed)
        if found is None:
            context = webhooks.secret_context(claimed.organization_id, claimed.endpoint_id)
            found = self._opened[sealed] = self._vault.open(sealed, context).decode()
        return found

    def _not_attempted(self, error: str) -> Attempt:
        return Attempt(
            at=self._clock(), status=None, error=error, address=None, dns_ms=None, connect_ms=None, answer_ms=None,
            total_ms=0, answer_head=None, retry_after=None,
        )  # fmt: skip


def decided(claimed: Claimed, attempt: Attempt, dice: float) -> Result:
    """The result: delivered, to be tried again, or failed."""
    if attempt.succeeded:
        return Result(claimed, attempt, State.DELIVERED)
    if attempt.error == EXPIRED:
        return Result(claimed, attempt, State.FAILED)
    again = again_in(claimed.attempt, Mode(claimed.mode), dice, attempt.retry_after)
    if attempt.status == GONE and again is None:  # the endpoint is paused, and this delivery is held like the others
        again = 0.0
    return Result(claimed, attempt, State.FAILED if again is None else State.PENDING, again)


def strains(attempt: Attempt) -> bool:
    """Whether the receiver could not keep up."""
    return attempt.error in OVERLOAD_ERRORS or attempt.status in BACKPRESSURE


def healths(results: Iterable[Result], known_failing: set[UUID]) -> list[Health]:
    """The health of the endpoints of these results, without those that are healthy and were so before."""
    by_endpoint: dict[UUID, list[Result]] = {}
    for result in results:
        if result.attempt.error not in (EXPIRED, SECRET_LOCKED):
            by_endpoint.setdefault(result.claimed.endpoint_id, []).append(result)
    found = (_health(alike, known_failing) for alike in by_endpoint.values())
    return [health for health in found if health.failed or health.is_back or health.gone or health.wait]


def _health(alike: list[Result], known_failing: set[UUID]) -> Health:
    """One success is enough to be healthy."""
    claimed = alike[0].claimed
    is_healthy = any(result.state is State.DELIVERED for result in alike)
    was_failing = claimed.endpoint_id in known_failing or any(result.claimed.failures for result in alike)
    waits = (min(r.attempt.retry_after or 0.0, LONGEST_RETRY_AFTER) for r in alike if r.attempt.status in BACKPRESSURE)
    return Health(
        claimed.organization_id,
        claimed.endpoint_id,
        Mode(claimed.mode),
        failed=0 if is_healthy else len(alike),
        is_back=is_healthy and was_failing,
        gone=any(result.attempt.status == GONE for result in alike),
        wait=max(waits, default=0.0),
    )
