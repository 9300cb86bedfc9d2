"""Authentication: from an Authorization header to a Caller, or a refusal.

It reads the database, so that a revoked key is refused from the next request on, by every process.
"""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from ipaddress import IPv4Network, IPv6Network
from typing import Final
from uuid import UUID

from gatepass.base.batcher import map_in_pieces
from gatepass.base.client_ip import Address, is_within
from gatepass.base.database import Tx, shaped
from gatepass.domain.keys.key import (
    Caller,
    DeviceAssignment,
    InvalidKey,
    Mode,
    WrongCell,
    cell_of,
    digest,
    is_well_formed,
    mode_of,
)
from gatepass.domain.organizations import OrganizationSuspended

BEARER: Final = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] (\S+)")


class DeadKey(InvalidKey):
    """The API key is missing, invalid or revoked."""

    def __init__(self, caller: Caller | None = None, reason: str = "revoked") -> None:
        super().__init__(reason)
        self.caller = caller


class RevokedDevice(DeadKey):
    """A person has revoked this device. It must be paired again."""

    code = "device_revoked"


class SuspendedKey(OrganizationSuspended):
    """The organization of this API key is suspended. Ask the operator of this service."""

    def __init__(self, caller: Caller) -> None:
        super().__init__()
        self.caller = caller


def bearer_key(authorization: str | None, cells: Container[str]) -> str:
    """The key in the header. Text that cannot be a key of these cells is refused here, without a query."""
    key = shown_key(authorization)
    if not is_well_formed(key):
        raise InvalidKey("malformed" if authorization else "missing")
    if cell_of(key) not in cells:
        raise WrongCell(cell_of(key))
    return key


def shown_key(authorization: str | None) -> str:
    """What stands in the header as a key, whether it can be one or not; empty, if the header has none."""
    found = BEARER.fullmatch(authorization or "")
    return found[1] if found else ""


async def authenticate(tx: Tx, key: str, address: Address | None, *, at: datetime) -> Caller:
    """The caller with this key. A known key that was revoked or has expired raises DeadKey, which has the caller.

    A key that is valid, but whose organization is suspended, raises SuspendedKey.
    """
    (found,) = await find_all(tx, [key])
    return admit(found, address, at=at)


async def find_all(tx: Tx, keys: Sequence[str]) -> list["KeyRow | None"]:
    """These keys as the database has them, in this order; None for a key that it does not have."""
    hashes = [digest(key) for key in keys]
    rows = {row.hash: row for row in await tx.all(KeyRow, BY_HASHES, hashes)}
    found = [rows.get(hash) for hash in hashes]
    return [row if row and row.mode is mode_of(key) else None for row, key in zip(found, keys, strict=True)]


async def latest_used(tx: Tx, most: int) -> list["KeyRow"]:
    """Keys that are not revoked, those that were used last: what a process reads before it is asked for them."""
    rows = await tx.rows(LATEST_USED, most)
    return await map_in_pieces(partial(shaped, KeyRow), rows)


def admit(row: "KeyRow | None", address: Address | None, *, at: datetime) -> Caller:
    """The caller with this key, if it is valid now and from this address."""
    if row is None:
        raise InvalidKey
    caller = row.caller()
    if row.revoked_at is not None:
        # A device ends by this word alone: whatever else refuses its key may be a fault of ours.
        raise RevokedDevice(caller, "revoked") if caller.device else DeadKey(caller, "revoked")
    if row.expires_at is not None and row.expires_at <= at:
        raise DeadKey(caller, "expired")
    require_address(caller, address)
    if row.suspended:
        raise SuspendedKey(caller)
    return caller


def require_address(caller: Caller, address: Address | None) -> None:
    if caller.allowed_networks and not is_within(address, caller.allowed_networks):
        raise DeadKey(caller, "address")


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key as the database has it."""

    hash: bytes
    organization_id: UUID
    id: UUID
    mode: Mode
    scopes: list[str]
    rate_per_second: int | None
    burst: int | None
    allowed_networks: list[IPv4Network | IPv6Network] | None
    expires_at: datetime | None
    revoked_at: datetime | None
    suspended: bool
    device_id: UUID | None
    event_id: UUID | None
    gate: str | None

    def caller(self) -> Caller:
        return Caller(
            self.organization_id,
            self.id,
            self.mode,
            _scope_set(*self.scopes),
            self.rate_per_second,
            self.burst,
            tuple(self.allowed_networks or ()),
            self._device(),
        )

    def _device(self) -> DeviceAssignment | None:
        if self.device_id is None or self.event_id is None or self.gate is None:
            return None
        return DeviceAssignment(self.device_id, self.event_id, self.gate)


@lru_cache(1024)
def _scope_set(*scopes: str) -> frozenset[str]:
    """Ten thousand keys have a few of these, which would take most of the memory of a caller."""
    return frozenset(scopes)


# Of `api_key k`, with the names of the fields of KeyRow. While its organization is suspended, a key keeps its own
# expiry in `resumed_expires_at`.
COLUMNS: Final = """
           k.hash, k.organization_id, k.id, k.mode, k.scopes, k.rate_per_second, k.burst, k.allowed_networks,
           CASE WHEN k.resumed_expires_at IS NULL THEN k.expires_at
                ELSE nullif(k.resumed_expires_at, 'infinity') END AS expires_at,
           k.revoked_at,
           (SELECT o.suspended_at IS NOT NULL FROM organization o WHERE o.id = k.organization_id) AS suspended,
           k.device_id, k.event_id, k.gate
"""

BY_HASHES: Final = """
    -- every organization: the key determines which one
    SELECT """ + COLUMNS + """
      FROM api_key k
     WHERE k.hash = ANY ($1)
"""  # fmt: skip

LATEST_USED: Final = """
    -- every organization: a process serves all of them
    SELECT """ + COLUMNS + """
      FROM api_key k
     WHERE k.revoked_at IS NULL
     ORDER BY k.last_used_at DESC NULLS LAST
     LIMIT $1
"""  # fmt: skip
