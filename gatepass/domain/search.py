"""Search: anything of an organization, by its id, a card number or four of its digits, an external id, or any words."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import ClassVar, Final
from uuid import UUID

from gatepass.base.clock import EPOCH
from gatepass.base.database import Tx
from gatepass.base.ids import moment_of
from gatepass.domain import cards, tickets, webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.visibility import WORDS, Columns, Sight
from gatepass.domain.webhooks import DeliveryNotFound

# Fewer letters would match nearly everything.
SHORTEST: Final = 2
MOST: Final = 20
# A message is searched around the time in its id; the clocks of two machines may differ by this much.
SKEW: Final = timedelta(minutes=1)


class SearchKind(StrEnum):
    EVENT = "event"
    CARD = "card"
    KEY = "API key"
    ENDPOINT = "webhook endpoint"
    DELIVERY = "webhook delivery"
    PERSON = "member"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """`name` is a title, a number or a URL; `detail` tells apart cards of one name. A ticket is found as its card."""

    guest: ClassVar[Columns] = {"name": WORDS, "detail": WORDS}

    kind: SearchKind
    id: UUID
    name: str
    mode: str | None = None
    parent_id: UUID | None = None
    detail: str | None = None


async def by_id(tx: Tx, organization_id: UUID, id: UUID) -> list[SearchResult]:
    """Everything with this id; a message is found as its deliveries."""
    made = moment_of(id) or EPOCH
    found = await tx.all(SearchResult, BY_ID, organization_id, id, made - SKEW, made + SKEW)
    return found or await _delivery(tx, organization_id, id)


async def _delivery(tx: Tx, organization_id: UUID, id: UUID) -> list[SearchResult]:
    """A delivery by its own id, which contains no time: every endpoint is searched."""
    for mode in Mode:
        for endpoint in await webhooks.endpoints_of(tx, organization_id, mode, after=None, limit=MOST):
            with suppress(DeliveryNotFound):
                delivery = await webhooks.find_delivery(tx, organization_id, endpoint, id)
                return [SearchResult(SearchKind.DELIVERY, delivery.id, delivery.type, mode, endpoint.id)]
    return []


async def by_text(tx: Tx, organization_id: UUID, text: str, *, sight: Sight) -> list[SearchResult]:
    """Cards by number or digits, events by words, tickets by external id; cards by holder if names may be seen."""
    if len(text) < SHORTEST:
        return []
    card = await tx.all(SearchResult, CARD, organization_id, cards.normalize_number(text))
    if card:
        return card
    found = await tx.all(SearchResult, BY_TITLE, organization_id, text, MOST)
    held = await cards.find_by_text(tx, organization_id, text, sight=sight, limit=MOST)
    found += [SearchResult(SearchKind.CARD, one.id, one.name or one.number, detail=_told(one)) for one in held]
    referred = await tickets.find_by_reference(tx, organization_id, text, limit=MOST)
    return found + [
        SearchResult(
            SearchKind.CARD, one.card_id, one.external_id or "", detail=f"{one.event_title} · {one.card_number}"
        )
        for one in referred
    ]


def _told(card: cards.HeldCard) -> str:
    """The number of the card, its holder's address, and its status if it is out of use."""
    status = None if card.status is cards.CardStatus.ACTIVE else card.status
    return " · ".join(part for part in (card.number, card.email, status) if part)


BY_ID: Final = """
    SELECT 'event' AS kind, id, title AS name, NULL AS mode, NULL::uuid AS parent_id, NULL AS detail
      FROM event WHERE organization_id = $1 AND id = $2
    UNION ALL
    SELECT 'card', id, number, NULL, NULL, NULL FROM card WHERE organization_id = $1 AND id = $2
    UNION ALL
    SELECT 'card', c.id, c.number, NULL, NULL, NULL
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
     WHERE t.organization_id = $1 AND t.id = $2
    UNION ALL
    SELECT 'API key', id, name, mode, NULL, NULL FROM api_key
     WHERE organization_id = $1 AND id = $2 AND device_id IS NULL
    UNION ALL
    SELECT 'webhook endpoint', id, url, mode, NULL, NULL
      FROM webhook_endpoint WHERE organization_id = $1 AND id = $2 AND deleted_at IS NULL
    UNION ALL
    SELECT 'webhook delivery', d.id, d.type, w.mode, w.id, NULL
      FROM webhook_endpoint w
      JOIN webhook_delivery d ON d.organization_id = w.organization_id AND d.endpoint_id = w.id
                             AND d.id = md5($2::text || w.id::text)::uuid
     WHERE w.organization_id = $1
       AND w.deleted_at IS NULL
       AND d.at BETWEEN $3 AND $4
    UNION ALL
    SELECT 'member', p.id, p.name, NULL, NULL, NULL
      FROM member m
      JOIN person p ON p.id = m.person_id
     WHERE m.organization_id = $1 AND m.person_id = $2
"""

CARD: Final = """
    SELECT 'card' AS kind, id, number AS name, NULL AS mode, NULL::uuid AS parent_id, NULL AS detail
      FROM card
     WHERE organization_id = $1
       AND number = $2
"""

BY_TITLE: Final = """
    SELECT 'event' AS kind, e.id, e.title AS name, NULL AS mode, NULL::uuid AS parent_id, NULL AS detail
      FROM event e
     WHERE e.organization_id = $1
       AND search_words($2) <> '{}'
       AND NOT EXISTS (SELECT FROM unnest(search_words($2)) u (word)
                        WHERE NOT EXISTS (SELECT FROM unnest(search_words(e.title)) v (word)
                                           WHERE starts_with(v.word, u.word)))
     ORDER BY e.starts_at DESC
     LIMIT $3
"""
