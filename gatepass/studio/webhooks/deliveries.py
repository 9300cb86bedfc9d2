"""Deliveries of an endpoint: the list, one delivery with every attempt, and sending it again."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final, TypeVar
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gatepass.domain import webhooks
from gatepass.domain.staff import Permission
from gatepass.domain.webhooks import AttemptMade, Delivery, DeliveryStatus, Endpoint, MessageType
from gatepass.domain.webhooks.schedule import DELAYS, PACE
from gatepass.studio.services.templates import indented_json
from gatepass.studio.web.auth import may
from gatepass.studio.web.context import Context
from gatepass.studio.web.forms import Form
from gatepass.studio.web.paging import place_of, place_text
from gatepass.studio.webhooks import text as words
from gatepass.studio.webhooks.forms import again_in, query, time_in

router = APIRouter(prefix="/webhooks/{endpoint_id}/deliveries")

Reader = Annotated[Context, may(Permission.WEBHOOKS_READ)]
Choice = TypeVar("Choice", bound=StrEnum)

PAGE: Final = 50


@dataclass(frozen=True, slots=True)
class AttemptShown:
    """An attempt with the headers of its request and an explanation of its outcome."""

    made: AttemptMade
    headers: dict[str, str]
    succeeded: bool
    outcome: str
    explanation: words.FailureHelp | None
    timing: "Timing"


@dataclass(frozen=True, slots=True)
class Timing:
    """Parts of an attempt's time: name, begin and width in percent, milliseconds."""

    parts: list[tuple[str, float, float, float]]


@router.get("")
async def listing(
    endpoint_id: UUID,
    context: Reader,
    status: str = "",
    type: str = "",
    since: str = "",
    until: str = "",
    cursor: str = "",
) -> Response:
    wanted, kind, begin, end = (
        _one_of(DeliveryStatus, status),
        _one_of(MessageType, type),
        time_in(since, context.zone),
        time_in(until, context.zone),
    )
    async with context.db.autocommit() as tx:
        endpoint = await webhooks.find_endpoint(tx, context.organization_id, context.mode, endpoint_id)
        found, place = await webhooks.deliveries_of(
            tx,
            context.organization_id,
            endpoint,
            status=wanted,
            type=kind,
            since=begin,
            until=end,
            after=place_of(cursor),
            limit=PAGE,
        )
    filters = {"status": wanted, "type": kind, "since": since if begin else "", "until": until if end else ""}
    here = context.path(f"webhooks/{endpoint_id}/deliveries")
    return context.page(
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
async def one(endpoint_id: UUID, delivery_id: UUID, context: Reader) -> Response:
    async with context.db.autocommit() as tx:
        endpoint = await webhooks.find_endpoint(tx, context.organization_id, context.mode, endpoint_id)
        delivery = await webhooks.find_delivery(tx, context.organization_id, endpoint, delivery_id)
        attempts = await webhooks.attempts_of(tx, context.organization_id, delivery)
        body = await webhooks.body_of(tx, context.organization_id, endpoint, delivery)
    raw = None if body is None else context.sight.words(body.decode(errors="replace"))
    return context.page(
        "webhooks/delivery.html",
        endpoint=endpoint,
        delivery=delivery,
        state=delivery.status(endpoint),
        event_id=webhooks.written_id(delivery.event_id),
        attempts=[_shown(delivery, attempt) for attempt in reversed(attempts)],
        raw=raw,
        pretty=None if raw is None else indented_json(raw),
        ahead=_ahead(endpoint, delivery),
        again_in=again_in(delivery.next_at, context.at),
        planned=len(DELAYS) + 1,
        words=words,
    )


@router.post("/{delivery_id}/resend")
async def resend(
    endpoint_id: UUID, delivery_id: UUID, context: Annotated[Context, may(Permission.WEBHOOKS_WRITE)]
) -> Response:
    async with context.transaction() as tx:
        replay = await webhooks.replay_one(
            tx, context.organization_id, context.mode, endpoint_id, delivery_id, by=context.by, at=context.at
        )
    again = webhooks.resent_id(delivery_id, replay.id)
    return context.go(f"webhooks/{endpoint_id}/deliveries/{again}", "On its way again, with the same id and body.")


def _one_of(kind: type[Choice], text: str) -> Choice | None:
    """None, so no filter, for an unknown value."""
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


def _ahead(endpoint: Endpoint, delivery: Delivery) -> list[float]:
    """The planned delays after the next attempt, in seconds."""
    if delivery.next_at is None or endpoint.is_paused:
        return []
    return [seconds / PACE[endpoint.mode] for seconds in DELAYS[delivery.attempts :]]
