"""Links to card pages: `{public_url}/c/<letter>.<secret>`. Whoever has one sees the card.

A card has one link. It is found by the SHA-256 of its secret, and kept sealed, so that it can be sent again. It ends
with its card. A link that ended still says so, and shows nothing.
"""

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.encryption import Vault
from gatepass.domain import audit_log, twin
from gatepass.domain.cards.card import CardNotFound, CardRevoked, CardStatus
from gatepass.domain.cards.signing_keys import signer
from gatepass.domain.cell import new_token

PATH: Final = "/c/"
# What `new_token` makes. Anything else is refused before it is looked up.
TOKEN: Final = re.compile(r"[a-z]\.[A-Za-z0-9_-]{43}", re.ASCII)
# Ended links of a card that are remembered. An older one is unknown, as if it had never been.
MOST_ENDED: Final = 10
CHANGED: Final = "link changed"


class LinkState(StrEnum):
    LIVE = "live"
    # Another link of the same card took its place.
    REPLACED = "replaced"
    # Another card took the place of its card.
    CARD_REPLACED = "card_replaced"
    # The card was revoked, its holder erased, or its organization closed.
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class FoundLink:
    organization_id: UUID
    card_id: UUID
    state: LinkState


def link_url(public_url: str, token: str) -> str:
    return f"{public_url}{PATH}{token}"


def secret_hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def link_context(organization_id: UUID, card_id: UUID) -> str:
    """The associated data of a sealed link, so that it opens in its own row alone."""
    return f"card_link {organization_id} {card_id}"


async def link_of(tx: Tx, organization_id: UUID, card_id: UUID, vault: Vault, cell: str, *, at: datetime) -> str:
    """The token of the card's link, which is made if there is none. A revoked card has none."""
    found = await links_of(tx, organization_id, [card_id], vault, cell, at=at)
    if card_id not in found:
        status = await tx.value(STATUS, organization_id, card_id)
        raise CardNotFound if status is None else CardRevoked
    return found[card_id]


async def links_of(
    tx: Tx, organization_id: UUID, card_ids: Collection[UUID], vault: Vault, cell: str, *, at: datetime
) -> dict[UUID, str]:
    """The tokens of these cards' links, by card; missing ones are made. Revoked and unknown cards are left out.

    The number of statements does not grow with the cards.
    """
    if twin.is_twin(organization_id):
        # Its page shows a code, and opening a page makes no key.
        await signer(tx, organization_id, vault, at=at)
    sealed = await _sealed(tx, organization_id, card_ids)
    # In one order, so that two calls for the same cards never wait for each other.
    missing = sorted(card_id for card_id, box in sealed.items() if box is None)
    made = await _make(tx, organization_id, missing, vault, cell, at)
    if len(made) < len(missing):  # somebody else was first
        sealed |= await _sealed(tx, organization_id, [card_id for card_id in missing if card_id not in made])
    opened = {id: _opened(vault, organization_id, id, box) for id, box in sealed.items() if box is not None}
    return opened | made


async def change_link(
    tx: Tx, organization_id: UUID, card_id: UUID, vault: Vault, cell: str, *, by: str, at: datetime
) -> str:
    """A new link. The one before says that it was replaced."""
    status = await tx.value(LOCK_CARD, organization_id, card_id)
    if status is None:
        raise CardNotFound
    if status == CardStatus.REVOKED:
        raise CardRevoked
    await end_link(tx, organization_id, card_id, LinkState.REPLACED, at=at)
    token = await link_of(tx, organization_id, card_id, vault, cell, at=at)
    await audit_log.record(tx, organization_id, "card", card_id, CHANGED, by=by, at=at)
    return token


async def end_link(tx: Tx, organization_id: UUID, card_id: UUID, reason: LinkState, *, at: datetime) -> None:
    """Forget the link of this card, if it has one; of its secret a hash stays, so that it can say why."""
    if await tx.run(END, organization_id, card_id, reason, at):
        await tx.run(FORGET_OLDEST, organization_id, card_id, MOST_ENDED)


