"""Authentication: from an Authorization header to a Caller, or a refusal.

Every call asks the database, so that a revoked key is refused by the very next request to any process.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Network, IPv6Address, IPv6Network
from typing import Final
from uuid import UUID

from gatepass.base.address import Address
from gatepass.base.database import Tx
from gatepass.domain.keys.key import Caller, InvalidKey, Mode, digest, is_well_formed, mode_of

BEARER: Final = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] (\S+)")


class DeadKey(InvalidKey):
    """The API key is missing, invalid or revoked."""

    def __init__(self, caller: Caller) -> None:
        super().__init__()
        self.caller = caller


def shown_key(authorization: str | None) -> str:
    """The key in the header. What cannot be a key is refused here, without a query."""
    found = BEARER.fullmatch(authorization or "")
    if found is None or not is_well_formed(found[1]):
        raise InvalidKey
    return found[1]


async def authenticate(tx: Tx, key: str, address: Address | None, *, at: datetime) -> Caller:
    """Who this key belongs to. A key that we know but no longer take raises DeadKey, which says whose it was."""
    row = await tx.one(_KeyRow, BY_HASH, digest(key))
    if row is None or row.mode is not mode_of(key):
        raise InvalidKey
    caller = Caller(
        row.organization_id,
        row.id,
        row.mode,
        frozenset(row.scopes),
        row.rate_per_second,
        row.burst,
        tuple(row.allowed_networks or ()),
    )
    if row.revoked_at is not None or (row.expires_at is not None and row.expires_at <= at):
        raise DeadKey(caller)
    require_address(caller, address)
    return caller


def require_address(caller: Caller, address: Address | None) -> None:
    if caller.allowed_networks and not _within(address, caller.allowed_networks):
        raise DeadKey(caller)


def _within(address: Address | None, networks: tuple[IPv4Network | IPv6Network, ...]) -> bool:
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address is not None and any(address in network for network in networks)


@dataclass(frozen=True, slots=True)
class _KeyRow:
    organization_id: UUID
    id: UUID
    mode: Mode
    scopes: list[str]
    rate_per_second: int | None
    burst: int | None
    allowed_networks: list[IPv4Network | IPv6Network] | None
    expires_at: datetime | None
    revoked_at: datetime | None


BY_HASH: Final = """
    -- every organization: the key is what tells us which one
    SELECT organization_id, id, mode, scopes, rate_per_second, burst, allowed_networks, expires_at, revoked_at
      FROM api_key
     WHERE hash = $1
"""
