"""Replays: deliveries that are sent again."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from gatepass_sdk.testing._body_reader import Fields, Flag, Text, Texts, read_body, read_moment, read_uuid
from gatepass_sdk.testing._deliveries import find_delivery
from gatepass_sdk.testing._endpoints import endpoint_id, find_endpoint, known_types
from gatepass_sdk.testing._http import Refused, Reply, Request, invalid
from gatepass_sdk.testing._outbox import delivery_id_of
from gatepass_sdk.testing._paging import page_of, page_size, page_start
from gatepass_sdk.testing._state import DeliveryRecord, EndpointRecord, ReplayRecord, Side, World

ENDED: Final = ("delivered", "failed")
RETENTION: Final = timedelta(days=30)
DEFAULT_SPAN: Final = timedelta(hours=24)
MOST_RUNNING: Final = 4
REPLAY_FIELDS: Final[Fields] = {
    "since": Text(64, nullable=True),
    "until": Text(64, nullable=True),
    "types": Texts(Text(64), 32, nullable=True),
    "statuses": Texts(Text(among=ENDED), 8, nullable=True),
    "delivery_id": Text(64, nullable=True),
    "dry_run": Flag(),
}


def settle(world: World, side: Side) -> None:
    """Do the worker's part since the last request: add the deliveries of replays, and deliver what is due."""
    now = world.now()
    for replay in side.replays:
        if replay.ended_at is None:
            for one in replay.chosen:
                send_again(side, one, replay, now)
            replay.ended_at = now
    for delivery in side.deliveries:
        if delivery.status == "pending":
            delivery.ended_at = now


def send_again(side: Side, delivery: DeliveryRecord, replay: ReplayRecord, at: datetime) -> None:
    id = delivery_id_of(str(delivery.id), str(replay.id))
    side.deliveries.append(DeliveryRecord(id, delivery.endpoint, delivery.message, at, replay_id=replay.id))


def list_replays(world: World, request: Request) -> Reply:
    """Newest first."""
    size_and_start, side = (page_size(request), page_start(request)), world.sides[request.mode]
    endpoint = find_endpoint(world, request)
    found = [replay for replay in side.replays if replay.endpoint is endpoint]
    return page_of(request, found, lambda one: one.position, ReplayRecord.shown, size_and_start, newest_first=True)


def replay(world: World, request: Request) -> Reply:
    """Send deliveries again, or count them if it is a `dry_run`."""
    side, now = world.sides[request.mode], world.now()
    endpoint_id(request)
    body = read_body(request.body, REPLAY_FIELDS) if request.body else {}
    delivery_id = _single_delivery(body)
    span = None if delivery_id is not None else _span(body, now)
    endpoint = find_endpoint(world, request)
    if span is None:
        wanted = _single_replay(endpoint, find_delivery(side, endpoint, delivery_id), now, world.new_id())
    else:
        since, until, types, statuses = span
        chosen = _select(side, endpoint, since, until, types, statuses)
        wanted = ReplayRecord(world.new_id(), endpoint, since, until, types, statuses, chosen, now)
    if body.get("dry_run"):
        return Reply(200, {"data": {"total": len(wanted.chosen)}})
    return _begin(side, endpoint, wanted)


def _begin(side: Side, endpoint: EndpointRecord, wanted: ReplayRecord) -> Reply:
    if wanted.ended_at is not None:
        send_again(side, wanted.chosen[0], wanted, wanted.ended_at)
    elif sum(one.endpoint is endpoint and one.ended_at is None for one in side.replays) >= MOST_RUNNING:
        raise Refused("not_allowed", f"{MOST_RUNNING} replays of this endpoint are running. Wait for one to end.")
    side.replays.append(wanted)
    return Reply(202, {"data": wanted.shown()})


def _single_delivery(body: dict[str, Any]) -> UUID | None:
    text = body.get("delivery_id")
    if text is None:
        return None
    if any(body.get(name) is not None for name in ("since", "until", "types", "statuses")):
        raise invalid("Send either delivery_id or a filter.", "delivery_id")
    found = read_uuid(text)
    if found is None:
        raise invalid("delivery_id is not a UUID.", "delivery_id")
    return found


def _span(body: dict[str, Any], now: datetime) -> tuple[datetime, datetime, list[str] | None, list[str]]:
    given = {name: read_moment(body[name], name) for name in ("since", "until") if body.get(name) is not None}
    until = given.get("until", now)
    if until > now:
        raise invalid("until is in the future.", "until")
    if now - until > RETENTION:
        raise invalid(f"Messages are kept for {RETENTION.days} days; until is before that.", "until")
    since = given.get("since", until - DEFAULT_SPAN)
    if since >= until:
        raise invalid("since is not before until.", "since")
    if now - since > RETENTION:
        raise invalid(f"Messages are kept for {RETENTION.days} days; since is before that.", "since")
    types: Sequence[str] | None = body.get("types")
    kinds = None if types is None else known_types(types)
    return since, until, kinds, list(dict.fromkeys(body.get("statuses") or ENDED))


def _select(
    side: Side, endpoint: EndpointRecord, since: datetime, until: datetime, types: list[str] | None, statuses: list[str]
) -> list[DeliveryRecord]:
    """The deliveries to send again. Pings are left out, and so are replays, because their originals are sent."""
    return [
        one
        for one in side.deliveries
        if one.endpoint is endpoint
        and since <= one.at < until
        and one.replay_id is None
        and one.message.type != "webhook.ping"
        and (types is None or one.message.type in types)
        and one.status in statuses
    ]


def _single_replay(endpoint: EndpointRecord, delivery: DeliveryRecord, now: datetime, id: UUID) -> ReplayRecord:
    """A replay of one delivery. It ends as it begins, because there is nothing to select."""
    if delivery.ended_at is None:
        raise Refused("not_allowed", "This delivery is still to be sent.")
    until = delivery.at + timedelta(microseconds=1)
    return ReplayRecord(
        id, endpoint, delivery.at, until, [delivery.message.type], [delivery.status], [delivery], now, ended_at=now
    )
