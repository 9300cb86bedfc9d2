"""The records of a manifest: 8 bytes a card, sorted. Pure.

6 bytes of HMAC-SHA-256(salt, card number), 1 byte with the category, 1 with the flags. PostgreSQL makes them; here they
are only found, compared and replaced.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

SIZE: Final = 8
HASH: Final = 6
MARK: Final = 4
# The category of a card without a ticket in use.
NO_TICKET: Final = 255
USED: Final = 1
SUSPENDED: Final = 2
REVOKED: Final = 4
CANCELLED: Final = 8
# In changes: this card is not in the manifest any more. No card is suspended and revoked at once.
GONE: Final = bytes([NO_TICKET, USED | SUSPENDED | REVOKED | CANCELLED])


class CollisionError(Exception):
    """Two cards have the same hash. Another salt must be drawn."""


@dataclass(frozen=True, slots=True)
class ChangedCard:
    """A card that may have changed. `ending` is the rest of its record, or None if the event does not know the card."""

    hash: bytes
    mark: bytes
    ending: bytes | None


@dataclass(frozen=True, slots=True)
class Records:
    """All records of an event. `marks` are 4 more bytes of each hash: they tell a second card from one that changed."""

    body: bytes
    marks: bytes

    def __len__(self) -> int:
        return len(self.body) // SIZE

    def find(self, hash: bytes) -> bytes | None:
        """The record of this card."""
        at = self._place(hash) * SIZE
        return self.body[at : at + SIZE] if self.body[at : at + HASH] == hash else None

    def select(self, hashes: Collection[bytes]) -> bytes:
        """The records of these cards, as changes have them: those that are gone are marked."""
        return b"".join(self.find(hash) or hash + GONE for hash in sorted(hashes))

    def apply(self, changed: Iterable[ChangedCard]) -> "tuple[Records, set[bytes]]":
        """The records after these changes, and the hashes of those that differ."""
        cards = sorted(changed, key=lambda one: one.hash)
        if len({card.hash for card in cards}) < len(cards):
            raise CollisionError
        bodies, marks, differing, reached = list[bytes](), list[bytes](), set[bytes](), 0
        for card in cards:
            place = self._place(card.hash)
            is_known = self.body[place * SIZE : place * SIZE + HASH] == card.hash
            if is_known and self.marks[place * MARK : (place + 1) * MARK] != card.mark:
                raise CollisionError
            new = card.hash + card.ending if card.ending is not None else None
            if new == (self.body[place * SIZE : (place + 1) * SIZE] if is_known else None):
                continue
            differing.add(card.hash)
            bodies.append(self.body[reached * SIZE : place * SIZE])
            marks.append(self.marks[reached * MARK : place * MARK])
            if new is not None:
                bodies.append(new)
                marks.append(card.mark)
            reached = place + is_known
        if not differing:
            return self, differing
        bodies.append(self.body[reached * SIZE :])
        marks.append(self.marks[reached * MARK :])
        return Records(b"".join(bodies), b"".join(marks)), differing

    def differing(self, other: "Records") -> set[bytes]:
        """The hashes of the cards whose records differ, under the same salt."""
        if self.body == other.body:
            return set()
        return {record[:HASH] for record in set(_split(self.body)) ^ set(_split(other.body))}

    def _place(self, hash: bytes) -> int:
        """Where this card's record is, or would be."""
        body = self.body
        return bisect_left(range(len(body) // SIZE), hash, key=lambda at: body[at * SIZE : at * SIZE + HASH])


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _split(body: bytes) -> Iterable[bytes]:
    return (body[at : at + SIZE] for at in range(0, len(body), SIZE))
