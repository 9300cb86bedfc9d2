"""Replay requests: what can be selected, how much, and one delivery again."""

import asyncio
from datetime import datetime, timedelta

import pytest

from gatepass.base.errors import InvalidRequest, NotAllowedFromHere
from gatepass.domain import webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import Replay, replay_requests
from tests import factory
from tests.domain.webhooks.replays.steps import HOUR, URL, begin, clear, finish, of, rows, sent, step
from tests.factory import Tenant


async def test_what_is_selected(tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    other, _ = await tenant.endpoint(URL)
    for endpoint_id, count in ((id, 6), (other, 5)):
        await sent(tenant, endpoint_id, count, "delivered", "ticket.activated")
    await sent(tenant, id, 4, "failed", "ticket.cancelled")
    await sent(tenant, id, 3, "pending", "ticket.activated")
    await sent(tenant, id, 2, "delivered", "webhook.ping")
    at = factory.now()
    for wanted, count in (
        (webhooks.select(at=at), 10),
        (webhooks.select(at=at, states=["failed"]), 4),
        (webhooks.select(at=at, states=["delivered"]), 6),
        (webhooks.select(at=at, types=["ticket.activated"]), 6),
        (webhooks.select(at=at, types=["ticket.activated"], states=["failed"]), 0),
        (webhooks.select(at=at, since=at - HOUR), 10),
        (webhooks.select(at=at, until=at - HOUR), 0),
        (webhooks.select(at=at, since=at - timedelta(seconds=20 * 12.5)), 6),
    ):
        async with tenant.db.autocommit() as tx:
            assert await webhooks.count_selected(tx, tenant.id, id, wanted) == count
        replay = await begin(tenant, id, wanted)
        await finish(tenant)
        (done,) = [one for one in await of(tenant, id) if one.id == replay.id]
        assert (done.done, done.total, done.status) == (count, count, "done")
        assert len([row for row in await rows(tenant, id) if row["replay_id"] == replay.id]) == count


async def test_of_many_that_are_asked_for_at_once_four_begin(tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    await sent(tenant, id, 10)
    begun = await asyncio.gather(*[begin(tenant, id) for _ in range(12)], return_exceptions=True)
    assert sorted(isinstance(one, Replay) for one in begun) == [False] * 8 + [True] * 4
    assert {type(one) for one in begun} == {Replay, NotAllowedFromHere}


async def test_one_delivery_is_sent_again(tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    await tenant.tell(3)
    await clear(tenant, id, lane=0)
    async with tenant.db.autocommit() as tx:
        source = (await tx.rows("SELECT * FROM webhook_delivery WHERE endpoint_id = $1 ORDER BY id LIMIT 1", id))[0]
    for count in (1, 2):
        async with tenant.db.transaction() as tx:
            replay = await webhooks.replay_one(
                tx, tenant.id, Mode.LIVE, id, source["id"], by=factory.BY, at=factory.now()
            )
        assert (replay.total, replay.done, replay.status) == (1, 1, "done")
        assert await step(tenant) == 0
        assert len(await rows(tenant, id)) == count
    first, second = await rows(tenant, id)
    assert first["event_id"] == second["event_id"] == source["event_id"]
    assert first["queue_key"] != second["queue_key"]
    assert len(await clear(tenant, id)) == 2


async def test_more_than_a_million_are_too_many(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit counts the deliveries that must be read, whatever the filter."""
    id, _ = await tenant.endpoint(URL)
    await sent(tenant, id, 30)
    monkeypatch.setattr(replay_requests, "MOST_SELECTED", 29)
    with pytest.raises(InvalidRequest, match="more than 29"):
        await begin(tenant, id, webhooks.select(at=factory.now(), states=["failed"]))
    monkeypatch.setattr(replay_requests, "MOST_SELECTED", 30)
    assert (await begin(tenant, id)).total == 30


T = datetime.fromisoformat("2031-05-01T12:00:00+00:00")


def test_a_selection_has_its_defaults() -> None:
    chosen = webhooks.select(at=T)
    assert (chosen.since, chosen.until) == (T - 24 * HOUR, T)
    assert (chosen.types, chosen.states) == (None, ["delivered", "failed"])
    assert webhooks.select(at=T, until=T - HOUR).since == T - 25 * HOUR
    assert webhooks.select(at=T, since=T - 30 * 24 * HOUR).since == T - 30 * 24 * HOUR
    assert webhooks.select(at=T, types=["scan.denied", "scan.denied"]).types == ["scan.denied"]


@pytest.mark.parametrize(
    ("asked", "param"),
    [
        ({"until": T + timedelta(microseconds=1)}, "until"),
        ({"until": T - 31 * 24 * HOUR}, "until"),
        ({"until": datetime.fromisoformat("0001-01-01T00:00:00+00:00")}, "until"),
        ({"since": T}, "since"),
        ({"since": T - 30 * 24 * HOUR - timedelta(seconds=1)}, "since"),
        ({"since": datetime.fromisoformat("0001-01-01T00:00:00+23:59")}, "since"),
        ({"since": T - HOUR, "until": T - HOUR}, "since"),
        ({"types": []}, "types"),
        ({"types": ["webhook.ping"]}, "types"),
        ({"states": []}, "statuses"),
        ({"states": ["pending"]}, "statuses"),
    ],
)
def test_what_cannot_be_selected(asked: dict[str, object], param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        webhooks.select(at=T, **asked)  # pyright: ignore[reportArgumentType]
    assert refused.value.param == param


async def test_the_id_of_a_delivery_that_is_sent_again_is_known_beforehand(tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    (event_id,) = await tenant.tell()
    (first,) = await clear(tenant, id, lane=0)
    async with tenant.db.transaction() as tx:
        replay = await webhooks.replay_one(
            tx, tenant.id, Mode.LIVE, id, first.delivery_id, by=factory.BY, at=factory.now()
        )
    (again,) = await rows(tenant, id)
    assert again["event_id"] == event_id
    assert again["id"] == webhooks.resent_id(first.delivery_id, replay.id)
