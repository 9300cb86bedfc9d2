"""Deliveries: what an endpoint was sent or is still to be sent; one of them with every attempt; sending it again."""

import json
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, TypeVar
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.domain import webhooks
from gatepass.domain.staff import Permission
from gatepass.domain.webhooks import AttemptMade, Delivery, DeliveryStatus, Endpoint, MessageType
from gatepass.domain.webhooks.schedule import DELAYS, PACE
from gatepass.studio import webhook_words as words
from gatepass.studio.entrance import may
from gatepass.studio.form import Form
from gatepass.studio.places import place_of, place_text
from gatepass.studio.visit import Visit
from gatepass.studio.webhook_pages import query, time_in

router = APIRouter(prefix="/webhooks/{endpoint_id}/deliveries")

Reading = Annotated[Visit, may(Permission.WEBHOOKS_READ)]
Choice = TypeVar("Choice", bound=StrEnum)

PAGE: Final = 50
# Seconds after which a page about what is pending looks again.
SOONEST: Final = 2
LATEST: Final = 3600


@dataclass(frozen=True, slots=True)
class AttemptShown:
    """An attempt with its request as it was sent and what to make of its answer."""

    made: AttemptMade
    headers: dict[str, str]
    succeeded: bool
    outcome: str
    explanation: words.Explanation | None
    timing: "Timing"


@dataclass(frozen=True, slots=True)
class Timing:
    """Parts of an attempt's time, in a hundred steps: where each begins and how wide it is."""

    parts: list[tuple[str, float, float, float]]


@router.get("")
async def listing(
    endpoint_id: UUID,
    visit: Reading,
    status: str = "",
    type: str = "",
    since: str = "",
    until: str = "",
    cursor: str = "",
) -> Response:
    wanted, kind, begin, end = (
        _one_of(DeliveryStatus, status),
        _one_of(MessageType, type),
        time_in(since),
        time_in(until),
    )
    async with visit.db.reading() as tx:
        endpoint = await webhooks.find_endpoint(tx, visit.organization_id, visit.mode, endpoint_id)
        found, place = await webhooks.deliveries_of(
            tx,
            visit.organization_id,
            endpoint,
            status=wanted,
            type=kind,
            since=begin,
            until=end,
            after=place_of(cursor),
            limit=PAGE,
        )
    filters = {"status": wanted, "type": kind, "since": since if begin else "", "until": until if end else ""}
    here = visit.path(f"webhooks/{endpoint_id}/deliveries")
    return visit.page(
        "webhooks/deliveries.html",
        endpoint=endpoint,
        deliveries=found,
        form=Form.of(**filters),
        filtered=any(filters.values()),
        next=here + query(**filters, cursor=place_text(place)) if place else None,
        newest=here + query(**filters) if cursor else None,
        statuses=list(DeliveryStatus),
        types=list(MessageType),
        words=words,
    )


@router.get("/{delivery_id}")
async def one(endpoint_id: UUID, delivery_id: UUID, visit: Reading) -> Response:
    async with visit.db.reading() as tx:
        endpoint = await webhooks.find_endpoint(tx, visit.organization_id, visit.mode, endpoint_id)
        delivery = await webhooks.find_delivery(tx, visit.organization_id, endpoint, delivery_id)
        attempts = await webhooks.attempts_of(tx, visit.organization_id, delivery)
        body = await webhooks.body_of(tx, visit.organization_id, endpoint, delivery)
    return visit.page(
        "webhooks/delivery.html",
        endpoint=endpoint,
        delivery=delivery,
        state=delivery.status(endpoint),
        event_id=webhooks.written_id(delivery.event_id),
        attempts=[_shown(delivery, attempt) for attempt in reversed(attempts)],
        raw=None if body is None else body.decode(errors="replace"),
        pretty=_pretty(body),
        ahead=_ahead(endpoint, delivery),
        again_in=_again_in(delivery, visit.at),
        planned=len(DELAYS) + 1,
        words=words,
    )


@router.post("/{delivery_id}/resend")
async def resend(
    endpoint_id: UUID, delivery_id: UUID, visit: Annotated[Visit, may(Permission.WEBHOOKS_WRITE)]
) -> Response:
    async with visit.transaction() as tx:
        replay = await webhooks.replay_one(
            tx, visit.organization_id, visit.mode, endpoint_id, delivery_id, by=visit.by, at=visit.at
        )
    again = webhooks.resent_id(delivery_id, replay.id)
    return visit.go(f"webhooks/{endpoint_id}/deliveries/{again}", "On its way again, with the same id and body.")


def _one_of(kind: type[Choice], text: str) -> Choice | None:
    """A filter that is none of ours filters nothing."""
    return kind(text) if text in set(kind) else None


def _shown(delivery: Delivery, attempt: AttemptMade) -> AttemptShown:
    explanation = words.explain(attempt.status, attempt.error)
    return AttemptShown(
        attempt,
        webhooks.headers_of(delivery, attempt),
        words.succeeded(attempt),
        words.outcome(attempt.status, attempt.error),
        explanation,
        _timing(attempt),
    )


def _timing(attempt: AttemptMade) -> Timing:
    whole = max(attempt.total_ms, 0.001)
    begin, parts = 0.0, list[tuple[str, float, float, float]]()
    for name, took in (("DNS", attempt.dns_ms), ("Connection", attempt.connect_ms), ("Answer", attempt.answer_ms)):
        if took:
            wide = min(100 * took / whole, 100 - begin)
            parts.append((name, round(begin, 2), round(wide, 2), took))
            begin += wide
    return Timing(parts)


def _pretty(body: bytes | None) -> str | None:
    """The body for people; what is signed is the raw one."""
    if body is None:
        return None
    try:
        return json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    except ValueError:
        return body.decode(errors="replace")


def _again_in(delivery: Delivery, at: datetime) -> int:
    """In how many seconds the page should look again: just after the next attempt is due."""
    left = 0.0 if delivery.next_at is None else (delivery.next_at - at).total_seconds()
    return int(min(max(left + 1, SOONEST), LATEST))


def _ahead(endpoint: Endpoint, delivery: Delivery) -> list[float]:
    """The waits that are still planned, in seconds, after the next attempt."""
    if delivery.next_at is None or endpoint.is_paused:
        return []
    return [seconds / PACE[endpoint.mode] for seconds in DELAYS[delivery.attempts :]]
