"""Deliveries of some time, and an attempt told again as it was sent, without its signatures."""

from datetime import timedelta

from gatepass.base.wire_name import ATTEMPT_HEADER, REPLAY_HEADER, SIGNATURE_HEADER
from gatepass.domain import webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import AttemptMade, Message, MessageType
from gatepass.domain.webhooks.signature import Secrets, headers
from tests import make
from tests.make import House

URL = "https://example.com/hook"


async def test_a_span_of_time_is_a_part_of_the_list(house: House) -> None:
    id, _ = await house.endpoint(URL)
    at = make.now()
    for minutes in range(10):
        message = Message(make.new_id(), MessageType.TICKET_ACTIVATED, {})
        async with house.db.transaction() as tx:
            await webhooks.emit(tx, house.id, [message], at=at - timedelta(minutes=minutes))

    async def pages(**span: object) -> list[int]:
        told, place = list[int](), None
        async with house.db.reading() as tx:
            endpoint = await webhooks.find_endpoint(tx, house.id, Mode.LIVE, id)
            while True:
                found, place = await webhooks.deliveries_of(tx, house.id, endpoint, after=place, limit=2, **span)  # pyright: ignore[reportArgumentType]
                told += [round((at - delivery.at).total_seconds() / 60) for delivery in found]
                if place is None:
                    return told

    assert await pages() == list(range(10))
    assert await pages(since=at - timedelta(minutes=4)) == [0, 1, 2, 3, 4]
    assert await pages(until=at - timedelta(minutes=4)) == [5, 6, 7, 8, 9]
    assert await pages(since=at - timedelta(minutes=6), until=at - timedelta(minutes=4)) == [5, 6]
    assert await pages(since=at + timedelta(minutes=1)) == []


async def test_the_headers_of_an_attempt_are_told_without_its_signatures(house: House) -> None:
    id, secret = await house.endpoint(URL)
    await house.tell()
    async with house.db.reading() as tx:
        endpoint = await webhooks.find_endpoint(tx, house.id, Mode.LIVE, id)
        (delivery,), _ = await webhooks.deliveries_of(tx, house.id, endpoint, limit=1)
    attempt = AttemptMade(3, make.now(), 500, None, None, None, None, None, 1.0, None)
    told = webhooks.headers_of(delivery, attempt)
    real = headers(
        Secrets(secret), b"{}", event_id=delivery.event_id, type=delivery.type, delivery_id=delivery.id, attempt=3,
        replayed=False, at=attempt.at,
    )  # fmt: skip
    signatures = {SIGNATURE_HEADER, "webhook-signature"}
    assert {name: told[name] for name in real if name not in signatures} == {
        name: value for name, value in real.items() if name not in signatures
    }
    assert told[SIGNATURE_HEADER].split(",")[0] == real[SIGNATURE_HEADER].split(",")[0]
    assert all("not kept" in told[name] for name in signatures)
    assert (told[ATTEMPT_HEADER], REPLAY_HEADER in told) == ("3", False)
