"""Keys as their organization sees them: everything but the key itself. Those of devices are seen with their device."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.paging import END, Place
from gatepass.base.wire_constants import LIVE_KEY_PREFIX, SANDBOX_KEY_PREFIX
from gatepass.domain.keys.authentication import Address
from gatepass.domain.keys.issuance import KeyNotFound
from gatepass.domain.keys.key import RATES, Mode

# A key that expires within this time has the status `expiring`: long enough to rotate it in working hours.
SOON: Final = timedelta(days=7)
# A key that was not used for this long is probably not needed.
UNUSED: Final = timedelta(days=90)
# A page with a filter reads at most this many keys, however few of them match.
LOOKED_THROUGH: Final = 5_000
# More than a person makes; the rest comes when these are revoked.
MOST_MADE_BY: Final = 200


class KeyStatus(StrEnum):
    ACTIVE = "active"
    EXPIRING = "expiring"
    EXPIRED = "expired"
    REVOKED = "revoked"


class KeyFilter(StrEnum):
    """Which keys a list shows."""

    USABLE = "usable"
    UNUSED = "unused"
    ENDED = "ended"
    ALL = "all"


def rate_in_force(mode: Mode, per_second: int | None, burst: int | None) -> tuple[int, int]:
    """Calls per second and burst: a key's own, where the operator has granted one, else those of its mode."""
    default = RATES[mode]
    return per_second or default[0], burst or default[1]


@dataclass(frozen=True, slots=True)
class Key:
    id: UUID
    mode: Mode
    name: str
    last_four: str
    scopes: list[str]
    allowed_networks: list[IPv4Network | IPv6Network] | None
    rate_per_second: int | None
    burst: int | None
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    revoked_at: datetime | None
    revoked_by: str | None
    last_used_at: datetime | None
    last_used_from: Address | None

    @property
    def masked(self) -> str:
        """The part of the key that may be shown, to tell keys apart."""
        return f"{LIVE_KEY_PREFIX if self.mode is Mode.LIVE else SANDBOX_KEY_PREFIX}…{self.last_four}"

    @property
    def rate(self) -> tuple[int, int]:
        return rate_in_force(self.mode, self.rate_per_second, self.burst)

    def status(self, at: datetime) -> KeyStatus:
        if self.revoked_at is not None:
            return KeyStatus.REVOKED
        if self.expires_at is None or self.expires_at > at + SOON:
            return KeyStatus.ACTIVE
        return KeyStatus.EXPIRING if self.expires_at > at else KeyStatus.EXPIRED

    def is_usable(self, at: datetime) -> bool:
        return self.status(at) in (KeyStatus.ACTIVE, KeyStatus.EXPIRING)

    def is_unused(self, at: datetime) -> bool:
        return self.is_usable(at) and (self.last_used_at or self.created_at) < at - UNUSED


@dataclass(frozen=True, slots=True)
class KeyName:
    id: UUID
    mode: Mode
    name: str
    last_four: str


async def keys_of(
    tx: Tx,
    organization_id: UUID,
    mode: Mode,
    *,
    shown: KeyFilter = KeyFilter.ALL,
    at: datetime,
    after: Place | None = None,
    limit: int,
) -> tuple[list[Key], Place | None]:
    """Keys, newest first, and where the next page begins. With a filter a page may be short and not the last."""
    place = after or END
    here = (organization_id, mode, place.at, place.id)
    found = await tx.all(Key, PAGE, *here, shown, at, at - UNUSED, LOOKED_THROUGH, limit + 1)
    if len(found) > limit:
        return found[:limit], Place(found[limit - 1].created_at, found[limit - 1].id)
    if shown is KeyFilter.ALL:
        return found, None
    return found, await tx.one(Place, LAST_LOOKED_AT, *here, LOOKED_THROUGH - 1)


async def find_key(tx: Tx, organization_id: UUID, mode: Mode, key_id: UUID) -> Key:
    found = await tx.one(Key, FIND, organization_id, mode, key_id)
    if found is None:
        raise KeyNotFound
    return found


async def lock_key(tx: Tx, organization_id: UUID, mode: Mode, key_id: UUID) -> Key:
    """The key, locked against changes until this transaction ends. API calls with it do not wait."""
    found = await tx.one(Key, LOCK, organization_id, mode, key_id)
    if found is None:
        raise KeyNotFound
    return found


