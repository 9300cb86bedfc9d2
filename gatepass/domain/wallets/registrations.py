"""Phones that hold a pass: they register, ask what has changed, fetch the pass anew, and unregister.

One phone may register hundreds of times, and a copied pass on many phones: a registration replaces the one before it of
the same phone, and of one pass the newest MOST_DEVICES are kept.
"""

import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.encryption import Vault
from gatepass.domain.cards.links import link_context
from gatepass.domain.wallets import subject
from gatepass.domain.wallets.identity import link_hash_of, serial_of_hash, token_hash, token_of

DEVICE: Final = re.compile(r"[A-Za-z0-9._-]{1,100}", re.ASCII)
PUSH_TOKEN: Final = re.compile(r"[A-Za-z0-9._-]{1,200}", re.ASCII)
TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
# A person has a phone, a watch and a tablet.
MOST_DEVICES: Final = 10
# Passes of one phone that are told at once. A device that claims more has been made up.
MOST_PASSES: Final = 200
# A change may commit a little later than the time that it carries. A pass that is told twice is fetched once: the
# second time it is "not modified".
OVERLAP: Final = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Opened:
    """A pass whose token was shown. One that no phone has registered has no time of its last change."""

    organization_id: UUID
    card_id: UUID
    link_hash: bytes
    changed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    serials: list[str]
    tag: str


@dataclass(frozen=True, slots=True)
class _Pass:
    organization_id: UUID
    card_id: UUID
    token_hash: bytes
    changed_at: datetime
    is_told: bool


@dataclass(frozen=True, slots=True)
class _Link:
    organization_id: UUID
    card_id: UUID
    sealed_secret: bytes


async def open_pass(tx: Tx, serial: str, token: str, vault: Vault, *, at: datetime) -> Opened | None:
    """The pass with this serial number, if the token is its own. Reads alone."""
    link_hash = link_hash_of(serial)
    if link_hash is None or not TOKEN.fullmatch(token):
        return None
    known = await tx.one(_Pass, FIND, link_hash, at, subject.period_of(at))
    if known is not None:
        if not hmac.compare_digest(known.token_hash, token_hash(token)):
            return None
        changed_at = known.changed_at if known.is_told else at
        return Opened(known.organization_id, known.card_id, link_hash, changed_at)
    link = await tx.one(_Link, LINK, link_hash)
    if link is None:
        return None
    opened = vault.open(link.sealed_secret, link_context(link.organization_id, link.card_id)).decode()
    if not hmac.compare_digest(token_of(opened).encode(), token.encode()):
        return None
    return Opened(link.organization_id, link.card_id, link_hash)


async def register(tx: Tx, opened: Opened, token: str, *, device: str, push_token: str, at: datetime) -> bool:
    """Tell this phone of changes from now on; return whether it is new."""
    key = (opened.organization_id, opened.link_hash)
    await tx.run(KEEP, *key, opened.card_id, at, subject.period_of(at), token_hash(token))
    # Registrations of one pass take turns, so that no two of them pass over the bound.
    await tx.run(LOCK, *key)
    is_new = bool(await tx.value(REGISTER, *key, device, push_token, at))
    if is_new:
        await tx.run(FORGET_OLDEST, *key, MOST_DEVICES)
    return is_new


async def unregister(tx: Tx, opened: Opened, device: str) -> None:
    """The phone has deleted the pass. With the last phone goes all that we know of it."""
    await tx.run(UNREGISTER, opened.organization_id, opened.link_hash, device)
    await tx.run(FORGET_UNUSED, opened.organization_id, opened.link_hash)


async def changes_of(tx: Tx, device: str, since: str | None, cell: str, *, at: datetime) -> Changes | None:
    """The passes of this phone that changed since the tag that it was given last; None if none did."""
    after = _moment(since)
    rows = await tx.rows(CHANGED, device, MOST_PASSES, after, at, subject.period_of(at))
    if not rows:
        return None
    tag = str(int((at - OVERLAP).timestamp()))
    return Changes([serial_of_hash(row["link_hash"], cell) for row in rows], tag)


def _moment(tag: str | None) -> datetime:
    """The time in a tag of ours. Another text means that the phone knows nothing yet."""
    if tag is None or not re.fullmatch(r"[0-9]{1,11}", tag, re.ASCII):
        return datetime.fromtimestamp(0, UTC)
    return datetime.fromtimestamp(int(tag), UTC)


FIND: Final = """
    -- every organization: a wallet names the pass and nothing else
    SELECT p.organization_id, p.card_id, p.token_hash, p.changed_at,
           p.fingerprint = md5(wallet_document(p.organization_id, p.card_id, p.link_hash, $2, $3)::text) AS is_told
      FROM wallet_pass p
     WHERE p.link_hash = $1
     LIMIT 1
"""

LINK: Final = """
    -- every organization: a wallet names the pass and nothing else
    SELECT l.organization_id, l.card_id, l.sealed_secret
      FROM card_link l
     WHERE l.secret_hash = $1
     LIMIT 1
"""

KEEP: Final = """
    INSERT INTO wallet_pass (organization_id, link_hash, card_id, token_hash, fingerprint, changed_at)
    VALUES ($1, $2, $3, $6, md5(wallet_document($1, $3, $2, $4, $5)::text), $4)
    ON CONFLICT (organization_id, link_hash) DO NOTHING
"""

LOCK: Final = """
    SELECT true
      FROM wallet_pass
     WHERE organization_id = $1
       AND link_hash = $2
       FOR NO KEY UPDATE
"""

# In a row that was not there before, `xmax` is 0.
REGISTER: Final = """
    INSERT INTO wallet_registration AS r (organization_id, link_hash, device, push_token, registered_at)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (organization_id, link_hash, device)
        DO UPDATE SET push_token = excluded.push_token, registered_at = excluded.registered_at
    RETURNING r.xmax = 0
"""

FORGET_OLDEST: Final = """
    DELETE FROM wallet_registration r
     USING (SELECT x.device
              FROM wallet_registration x
             WHERE x.organization_id = $1
               AND x.link_hash = $2
             ORDER BY x.registered_at DESC, x.device
            OFFSET $3) oldest
     WHERE r.organization_id = $1
       AND r.link_hash = $2
       AND r.device = oldest.device
"""

UNREGISTER: Final = """
    DELETE FROM wallet_registration
     WHERE organization_id = $1
       AND link_hash = $2
       AND device = $3
"""

FORGET_UNUSED: Final = """
    DELETE FROM wallet_pass p
     WHERE p.organization_id = $1
       AND p.link_hash = $2
       AND NOT EXISTS (SELECT
                         FROM wallet_registration r
                        WHERE r.organization_id = $1
                          AND r.link_hash = $2)
"""

CHANGED: Final = """
    -- every organization: a phone holds passes of several
    SELECT p.link_hash
      FROM (SELECT r.organization_id, r.link_hash
              FROM wallet_registration r
             WHERE r.device = $1
             ORDER BY r.organization_id, r.link_hash
             LIMIT $2) own
      JOIN wallet_pass p ON p.organization_id = own.organization_id AND p.link_hash = own.link_hash
     WHERE p.changed_at > $3
        OR p.fingerprint <> md5(wallet_document(p.organization_id, p.card_id, p.link_hash, $4, $5)::text)
"""
