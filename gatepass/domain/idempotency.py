"""Idempotency keys: what is kept of a call, so that a retry with the same key gets the same answer.

It is written in the transaction of what the call did, in the generations of docs/decisions/0005. Scans write theirs in
`tickets/activation.sql`; the keys are of one kind, so a key of a scan cannot be used for another call.
"""

import hashlib
from typing import Any, Final
from uuid import UUID

import msgspec

from gatepass.base.database import Tx
from gatepass.base.errors import Refusal
from gatepass.base.ids import digest_of
from gatepass.domain.keys import Mode

# Stored in the place of a scan's verdict; no code of a refusal.
VERDICT: Final = "answered"


class IdempotencyKeyReused(Refusal):
    """This Idempotency-Key was used with another request."""

    code = "idempotency_key_reused"


class Kept(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is kept of an answer: its status and the ids from which it can be made again.

    Never a token, a link or a secret. `facts` are a few more words that a replay needs, such as the expiry of a token;
    `problem` is the body of a refusal; `items` are the parts of the answer to a batch.
    """

    status: int
    id: UUID | None = None
    facts: dict[str, str] = {}
    problem: dict[str, Any] | None = None
    items: tuple["Kept", ...] = ()


class Taken(msgspec.Struct, frozen=True):
    """A key that belongs to this transaction until it ends, and the fingerprint of the call."""

    organization_id: UUID
    digest: UUID
    fingerprint: UUID


def key_digest(mode: Mode, idempotency_key: str) -> UUID:
    """An idempotency key within its organization. Live and sandbox keys are apart."""
    return digest_of(mode, idempotency_key)


def fingerprint(method: str, path: str, body: bytes) -> UUID:
    """A digest of what a call asks for: its method, its path, its body."""
    return digest_of(method, path, hashlib.sha256(canonical(body)).hexdigest())


def canonical(body: bytes) -> bytes:
    """The body in one spelling: a retry may order the fields of its JSON differently, or indent it."""
    try:
        return msgspec.json.encode(msgspec.json.decode(body), order="sorted")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body


async def take(tx: Tx, taken: Taken) -> Kept | None:
    """Take the key until the transaction ends; what is kept under it, or None for a new key.

    A concurrent call with the same key is waited for. A key that was used for something else is refused.
    """
    rows = await tx.rows(TAKE, taken.organization_id, taken.digest)
    if not rows:
        return None
    if rows[0]["fingerprint"] != taken.fingerprint:
        raise IdempotencyKeyReused
    return DECODER.decode(rows[0]["kept"])


async def keep(tx: Tx, taken: Taken, kept: Kept) -> None:
    """Keep this under the key, which `take` found to be new."""
    text = msgspec.json.encode(kept).decode()
    await tx.run(KEEP, taken.organization_id, taken.digest, taken.fingerprint, VERDICT, text)


DECODER: Final = msgspec.json.Decoder(Kept)

TAKE: Final = "SELECT fingerprint, kept FROM take_idempotency_key($1, $2)"

KEEP: Final = """
    INSERT INTO idempotency (organization_id, idempotency_key, generation, fingerprint, at, verdict, kept)
    SELECT $1, $2, g.current, $3, now(), $4, $5::json
      FROM idempotency_generation g
"""