async def keys_made_by(tx: Tx, organization_id: UUID, person_id: UUID, *, at: datetime) -> list[Key]:
    """The keys that this person made, in either mode, and that still work: the newest first."""
    return await tx.all(Key, MADE_BY, organization_id, f"person {person_id}", at, MOST_MADE_BY)


async def names_of(tx: Tx, organization_id: UUID, key_ids: Iterable[UUID]) -> dict[UUID, KeyName]:
    """The names of these keys, in either mode."""
    found = await tx.all(KeyName, NAMES, organization_id, list(set(key_ids)))
    return {key.id: key for key in found}


# The four statements are joined of this constant, never of values. While its organization is suspended, a key keeps its
# own expiry in `resumed_expires_at`.
EXPIRES_AT: Final = """
           CASE WHEN resumed_expires_at IS NULL THEN expires_at ELSE nullif(resumed_expires_at, 'infinity') END"""

PAGE: Final = (
    """
    SELECT *
      FROM (SELECT k.id, k.mode, k.name, k.last_four, k.scopes, k.allowed_networks, k.rate_per_second, k.burst,
                   k.created_at, k.created_by, """
    + EXPIRES_AT
    + """ AS expires_at, k.revoked_at, k.revoked_by, k.last_used_at,
                   k.last_used_from, k.revoked_at IS NOT NULL OR coalesce("""
    + EXPIRES_AT
    + """ <= $6, false) AS ended
              FROM api_key k
             WHERE k.organization_id = $1
               AND k.mode = $2
               AND k.device_id IS NULL
               AND (k.created_at, k.id) < ($3, $4)
             ORDER BY k.created_at DESC, k.id DESC
             LIMIT $8) looked
     WHERE CASE $5
           WHEN 'usable' THEN NOT looked.ended
           WHEN 'unused' THEN NOT looked.ended AND coalesce(looked.last_used_at, looked.created_at) < $7
           WHEN 'ended' THEN looked.ended
           ELSE true
           END
     ORDER BY looked.created_at DESC, looked.id DESC
     LIMIT $9
"""
)

LAST_LOOKED_AT: Final = """
    SELECT k.created_at AS at, k.id
      FROM api_key k
     WHERE k.organization_id = $1
       AND k.mode = $2
       AND k.device_id IS NULL
       AND (k.created_at, k.id) < ($3, $4)
     ORDER BY k.created_at DESC, k.id DESC
    OFFSET $5
     LIMIT 1
"""

FIND: Final = (
    """
    SELECT id, mode, name, last_four, scopes, allowed_networks, rate_per_second, burst, created_at, created_by,
           """
    + EXPIRES_AT
    + """ AS expires_at, revoked_at, revoked_by, last_used_at, last_used_from
      FROM api_key
     WHERE organization_id = $1
       AND mode = $2
       AND id = $3
       AND device_id IS NULL
"""
)

LOCK: Final = (
    """
    SELECT id, mode, name, last_four, scopes, allowed_networks, rate_per_second, burst, created_at, created_by,
           """
    + EXPIRES_AT
    + """ AS expires_at, revoked_at, revoked_by, last_used_at, last_used_from
      FROM api_key
     WHERE organization_id = $1
       AND mode = $2
       AND id = $3
       AND device_id IS NULL
       FOR NO KEY UPDATE
"""
)

MADE_BY: Final = (
    """
    SELECT id, mode, name, last_four, scopes, allowed_networks, rate_per_second, burst, created_at, created_by,
           """
    + EXPIRES_AT
    + """ AS expires_at, revoked_at, revoked_by, last_used_at, last_used_from
      FROM api_key
     WHERE organization_id = $1
       AND created_by = $2
       AND device_id IS NULL
       AND revoked_at IS NULL
       AND coalesce("""
    + EXPIRES_AT
    + """ > $3, true)
     ORDER BY created_at DESC, id DESC
     LIMIT $4
"""
)

NAMES: Final = """
    SELECT id, mode, name, last_four
      FROM api_key
     WHERE organization_id = $1
       AND id = ANY ($2)
"""
