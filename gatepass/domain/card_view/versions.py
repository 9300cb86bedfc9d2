"""Versions of card pages: a text that changes whenever a page would show something else.

One statement reads those of many cards, so that a process asks once a second for all the pages that are open in it.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import twin

# An event is shown for this long after its end.
SHOWN_AFTER: Final = timedelta(days=1)


class CardRef(NamedTuple):
    organization_id: UUID
    card_id: UUID


async def read_versions(tx: Tx, cards: Collection[CardRef], *, at: datetime) -> Mapping[CardRef, str]:
    """The version of each card's page. A card that is gone has none."""
    tenants = [card.organization_id for card in cards]
    owners = [twin.owner_of(tenant) for tenant in tenants]
    rows = await tx.rows(VERSIONS, tenants, [card.card_id for card in cards], at - SHOWN_AFTER, owners)
    return {CardRef(row["organization_id"], row["card_id"]): row["version"] for row in rows}


# The whole row of the card, because every column of it is shown or decides what is. A category's is left out: it
# changes at each sale. The look is the owner's, also for a card of the sandbox.
VERSIONS: Final = """
    SELECT u.tenant_id AS organization_id, u.card_id,
           md5(concat_ws('|', c::text, l.secret_hash::text, h::text, o.name, o.suspended_at::text, o.closed_at::text,
                         k.changed_at::text, x.tickets)) AS version
      FROM unnest($1::uuid[], $2::uuid[], $4::uuid[]) u (tenant_id, card_id, organization_id)
      JOIN card c ON c.organization_id = u.tenant_id AND c.id = u.card_id
      JOIN organization o ON o.id = u.tenant_id
      LEFT JOIN card_look k ON k.organization_id = u.organization_id
      LEFT JOIN card_link l ON l.organization_id = u.tenant_id AND l.card_id = u.card_id
      LEFT JOIN card_holder h ON h.organization_id = u.tenant_id AND h.card_id = u.card_id
      LEFT JOIN LATERAL (
           SELECT string_agg(concat_ws(' ', t.id::text, t.activated_at::text, t.cancelled_at::text, e.updated_at::text),
                             ',' ORDER BY t.id) AS tickets
             FROM ticket t
             JOIN event e ON e.organization_id = t.organization_id AND e.id = t.event_id
            WHERE t.organization_id = u.tenant_id
              AND t.card_id = u.card_id
              AND e.ends_at > $3) x ON true
"""
