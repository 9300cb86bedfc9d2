"""Signing keys of an organization: the newest signs, and all verify until they are retired."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from nacl.signing import SigningKey

from gatepass.base.database import Tx
from gatepass.base.encryption import Vault
from gatepass.base.errors import NotAllowedFromHere, Refusal
from gatepass.base.ids import new_id
from gatepass.domain import audit_log, twin
from gatepass.domain.cards import token
from gatepass.domain.cards.token import PublicKey

Signer = Callable[[str, datetime], str]

# A token names no key, so a gate tries each of them: every further key costs it about 80 µs.
MOST_VERIFYING: Final = 8
# Retired keys stay for the record; nobody rotates more often than this.
MOST_SHOWN: Final = 200


class NoSigningKey(Refusal):
    """The organization has no signing key."""

    code = "no_signing_key"


@dataclass(frozen=True, slots=True)
class SigningKeyShown:
    """A signing key as its organization sees it: the public half."""

    id: UUID
    public_key: bytes
    created_at: datetime
    retired_at: datetime | None


@dataclass(frozen=True, slots=True)
class _SealedKey:
    id: UUID
    sealed_private_key: bytes


async def rotate(tx: Tx, organization_id: UUID, vault: Vault, *, by: str, at: datetime) -> UUID:
    """Make a new key that signs from now on; older keys verify until they are retired."""
    await tx.run(LOCK_ORGANIZATION, organization_id)
    if await tx.value(COUNT_VERIFYING, organization_id) >= MOST_VERIFYING:
        raise NotAllowedFromHere(f"{MOST_VERIFYING} signing keys are in use. Retire one of them first.")
    key_id, key = new_id(), SigningKey.generate()
    sealed = vault.seal(bytes(key), private_key_context(organization_id, key_id))
    await tx.run(ADD, organization_id, key_id, bytes(key.verify_key), sealed, at)
    await audit_log.record(tx, organization_id, "signing_key", key_id, "added", by=by, at=at)
    return key_id


async def retire(tx: Tx, organization_id: UUID, key_id: UUID, *, by: str, at: datetime, reason: str) -> None:
    """Refuse tokens of this key from the next call on. The last key cannot be retired: nothing could be signed."""
    await tx.run(LOCK_ORGANIZATION, organization_id)
    if not await tx.run(RETIRE, organization_id, key_id, at):
        raise NoSigningKey
    if not await tx.value(COUNT_VERIFYING, organization_id):
        raise NotAllowedFromHere("This is the last signing key. Add another one first.")
    await audit_log.record(tx, organization_id, "signing_key", key_id, "retired", by=by, at=at, reason=reason)


async def signing_keys_of(tx: Tx, organization_id: UUID) -> list[SigningKeyShown]:
    """Every key, newest first. The first that is not retired signs."""
    return await tx.all(SigningKeyShown, SHOWN, organization_id, MOST_SHOWN)


async def verifying_keys(tx: Tx, organization_id: UUID) -> list[PublicKey]:
    """The public halves of every key that is not retired, newest first."""
    return await tx.all(PublicKey, VERIFYING, organization_id)


async def signer(tx: Tx, organization_id: UUID, vault: Vault, *, at: datetime) -> Signer:
    """A function that signs tokens with the organization's newest key. A twin gets its first one here."""
    key = await newest_key(tx, organization_id, vault, at=at)
    return lambda card_number, expires_at: token.sign(card_number, expires_at, key)


async def newest_key(tx: Tx, organization_id: UUID, vault: Vault, *, at: datetime) -> SigningKey:
    """The key that signs; for what is no token. A twin gets its first one here."""
    key = await _existing_key(tx, organization_id, vault)
    if key is None and twin.is_twin(organization_id):
        await rotate(tx, organization_id, vault, by="sandbox", at=at)
        key = await _existing_key(tx, organization_id, vault)
    if key is None:
        raise NoSigningKey
    return key


async def existing_signer(tx: Tx, organization_id: UUID, vault: Vault) -> Signer | None:
    """As `signer`, for a call that must not change anything: None if there is no key yet."""
    key = await _existing_key(tx, organization_id, vault)
    return None if key is None else lambda card_number, expires_at: token.sign(card_number, expires_at, key)


async def _existing_key(tx: Tx, organization_id: UUID, vault: Vault) -> SigningKey | None:
    newest = await tx.one(_SealedKey, NEWEST, organization_id)
    if newest is None:
        return None
    return SigningKey(vault.open(newest.sealed_private_key, private_key_context(organization_id, newest.id)))


def private_key_context(organization_id: UUID, key_id: UUID) -> str:
    """The associated data of a sealed private key, so that it opens in its own row alone."""
    return f"signing_key {organization_id} {key_id}"


# Concurrent changes of keys take turns. Rows that only refer to the organization do not wait for this lock.
LOCK_ORGANIZATION: Final = "SELECT true FROM organization WHERE id = $1 FOR NO KEY UPDATE"

COUNT_VERIFYING: Final = """
    SELECT count(*)
      FROM signing_key
     WHERE organization_id = $1
       AND retired_at IS NULL
"""

ADD: Final = """
    INSERT INTO signing_key (organization_id, id, public_key, sealed_private_key, created_at)
    VALUES ($1, $2, $3, $4, $5)
"""

RETIRE: Final = """
    UPDATE signing_key
       SET retired_at = $3
     WHERE organization_id = $1
       AND id = $2
       AND retired_at IS NULL
"""

VERIFYING: Final = """
    SELECT id, public_key
      FROM signing_key
     WHERE organization_id = $1
       AND retired_at IS NULL
     ORDER BY created_at DESC, id DESC
"""

NEWEST: Final = """
    SELECT id, sealed_private_key
      FROM signing_key
     WHERE organization_id = $1
       AND retired_at IS NULL
     ORDER BY created_at DESC, id DESC
     LIMIT 1
"""

SHOWN: Final = """
    SELECT id, public_key, created_at, retired_at
      FROM signing_key
     WHERE organization_id = $1
     ORDER BY created_at DESC, id DESC
     LIMIT $2
"""
