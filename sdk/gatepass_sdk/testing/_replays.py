"""Replays: sending again what was sent before."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from gatepass_sdk.testing._asked import Asked, Refused, Reply, invalid
from gatepass_sdk.testing._bodies import Fields, Flag, Text, Texts, read_body, read_moment, read_uuid
from gatepass_sdk.testing._deliveries import Delivery, delivery_id_of, find_delivery
from gatepass_sdk.testing._endpoint import Endpoint, endpoint_id, find_endpoint, known_types
from gatepass_sdk.testing._pages import Place, page_of, page_size, page_start
from gatepass_sdk.testing._times import maybe_rfc3339, rfc3339

if TYPE_CHECKING:
    from gatepass_sdk.testing._world import Side, World

ENDED: Final = ("delivered", "failed")
KEPT: Final = timedelta(days=30)
SPAN: Final = timedelta(hours=24)
MOST_RUNNING: Final = 4
REPLAY_FIELDS: Final[Fields] = {
    "since": Text(64, nullable=True),
    "until": Text(64, nullable=True),
    "types": Texts(Text(64), 32, nullable=True),
    "statuses": Texts(Text(among=ENDED), 8, nullable=True),
    "delivery_id": Text(64, nullable=True),
    "dry_run": Flag(),
}


@dataclass
class Replay:
    id: UUID
    endpoint: Endpoint
    since: datetime
    until: datetime
    types: list[str] | None
    statuses: list[str]
    chosen: list[Delivery]
    created_at: datetime
    ended_at: datetime | None = None

    @property
    def place(self) -> Place:
        return self.created_at, self.id

    def shown(self) -> dict[str, Any]:
        total = len(self.chosen)
        return {
            "id": str(self.id),
            "status": "running" if self.ended_at is None else "done",
            "total": total,
            "done": 0 if self.ended_at is None else total,
            "since": rfc3339(self.since),
            "until": rfc3339(self.until),
            "types": self.types,
            "statuses": self.statuses,
            "created_at": rfc3339(self.created_at),
            "ended_at": maybe_rfc3339(self.ended_at),
        }


def settle(world: "World", side: "Side") -> None:
    """What the worker has done since the last request: replays are added, and what is due has arrived."""
    now = world.now()
    for replay in side.replays:
        if replay.ended_at is None:
            for one in replay.chosen:
                send_again(side, one, replay, now)
            replay.ended_at = now
    for delivery in side.deliveries:
        if delivery.status == "pending":
            delivery.ended_at = now


def send_again(side: "Side", delivery: Delivery, replay: Replay, at: datetime) -> None:
    id = delivery_id_of(str(delivery.id), str(replay.id))
    side.deliveries.append(Delivery(id, delivery.endpoint, delivery.message, at, replay_id=replay.id))


def list_replays(world: "World", asked: Asked) -> Reply:
    """Newest first."""
    size_and_start, side = (page_size(asked), page_start(asked)), world.sides[asked.mode]
    endpoint = find_endpoint(world, asked)
    found = [replay for replay in side.replays if replay.endpoint is endpoint]
    return page_of(asked, found, _place, Replay.shown, size_and_start, newest_first=True)


def replay(world: "World", asked: Asked) -> Reply:
    """Send deliveries again, or count those that would be."""
    side, now = world.sides[asked.mode], world.now()
    endpoint_id(asked)
    body = read_body(asked.body, REPLAY_FIELDS) if asked.body else {}
    delivery_id = _one_wanted(body)
    span = None if delivery_id is not None else _span_wanted(body, now)
    endpoint = find_endpoint(world, asked)
    if span is None:
        wanted = _only(endpoint, find_delivery(side, endpoint, delivery_id), now, world.new_id())
    else:
        since, until, types, statuses = span
        chosen = _chosen(side, endpoint, since, until, types, statuses)
        wanted = Replay(world.new_id(), endpoint, since, until, types, statuses, chosen, now)
    if body.get("dry_run"):
        return Reply(200, {"data": {"total": len(wanted.chosen)}})
    return _begun(side, endpoint, wanted)


def _begun(side: "Side", endpoint: Endpoint, wanted: Replay) -> Reply:
    if wanted.ended_at is not None:
        send_again(side, wanted.chosen[0], wanted, wanted.ended_at)
    elif sum(one.endpoint is endpoint and one.ended_at is None for one in side.replays) >= MOST_RUNNING:
        raise Refused("not_allowed", f"{MOST_RUNNING} replays of this endpoint are running. Wait for one to end.")
    side.replays.append(wanted)
    return Reply(202, {"data": wanted.shown()})


def _one_wanted(body: dict[str, Any]) -> UUID | None:
    text = body.get("delivery_id")
    if text is None:
        return None
    if any(body.get(name) is not None for name in ("since", "until", "types", "statuses")):
        raise invalid("Send either delivery_id or a filter.", "delivery_id")
    found = read_uuid(text)
    if found is None:
        raise invalid("delivery_id is not a UUID.", "delivery_id")
    return found


def _span_wanted(body: dict[str, Any], now: datetime) -> tuple[datetime, datetime, list[str] | None, list[str]]:
    given = {name: read_moment(body[name], name) for name in ("since", "until") if body.get(name) is not None}
    until = given.get("until", now)
    if until > now:
        raise invalid("until is in the future.", "until")
    if now - until > KEPT:
        raise invalid(f"Messages are kept for {KEPT.days} days; until is before that.", "until")
    since = given.get("since", until - SPAN)
    if since >= until:
        raise invalid("since is not before until.", "since")
    if now - since > KEPT:
        raise invalid(f"Messages are kept for {KEPT.days} days; since is before that.", "since")
    types: Sequence[str] | None = body.get("types")
    kinds = None if types is None else known_types(types)
    return since, until, kinds, list(dict.fromkeys(body.get("statuses") or ENDED))


def _chosen(
    side: "Side", endpoint: Endpoint, since: datetime, until: datetime, types: list[str] | None, statuses: list[str]
) -> list[Delivery]:
    """Replays are not sent again, nor pings: what they were made from is."""
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


def _only(endpoint: Endpoint, delivery: Delivery, now: datetime, id: UUID) -> Replay:
    """One delivery alone. There is nothing to go through, so its replay is done as it begins."""
    if delivery.ended_at is None:
        raise Refused("not_allowed", "This delivery is still to be sent.")
    until = delivery.at + timedelta(microseconds=1)
    return Replay(
        id, endpoint, delivery.at, until, [delivery.message.type], [delivery.status], [delivery], now, ended_at=now
    )


def _place(replay: Replay) -> Place:
    return replay.place
