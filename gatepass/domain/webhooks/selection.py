"""Which deliveries are to be sent again: of a span of time, of some types, that ended in some way."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.refusals import InvalidRequest
from gatepass.domain.webhooks.endpoint import known_types
from gatepass.domain.webhooks.queue import State

# Unless asked otherwise.
SPAN: Final = timedelta(hours=24)
# Bodies are kept for so long (`history` in the schema).
KEPT: Final = timedelta(days=30)
# Counting more would take longer than a call may.
MOST: Final = 1_000_000
# What is pending is sent anyway.
ENDED: Final = (State.DELIVERED, State.FAILED)


@dataclass(frozen=True, slots=True)
class Selection:
    """From `since` to before `until`. `types` of None are all of them, but for pings."""

    since: datetime
    until: datetime
    types: list[str] | None
    states: list[str]


def select(
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    types: Sequence[str] | None = None,
    states: Sequence[str] | None = None,
    at: datetime,
) -> Selection:
    """What was asked for at this time, or why it cannot be had."""
    until = at if until is None else until
    if until > at:
        raise InvalidRequest("until is in the future.", param="until")
    if at - until > KEPT:
        raise InvalidRequest(f"Messages are kept for {KEPT.days} days; until is before that.", param="until")
    since = until - SPAN if since is None else since
    if since >= until:
        raise InvalidRequest("since is not before until.", param="since")
    if at - since > KEPT:
        raise InvalidRequest(f"Messages are kept for {KEPT.days} days; since is before that.", param="since")
    if states is not None and (not states or not set(states) <= set(ENDED)):
        raise InvalidRequest(f"statuses are {' and '.join(ENDED)}.", param="statuses")
    kinds = None if types is None else known_types(types)
    return Selection(since, until, kinds, list(dict.fromkeys(ENDED if states is None else states)))


async def count_selected(tx: Tx, organization_id: UUID, endpoint_id: UUID, selection: Selection) -> int:
    """How many deliveries these are now."""
    span = (organization_id, endpoint_id, selection.since, selection.until)
    rows = await tx.rows(COUNT, *span, selection.types, selection.states, MOST + 1)
    if rows[0]["looked_through"] > MOST:
        raise InvalidRequest(f"There are more than {MOST:,} deliveries. Choose a shorter time.", param="since")
    return rows[0]["selected"]


# Replays are not sent again: what they were made from is.
COUNT: Final = """
    SELECT count(*) AS looked_through,
           count(*) FILTER (WHERE looked.replay_id IS NULL
                              AND looked.type <> 'webhook.ping'
                              AND ($5::text[] IS NULL OR looked.type = ANY ($5))
                              AND looked.state = ANY ($6)) AS selected
      FROM (SELECT d.replay_id, d.type, d.state
              FROM webhook_delivery d
             WHERE d.organization_id = $1
               AND d.endpoint_id = $2
               AND d.at >= $3
               AND d.at < $4
             LIMIT $7) looked
"""