async def find(tx: Tx, token: str) -> FoundLink | None:
    """The card of this link, whatever became of it. None if we never made it, or it ended long ago."""
    return await tx.one(FoundLink, FIND, secret_hash(token)) if TOKEN.fullmatch(token) else None


async def _sealed(tx: Tx, organization_id: UUID, card_ids: Collection[UUID]) -> dict[UUID, bytes | None]:
    rows = await tx.rows(SEALED, organization_id, list(card_ids))
    return {row["id"]: row["sealed_secret"] for row in rows}


def _opened(vault: Vault, organization_id: UUID, card_id: UUID, box: bytes) -> str:
    return vault.open(box, link_context(organization_id, card_id)).decode()


async def _make(
    tx: Tx, organization_id: UUID, card_ids: Collection[UUID], vault: Vault, cell: str, at: datetime
) -> dict[UUID, str]:
    if not card_ids:
        return {}
    tokens = {card_id: new_token(cell) for card_id in card_ids}
    rows = await tx.rows(
        MAKE,
        organization_id,
        list(tokens),
        [secret_hash(token) for token in tokens.values()],
        [vault.seal(token.encode(), link_context(organization_id, id)) for id, token in tokens.items()],
        at,
    )
    return {row["card_id"]: tokens[row["card_id"]] for row in rows}


STATUS: Final = """
    SELECT status
      FROM card
     WHERE organization_id = $1
       AND id = $2
"""

LOCK_CARD: Final = """
    SELECT status
      FROM card
     WHERE organization_id = $1
       AND id = $2
       FOR NO KEY UPDATE
"""

SEALED: Final = """
    SELECT c.id, l.sealed_secret
      FROM card c
      LEFT JOIN card_link l ON l.organization_id = $1 AND l.card_id = c.id
     WHERE c.organization_id = $1
       AND c.id = ANY ($2)
       AND c.status <> 'revoked'
"""

MAKE: Final = """
    INSERT INTO card_link (organization_id, card_id, secret_hash, sealed_secret, made_at)
    SELECT $1, u.card_id, u.secret_hash, u.sealed_secret, $5
      FROM unnest($2::uuid[], $3::bytea[], $4::bytea[]) u (card_id, secret_hash, sealed_secret)
    ON CONFLICT (organization_id, card_id) DO NOTHING
    RETURNING card_id
"""

END: Final = """
    WITH gone AS (DELETE FROM card_link
                   WHERE organization_id = $1
                     AND card_id = $2
                  RETURNING secret_hash)
    INSERT INTO ended_card_link (organization_id, card_id, ended_at, secret_hash, reason)
    SELECT $1, $2, $4, g.secret_hash, $3
      FROM gone g
"""

FORGET_OLDEST: Final = """
    DELETE FROM ended_card_link e
     USING (SELECT x.ended_at, x.secret_hash
              FROM ended_card_link x
             WHERE x.organization_id = $1
               AND x.card_id = $2
             ORDER BY x.ended_at DESC, x.secret_hash
            OFFSET $3) oldest
     WHERE e.organization_id = $1
       AND e.card_id = $2
       AND e.ended_at = oldest.ended_at
       AND e.secret_hash = oldest.secret_hash
"""

# Version 0.2 revokes a card and leaves its link, so the card is asked too.
FIND: Final = """
    -- every organization: whoever opens a link shows its secret and nothing else
    SELECT l.organization_id, l.card_id,
           CASE WHEN c.status = 'revoked' OR w.closed_at IS NOT NULL THEN 'ended' ELSE 'live' END AS state
      FROM card_link l
      JOIN card c ON c.organization_id = l.organization_id AND c.id = l.card_id
      JOIN organization o ON o.id = l.organization_id
      JOIN organization w ON w.id = coalesce(o.twin_of, o.id)
     WHERE l.secret_hash = $1
     UNION ALL
    SELECT e.organization_id, e.card_id, e.reason
      FROM ended_card_link e
     WHERE e.secret_hash = $1
     LIMIT 1
"""
