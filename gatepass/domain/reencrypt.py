"""Re-encryption: after a rotation of encryption keys, all secrets at rest are encrypted with the first key.

It runs page by page, while the service runs. A secret is replaced only if it is still the one that was read (compare
and set), so that a rotation of that secret at the same time is never undone. Then the page is read and decrypted again,
until the first key has encrypted all of it. A *sealed* secret is one that is encrypted and bound to its row.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, LiteralString, NamedTuple
from uuid import UUID

from gatepass.base.database import Database
from gatepass.base.encryption import Vault, VaultLocked
from gatepass.base.errors import Busy
from gatepass.domain.card_exports.file_parts import sealed_context
from gatepass.domain.cards.links import link_context
from gatepass.domain.cards.signing_keys import private_key_context
from gatepass.domain.mail import values_context
from gatepass.domain.staff.one_time_code import seed_context
from gatepass.domain.webhooks.signature import secret_context

# Few enough that no other transaction waits noticeably for the rows of one page.
BATCH: Final = 200
# Parts of files have up to a megabyte each.
FILES_AT_ONCE: Final = 10
# Ten seconds with BRIEFLY. A transaction that holds a row for longer needs attention.
TRIES: Final = 50


class SecretLocation(NamedTuple):
    table: str
    id: UUID


@dataclass(slots=True)
class EncryptionReport:
    """How many secrets are encrypted by the first key, and by older ones; and the rows that no key decrypts.

    `reencrypted` counts those that went from an older key to the first.
    """

    current: int = 0
    older: int = 0
    reencrypted: int = 0
    undecryptable: list[SecretLocation] = field(default_factory=list[SecretLocation])


class _Key(NamedTuple):
    """`owner_id` is the organization or the person that the secret belongs to."""

    owner_id: UUID
    id: UUID


BEFORE_ALL: Final = _Key(UUID(int=0), UUID(int=0))


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of sealed secrets: the statements that read a page and replace secrets, and the context of a row."""

    table: str
    page: LiteralString
    replace: LiteralString
    context: Callable[[UUID, UUID], str]
    batch: int = BATCH


@dataclass(frozen=True, slots=True)
class _Older:
    key: _Key
    box: bytes
    secret: bytes = field(repr=False)


@dataclass(slots=True)
class _Page:
    current: int = 0
    older: list[_Older] = field(default_factory=list[_Older])
    undecryptable: list[SecretLocation] = field(default_factory=list[SecretLocation])
    # Where the next page begins; None on the last page.
    last: _Key | None = None


async def examine(db: Database, vault: Vault) -> EncryptionReport:
    """Decrypt every secret, and change none."""
    found = EncryptionReport()
    for column in COLUMNS:
        after: _Key | None = BEFORE_ALL
        while after is not None:
            page = await _read(db, vault, column, after)
            found.current += page.current
            found.older += len(page.older)
            found.undecryptable += page.undecryptable
            after = page.last
    return found


async def reencrypt_secrets(db: Database, vault: Vault) -> EncryptionReport:
    """Encrypt with the first key the secrets of older keys. If it is interrupted, the replaced ones stay replaced."""
    done = EncryptionReport()
    for column in COLUMNS:
        after: _Key | None = BEFORE_ALL
        while after is not None:
            page = await _reencrypt_page(db, vault, column, after, done)
            done.current += page.current
            done.undecryptable += page.undecryptable
            after = page.last
    return done


async def _reencrypt_page(db: Database, vault: Vault, column: _Column, after: _Key, done: EncryptionReport) -> _Page:
    for _ in range(TRIES):
        page = await _read(db, vault, column, after)
        if not page.older:
            return page
        with suppress(Busy):
            done.reencrypted += await _replace(db, vault, column, page.older)
    raise Busy


async def _read(db: Database, vault: Vault, column: _Column, after: _Key) -> _Page:
    async with db.autocommit() as tx:
        rows = await tx.rows(column.page, *after, column.batch)
    page = _Page()
    for owner_id, id, box in rows:
        try:
            secret = vault.open(box, column.context(owner_id, id))
        except VaultLocked:
            page.undecryptable.append(SecretLocation(column.table, id))
            continue
        if vault.is_current(box):
            page.current += 1
        else:
            page.older.append(_Older(_Key(owner_id, id), box, secret))
    if len(rows) == column.batch:
        page.last = _Key(*rows[-1][:2])
    return page


async def _replace(db: Database, vault: Vault, column: _Column, older: Sequence[_Older]) -> int:
    """How many were replaced; the others have changed in the meantime."""
    async with db.transaction() as tx:
        await tx.run(BRIEFLY)
        return await tx.run(
            column.replace,
            [one.key.owner_id for one in older],
            [one.key.id for one in older],
            [one.box for one in older],
            [vault.seal(one.secret, column.context(*one.key)) for one in older],
        )


# Less than PostgreSQL's deadlock_timeout: in a deadlock with a worker, this transaction is the one that fails.
BRIEFLY: Final = "SET LOCAL lock_timeout = '200ms'"

