"""Is every acknowledged activation there, with the same winner, and no other?"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

import psycopg


@dataclass(frozen=True)
class Winner:
    """Which ticket was activated, by which scanner, and when the card was shown to it."""

    ticket_id: UUID
    scanner_id: str | None
    occurred_at: datetime | None


@dataclass(frozen=True)
class Judgement:
    """Cards whose acknowledged activation is not there, is another's, or that got in although no gate was told."""

    lost: frozenset[str]
    of_another: frozenset[str]
    untold: frozenset[str]

    @classmethod
    def of(cls, acknowledged: Mapping[str, Winner], found: Mapping[str, Winner]) -> Self:
        there = acknowledged.keys() & found.keys()
        return cls(
            lost=frozenset(acknowledged.keys() - found.keys()),
            of_another=frozenset(card for card in there if found[card] != acknowledged[card]),
            untold=frozenset(found.keys() - acknowledged.keys()),
        )

    def __bool__(self) -> bool:
        """Whether there is a fault."""
        return bool(self.lost or self.of_another or self.untold)


def activations_in(database_url: str, event_id: str) -> dict[str, tuple[Winner, UUID]]:
    """The winner of each card of the event, and the id of its call, which its message has too."""
    with psycopg.connect(database_url) as db:
        rows = db.execute(ACTIVATIONS, [event_id]).fetchall()
    assert len({number for number, *_ in rows}) == len(rows), "a ticket was activated twice"
    return {number: (Winner(*winner), request_id) for number, request_id, *winner in rows}


def winners_in(database_url: str, event_id: str) -> dict[str, Winner]:
    return {card: winner for card, (winner, _) in activations_in(database_url, event_id).items()}


# The demo's own activation has no `occurred_at`; gates always send it.
ACTIVATIONS = """
    SELECT s.card_number, t.activated_by, s.ticket_id, s.scanner_id, s.occurred_at
      FROM ticket t
      JOIN scan s ON s.organization_id = t.organization_id AND s.ticket_id = t.id AND s.verdict = 'activated'
     WHERE t.event_id = %s
       AND t.activated_at IS NOT NULL
       AND s.occurred_at IS NOT NULL
"""
