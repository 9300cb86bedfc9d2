"""One person, one card: an e-mail address finds the card that tickets for this person go to.

A second ticket for the same event is for a companion, whose card carries the same holder and says so.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from gatepass.base.database import Row, Tx
from gatepass.domain.cards.card import CardStatus

# Advisory locks that a transaction takes at most: PostgreSQL has room for some 6,400 in all, and a batch may name 1,000
# people. Transactions whose people share a lock take turns.
TURNS: Final = 16


@dataclass(frozen=True, slots=True)
class PersonCard:
    """The card of a person. It is listed if `holder_email` has it as the current one of the address."""

    email: str
    card_id: UUID
    number: str
    status: CardStatus
    listed: bool


async def take_turns(tx: Tx, organization_id: UUID, words: Collection[str]) -> None:
    """Let transactions that name the same address or external id run one after the other, until each has ended.

    Who changes who is at an address takes its turn too. These come after events and before cards: see ARCHITECTURE.md.
    """
    turns = {hashlib.sha256(word.encode()).digest()[0] % TURNS for word in words}
    if turns:
        await tx.run(TAKE_TURNS, sorted(_lock(organization_id, turn) for turn in turns))


def _lock(organization_id: UUID, turn: int) -> int:
    digest = hashlib.sha256(b"person" + organization_id.bytes + bytes([turn])).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


async def cards_of_people(tx: Tx, organization_id: UUID, emails: Collection[str]) -> dict[str, PersonCard]:
    """The card of each person, by address; a revoked one only if there is no other."""
    if not emails:
        return {}
    rows = await tx.rows(CURRENT, organization_id, list(emails))
    found = {row["email"]: _person(row, listed=True) for row in rows}
    missing = [email for email in emails if email not in found or found[email].status is CardStatus.REVOKED]
    if missing:
        rows = await tx.rows(UNLISTED, organization_id, missing)
        found |= {row["email"]: _person(row, listed=False) for row in rows}
    return found


def _person(row: Row, *, listed: bool) -> PersonCard:
    return PersonCard(row["email"], row["id"], row["number"], CardStatus(row["status"]), listed)


async def list_current(
    tx: Tx, organization_id: UUID, cards: Mapping[str, UUID], superseded: Collection[str] | None = None
) -> None:
    """Make these the current cards of their addresses; a revoked card that was it before no longer is.

    `superseded` are the addresses that had one, if the caller knows them.
    """
    addresses = list(cards if superseded is None else superseded)
    if addresses:
        await tx.run(SUPERSEDE, organization_id, addresses)
    await list_addresses(tx, organization_id, {card_id: email for email, card_id in cards.items()}, companions=False)


async def make_current(tx: Tx, organization_id: UUID, email: str, card_id: UUID) -> None:
    """Make this the current card of the address, whatever it was before."""
    await unlist(tx, organization_id, card_id)
    await list_current(tx, organization_id, {email: card_id})


async def unlist(tx: Tx, organization_id: UUID, card_id: UUID) -> None:
    """Forget the address of this card."""
    await tx.run(UNLIST, organization_id, card_id)


async def list_addresses(tx: Tx, organization_id: UUID, emails: Mapping[UUID, str], *, companions: bool) -> None:
    """Store the addresses of these cards, each of which has a holder."""
    await tx.run(LIST, organization_id, list(emails), list(emails.values()), companions)


TAKE_TURNS: Final = "SELECT pg_advisory_xact_lock(u.lock) FROM unnest($1::bigint[]) u (lock)"

# A look-up for each address, whatever the number of addresses: see `tickets/situation.py`.
# Look-ups as in `tickets/listing.py`: each by the whole key of an index, also if the organization is new.
CURRENT: Final = """
    SELECT u.email, c.id, c.number, c.status
      FROM unnest($2::text[]) u (email)
     CROSS JOIN LATERAL (SELECT x.card_id
                           FROM holder_email x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.email = u.email
                            AND x.current
                         OFFSET 0) h
     CROSS JOIN LATERAL (SELECT x.id, x.number, x.status
                           FROM card x
                          WHERE x.organization_id = (SELECT $1::uuid)
                            AND x.id = h.card_id
                         OFFSET 0) c
"""

# Holders that version 0.2 stored. An active card before a suspended one, of the 100 oldest.
UNLISTED: Final = """
    SELECT u.email, found.id, found.number, found.status
      FROM unnest($2::text[]) u (email)
     CROSS JOIN LATERAL (SELECT c.id, c.number, c.status
                           FROM (SELECT x.card_id
                                   FROM card_holder x
                                  WHERE x.organization_id = (SELECT $1::uuid)
                                    AND lower(x.email) = u.email
                                  ORDER BY x.card_id
                                  LIMIT 100) h
                           JOIN card c ON c.organization_id = (SELECT $1::uuid) AND c.id = h.card_id
                          WHERE c.status <> 'revoked'
                            AND NOT EXISTS (SELECT FROM holder_email e
                                             WHERE e.organization_id = (SELECT $1::uuid)
                                               AND e.card_id = h.card_id)
                          ORDER BY c.status, c.id
                          LIMIT 1) found
"""

SUPERSEDE: Final = """
    UPDATE holder_email
       SET current = false
     WHERE organization_id = $1
       AND email = ANY ($2)
       AND current
"""

LIST: Final = """
    INSERT INTO holder_email (organization_id, card_id, email, current, companion)
    SELECT $1, u.card_id, u.email, NOT $4, $4
      FROM unnest($2::uuid[], $3::text[]) u (card_id, email)
"""

UNLIST: Final = """
    DELETE FROM holder_email
     WHERE organization_id = $1
       AND card_id = $2
"""