PRIVATE_KEYS: Final = """
    -- every organization: the encryption key is the service's, and encrypts the secrets of all
    SELECT organization_id, id, sealed_private_key AS box
      FROM signing_key
     WHERE (organization_id, id) > ($1, $2)
     ORDER BY organization_id, id
     LIMIT $3
"""

REPLACE_PRIVATE_KEYS: Final = """
    UPDATE signing_key k
       SET sealed_private_key = n.box
      FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::bytea[]) AS n (organization_id, id, was, box)
     WHERE k.organization_id = n.organization_id
       AND k.id = n.id
       AND k.sealed_private_key = n.was
"""

# A deleted endpoint has no secret left.
NEW_SECRETS: Final = """
    -- every organization: the encryption key is the service's, and encrypts the secrets of all
    SELECT organization_id, id, sealed_new_secret AS box
      FROM webhook_endpoint
     WHERE (organization_id, id) > ($1, $2)
       AND sealed_new_secret <> ''
     ORDER BY organization_id, id
     LIMIT $3
"""

REPLACE_NEW_SECRETS: Final = """
    UPDATE webhook_endpoint e
       SET sealed_new_secret = n.box
      FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::bytea[]) AS n (organization_id, id, was, box)
     WHERE e.organization_id = n.organization_id
       AND e.id = n.id
       AND e.sealed_new_secret = n.was
"""

SECRETS: Final = """
    -- every organization: the encryption key is the service's, and encrypts the secrets of all
    SELECT organization_id, id, sealed_secret AS box
      FROM webhook_endpoint
     WHERE (organization_id, id) > ($1, $2)
       AND sealed_secret <> ''
     ORDER BY organization_id, id
     LIMIT $3
"""

REPLACE_SECRETS: Final = """
    UPDATE webhook_endpoint e
       SET sealed_secret = n.box
      FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::bytea[]) AS n (organization_id, id, was, box)
     WHERE e.organization_id = n.organization_id
       AND e.id = n.id
       AND e.sealed_secret = n.was
"""

LINKS: Final = """
    -- every organization: the encryption key is the service's, and encrypts the secrets of all
    SELECT organization_id, card_id, sealed_secret AS box
      FROM card_link
     WHERE (organization_id, card_id) > ($1, $2)
     ORDER BY organization_id, card_id
     LIMIT $3
"""

REPLACE_LINKS: Final = """
    UPDATE card_link l
       SET sealed_secret = n.box
      FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::bytea[]) AS n (organization_id, card_id, was, box)
     WHERE l.organization_id = n.organization_id
       AND l.card_id = n.card_id
       AND l.sealed_secret = n.was
"""

SEEDS: Final = """
    SELECT person_id, id, sealed_seed AS box
      FROM one_time_code
     WHERE (person_id, id) > ($1, $2)
     ORDER BY person_id, id
     LIMIT $3
"""

REPLACE_SEEDS: Final = """
    UPDATE one_time_code c
       SET sealed_seed = n.box
      FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::bytea[]) AS n (person_id, id, was, box)
     WHERE c.person_id = n.person_id
       AND c.id = n.id
       AND c.sealed_seed = n.was
"""

# A letter that has ended has no values left.
LETTERS: Final = """
    -- every organization: the encryption key is the service's, and encrypts the secrets of all
    SELECT organization_id, id, sealed_values AS box
      FROM letter
     WHERE (organization_id, id) > ($1, $2)
       AND state IN ('waiting', 'sending')
     ORDER BY organization_id, id
     LIMIT $3
"""

# Files of cards, which are deleted after a day.
FILE_PARTS: Final = """
    -- every organization: the encryption key is the service's, and encrypts the secrets of all
    SELECT organization_id, id, sealed_content AS box
      FROM card_export_part
     WHERE (organization_id, id) > ($1, $2)
     ORDER BY organization_id, id
     LIMIT $3
"""

REPLACE_LETTERS: Final = """
    UPDATE letter l
       SET sealed_values = n.box
      FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::bytea[]) AS n (organization_id, id, was, box)
     WHERE l.organization_id = n.organization_id
       AND l.id = n.id
       AND l.sealed_values = n.was
"""

REPLACE_FILE_PARTS: Final = """
    UPDATE card_export_part p
       SET sealed_content = n.box
      FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::bytea[]) AS n (organization_id, id, was, box)
     WHERE p.organization_id = n.organization_id
       AND p.id = n.id
       AND p.sealed_content = n.was
"""

# A new secret is moved to the place of the old one when that is retired. In this order none is missed.
COLUMNS: Final = (
    _Column("signing_key", PRIVATE_KEYS, REPLACE_PRIVATE_KEYS, private_key_context),
    _Column("webhook_endpoint", NEW_SECRETS, REPLACE_NEW_SECRETS, secret_context),
    _Column("webhook_endpoint", SECRETS, REPLACE_SECRETS, secret_context),
    _Column("card_link", LINKS, REPLACE_LINKS, link_context),
    _Column("one_time_code", SEEDS, REPLACE_SEEDS, seed_context),
    _Column("letter", LETTERS, REPLACE_LETTERS, values_context),
    _Column("card_export_part", FILE_PARTS, REPLACE_FILE_PARTS, sealed_context, batch=FILES_AT_ONCE),
)
