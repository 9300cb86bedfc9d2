"""The rate of a key, as the operator sets it. Processes that have the key cached notice it within a minute of use."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import security_log
from gatepass.domain.keys.issuance import KeyNotFound
from gatepass.domain.keys.key import Mode
from gatepass.domain.keys.listing import rate_in_force

# More than one process serves, and a burst that a bucket of floats counts exactly.
MOST_PER_SECOND: Final = 100_000
MOST_BURST: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class KeyRate:
    """The own rate of a key; None where the default of its mode applies."""

    organization_id: UUID
    id: UUID
    rate_per_second: int | None
    burst: int | None


@dataclass(frozen=True, slots=True)
class KeyOfOperator:
    """A key that the operator names by its id alone."""

    organization_id: UUID
    id: UUID
    name: str
    mode: Mode
    rate_per_second: int | None
    burst: int | None

    def rate(self) -> tuple[int, int]:
        """Calls per second, and the burst, that are in force."""
        return rate_in_force(self.mode, self.rate_per_second, self.burst)


async def key_of_operator(tx: Tx, key_id: UUID) -> KeyOfOperator:
    found = await tx.one(KeyOfOperator, OF_OPERATOR, key_id)
    if found is None:
        raise KeyNotFound
    return found


async def choose_rate(
    tx: Tx, key: KeyOfOperator, per_second: int | None, burst: int | None, *, by: str, at: datetime
) -> None:
    """Give a key its own rate; with None that of its mode."""
    await tx.run(CHOOSE, key.organization_id, key.id, per_second, burst)
    was, becomes = map(_written, (key.rate(), rate_in_force(key.mode, per_second, burst)))
    await security_log.record(
        tx, [key.organization_id], "key", key.id, "rate_chosen", by=by, at=at, was=was, becomes=becomes
    )


async def rates_of(tx: Tx, keys: Collection[tuple[UUID, UUID]]) -> list[KeyRate]:
    """The own rates of these keys, each named by its organization and id."""
    return await tx.all(KeyRate, RATES_OF, [organization_id for organization_id, _ in keys], [id for _, id in keys])


def _written(rate: tuple[int, int]) -> str:
    return "{} a second, burst {}".format(*rate)


OF_OPERATOR: Final = """
    -- every organization: the operator names a key by its id
    SELECT organization_id, id, name, mode, rate_per_second, burst
      FROM api_key
     WHERE id = $1
       FOR NO KEY UPDATE
"""

CHOOSE: Final = """
    UPDATE api_key
       SET rate_per_second = $3, burst = $4
     WHERE organization_id = $1
       AND id = $2
"""

RATES_OF: Final = """
    SELECT k.organization_id, k.id, k.rate_per_second, k.burst
      FROM unnest($1::uuid[], $2::uuid[]) u (organization_id, id)
      JOIN api_key k ON k.organization_id = u.organization_id AND k.id = u.id
"""
