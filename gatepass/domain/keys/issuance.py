"""Issuing, renaming and revoking keys. A key is shown once, when it is issued; only its hash is stored."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.errors import Refusal
from gatepass.base.ids import new_id
from gatepass.domain import audit_log, security_log
from gatepass.domain.keys.authentication import Address
from gatepass.domain.keys.key import Mode, Scope, digest, make_key
from gatepass.domain.keys.scopes import withheld
from gatepass.domain.organizations import require_not_suspended
from gatepass.domain.staff import MAY, NotPermitted, Permission, Role, role_now

OWNER_NEEDED: Final = "Only an owner makes or rolls a live key with the scope admin. Ask one, or leave admin out."


class KeyNotFound(Refusal):
    """There is no such API key."""

    code = "key_not_found"


@dataclass(frozen=True, slots=True)
class IssuedKey:
    id: UUID
    text: str


async def issue(
    tx: Tx,
    organization_id: UUID,
    name: str,
    mode: Mode,
    scopes: Iterable[str],
    *,
    cell: str,
    by: str,
    at: datetime,
    expires_at: datetime | None = None,
    allowed_networks: Sequence[IPv4Network | IPv6Network] | None = None,
    rate_per_second: int | None = None,
    burst: int | None = None,
) -> IssuedKey:
    """Make a key. If a person makes it, their role of this moment counts, whatever the page has seen."""
    await require_not_suspended(tx, organization_id)
    key = IssuedKey(new_id(), make_key(mode, cell))
    granted = sorted(set(scopes))
    role = await role_now(tx, organization_id, Role.OWNER, by=by)
    if Permission.KEYS_WRITE not in MAY[role]:
        raise NotPermitted(f"Your role, {role.spoken}, may not {Permission.KEYS_WRITE}.")
    if Scope.ADMIN in (kept_back := withheld(mode, granted, role)):
        raise NotPermitted(OWNER_NEEDED, param="scopes")
    for scope, why in kept_back.items():
        raise NotPermitted(f"{why} So you cannot give {scope} to a live key.", param="scopes")
    await tx.run(
        ISSUE,
        organization_id,
        key.id,
        digest(key.text),
        mode,
        name,
        key.text[-4:],
        granted,
        list(allowed_networks) if allowed_networks else None,
        rate_per_second,
        burst,
        at,
        by,
        expires_at,
    )
    await security_log.record(
        tx, [organization_id], "key", key.id, "issued", by=by, at=at, becomes=f"{mode} {' '.join(granted)}"
    )
    return key


async def rename(tx: Tx, organization_id: UUID, mode: Mode, key_id: UUID, name: str, *, by: str, at: datetime) -> None:
    """Change the name of a key. Its scopes stay as they are."""
    was = await tx.value(LOCK_NAME, organization_id, mode, key_id)
    if was is None:
        raise KeyNotFound
    if was != name:
        await tx.run(RENAME, organization_id, key_id, name)
        await audit_log.record(tx, organization_id, "key", key_id, "renamed", by=by, at=at, was=was, becomes=name)


async def revoke(tx: Tx, organization_id: UUID, key_id: UUID, *, by: str, at: datetime) -> None:
    """Revoke a key at once, for every process. Revoking it again changes nothing."""
    if await tx.run(REVOKE, organization_id, key_id, at, by):
        await security_log.record(tx, [organization_id], "key", key_id, "revoked", by=by, at=at)
    elif not await tx.value(EXISTS, organization_id, key_id):
        raise KeyNotFound


async def mark_used(tx: Tx, used: Mapping[tuple[UUID, UUID], tuple[datetime, Address | None]]) -> None:
    """Store when and from where keys were last used. A key whose row is locked is skipped.

    So is one that another process has marked within half a minute: every process marks a key about once a minute.
    """
    await tx.run(
        MARK_USED,
        [organization_id for organization_id, _ in used],
        [key_id for _, key_id in used],
        [at for at, _ in used.values()],
        [address for _, address in used.values()],
    )


ISSUE: Final = """
    INSERT INTO api_key (organization_id, id, hash, mode, name, last_four, scopes, allowed_networks,
                         rate_per_second, burst, created_at, created_by, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
"""

LOCK_NAME: Final = """
    SELECT name
      FROM api_key
     WHERE organization_id = $1
       AND mode = $2
       AND id = $3
       AND device_id IS NULL
       FOR NO KEY UPDATE
"""

RENAME: Final = """
    UPDATE api_key
       SET name = $3
     WHERE organization_id = $1
       AND id = $2
"""

REVOKE: Final = """
    UPDATE api_key
       SET revoked_at = $3, revoked_by = $4
     WHERE organization_id = $1
       AND id = $2
       AND device_id IS NULL
       AND revoked_at IS NULL
"""

EXISTS: Final = """
    SELECT true
      FROM api_key
     WHERE organization_id = $1
       AND id = $2
       AND device_id IS NULL
"""

MARK_USED: Final = """
    UPDATE api_key k
       SET last_used_at = free.at, last_used_from = free.address
      FROM (SELECT f.organization_id, f.id, u.at, u.address
              FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::inet[]) u (organization_id, id, at, address)
              JOIN api_key f ON f.organization_id = u.organization_id AND f.id = u.id
             WHERE f.last_used_at IS NULL OR f.last_used_at < u.at - interval '30 seconds'
               FOR NO KEY UPDATE OF f SKIP LOCKED) free
     WHERE k.organization_id = free.organization_id
       AND k.id = free.id
"""
