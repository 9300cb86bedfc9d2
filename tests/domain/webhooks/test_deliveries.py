"""Deliveries of a span of time, and the headers of an attempt, without its signatures."""

from datetime import timedelta

from gatepass.base.wire_constants import ATTEMPT_HEADER, REPLAY_HEADER, SIGNATURE_HEADER
from gatepass.domain import webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import AttemptMade, Message, MessageType
from gatepass.domain.webhooks.signature import Secrets, headers
from tests import factory
from tests.factory import Tenant

URL = "https://example.com/hook"


async def test_a_span_of_time_is_a_part_of_the_list(tenant: Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    at = factory.now()
    for minutes in range(10):
        message = Message(factory.new_id(), MessageType.TICKET_ACTIVATED, {})
        async with tenant.db.transaction() as tx:
            await webhooks.emit(tx, tenant.id, [message], at=at - timedelta(minutes=minutes))

    async def pages(**span: object) -> list[int]:
        shown, place = list[int](), None
        async with tenant.db.autocommit() as tx:
            endpoint = await webhooks.find_endpoint(tx, tenant.id, Mode.LIVE, id)
            while True:
                found, place = await webhooks.deliveries_of(tx, tenant.id, endpoint, after=place, limit=2, **span)  # pyright: ignore[reportArgumentType]
                shown += [round((at - delivery.at).total_seconds() / 60) for delivery in found]
                if place is None:
                    return shown

    assert await pages() == list(range(10))
    assert await pages(since=at - timedelta(minutes=4)) == [0, 1, 2, 3, 4]
    assert await pages(until=at - timedelta(minutes=4)) == [5, 6, 7, 8, 9]
    assert await pages(since=at - timedelta(minutes=6), until=at - timedelta(minutes=4)) == [5, 6]
    assert await pages(since=at + timedelta(minutes=1)) == []


async def test_the_headers_of_an_attempt_are_told_without_its_signatures(tenant: Tenant) -> None:
    id, secret = await tenant.endpoint(URL)
    await tenant.tell()
    async with tenant.db.autocommit() as tx:
        endpoint = await webhooks.find_endpoint(tx, tenant.id, Mode.LIVE, id)
        (delivery,), _ = await webhooks.deliveries_of(tx, tenant.id, endpoint, limit=1)
    attempt = AttemptMade(3, factory.now(), 500, None, None, None, None, None, 1.0, None)
    shown = webhooks.headers_of(delivery, attempt)
    real = headers(
        Secrets(secret), b"{}", event_id=delivery.event_id, type=delivery.type, delivery_id=delivery.id, attempt=3,
        replayed=False, at=attempt.at,
    )  # fmt: skip
    signatures = {SIGNATURE_HEADER, "webhook-signature"}
    assert {name: shown[name] for name in real if name not in signatures} == {
        name: value for name, value in real.items() if name not in signatures
    }
    assert shown[SIGNATURE_HEADER].split(",")[0] == real[SIGNATURE_HEADER].split(",")[0]
    assert all("not kept" in shown[name] for name in signatures)
    assert (shown[ATTEMPT_HEADER], REPLAY_HEADER in shown) == ("3", False)
