"""Manifests under attack: cursors that nobody gave out, those of others, and devices that ask without end.

Each is a refusal, or the whole manifest of the device's own event; never a fault of ours, and never another's records.
"""

import asyncio
import base64
import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gatepass.base.settings import BASE_PATH
from gatepass.domain.manifest import Cursor, Server
from gatepass_sdk._gate.manifest import Manifest
from tests.attacks.target import Target
from tests.domain.manifest.devices import PairedDevice, paired


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).rstrip(b"=").decode()


GOOD = "1.7000000000000000000.1.0123456789abcdef.0123456789abcdef.1790000000000."
CURSORS = {
    "nothing": "",
    "a word": "x",
    "not base64": "!!!!",
    "padding": encoded(GOOD + "3:3:") + "==",
    "standard base64": "+/+/",
    "only dots": encoded("......"),
    "another version": encoded("2" + GOOD[1:] + "3:3:"),
    "no snapshot": encoded(GOOD),
    "half a snapshot": encoded(GOOD + "3:3"),
    "a snapshot of zero": encoded(GOOD + "0:3:"),
    "a snapshot backwards": encoded(GOOD + "9:3:"),
    "a running one before the oldest": encoded(GOOD + "5:9:3"),
    "a running one after the last": encoded(GOOD + "5:9:9"),
    "running ones out of order": encoded(GOOD + "5:9:8,6"),
    "an empty running one": encoded(GOOD + "5:9:6,,7"),
    "a comma at the end": encoded(GOOD + "5:9:6,"),
    "an id of 19 digits": encoded(GOOD + "5:9999999999999999999:"),
    "a negative id": encoded(GOOD + "-5:9:"),
    "a time of 30 digits": encoded(GOOD.replace("1790000000000", "9" * 30) + "3:3:"),
    "a server of 40 digits": encoded(GOOD.replace("7000000000000000000", "7" * 40) + "3:3:"),
    "a tag in capitals": encoded(GOOD.replace("abcdef", "ABCDEF") + "3:3:"),
    "digits of another script": encoded(GOOD + "\u0663:9:"),
    "SQL": encoded(GOOD + "3:3:' OR 1=1 --"),
    "NUL": encoded(GOOD + "3:3:\0"),
    "NUL as it is": "\0",
    "a line feed": "a\r\nb",
    "a line feed at the end": encoded(GOOD + "3:3:\n"),
    "a lone surrogate": encoded("\ud800"),
    "bytes": base64.urlsafe_b64encode(b"\xff" * 40).decode(),
    "6 KB": "A" * 6_000,
    "4 KB of running ones": encoded(GOOD + "1:99999:" + ",".join(map(str, range(700, 1, -1)))),
}


@pytest.fixture
async def device(target: Target) -> AsyncGenerator[PairedDevice]:
    """A new one each time: how many whole manifests a device gets is limited."""
    await target.tenant.card()
    async with target.server.client() as client:
        yield await paired(client, target.tenant)


@pytest.fixture
async def victim(target: Target) -> AsyncGenerator[PairedDevice]:
    """A device of another organization, with more cards."""
    for _ in range(3):
        await target.other.card()
    async with target.server.client() as client:
        yield await paired(client, target.other)


@pytest.mark.parametrize("name", CURSORS)
@pytest.mark.parametrize("path", ["", "/stream"])
async def test_a_cursor_that_nobody_gave_out(device: PairedDevice, path: str, name: str) -> None:
    answer = await device.get(device.path + path, after=CURSORS[name])
    assert answer.status_code == 400, answer.text
    assert (answer.json()["code"], answer.json()["param"]) == ("invalid_request", "after")


FORGED = {
    "the end of time": "1:2:",
    "the largest ids": "999999999999999998:999999999999999999:",
    "all ids run": "3:4:3",
    "many running ones": "100:1000:" + ",".join(map(str, range(100, 500))),
}


@pytest.mark.parametrize("name", FORGED)
async def test_a_snapshot_that_was_made_up(device: PairedDevice, name: str) -> None:
    """A device that lies about what it knows gets records of its own event, and no fault."""
    manifest = await device.up_to_date()
    real = Cursor.parse(manifest.header.cursor)
    forged = Cursor(real.server, real.base, real.content, datetime.now(UTC), FORGED[name])
    answer = await device.get(after=forged.text())
    assert answer.status_code in (200, 304), answer.text
    if answer.status_code == 200 and b'"changes"' not in answer.content[:60]:
        assert Manifest.read(answer.content, device.public_keys).records == manifest.records


@pytest.mark.parametrize("since", [datetime(1970, 1, 1, tzinfo=UTC), datetime(5000, 1, 1, tzinfo=UTC)])
async def test_a_time_that_was_made_up(device: PairedDevice, since: datetime) -> None:
    """It cannot make the service look through years of scans."""
    manifest = await device.fetch()
    real = Cursor.parse(manifest.header.cursor)
    answer = await device.get(after=Cursor(real.server, real.base, real.content, since, real.snapshot).text())
    assert answer.status_code in (200, 304)


async def test_the_cursor_of_another_organization(device: PairedDevice, victim: PairedDevice) -> None:
    theirs, ours = await victim.fetch(), await device.up_to_date()
    answer = await device.get(after=theirs.header.cursor, etag=theirs.header.state)
    found = Manifest.read(answer.content, device.public_keys)
    assert found.records == ours.records
    assert found.header.salt != theirs.header.salt


async def test_the_cursor_of_another_event(device: PairedDevice, target: Target) -> None:
    event_id = await target.tenant.event()
    elsewhere = await paired(device.client, replace(target.tenant, event_id=event_id))
    theirs = await elsewhere.fetch()
    answer = await device.get(after=theirs.header.cursor, etag=theirs.header.state)
    assert Manifest.read(answer.content, device.public_keys).header.event.id == str(device.tenant.event_id)


@pytest.mark.parametrize("path", ["", "/stream"])
async def test_the_manifest_of_another(device: PairedDevice, victim: PairedDevice, path: str) -> None:
    theirs = await victim.fetch()
    for query in ({}, {"after": theirs.header.cursor}):
        answer = await device.get(victim.path + path, **query)
        assert (answer.status_code, answer.json()["code"]) == (404, "event_not_found")


async def test_a_cursor_of_another_server_with_the_state_of_this_one(device: PairedDevice) -> None:
    """It may be told that nothing changed, and learns no more by it than it knows."""
    manifest = await device.fetch()
    real = Cursor.parse(manifest.header.cursor)
    foreign = Cursor(Server(1, 1), real.base, real.content, real.since, real.snapshot)
    assert (await device.get(after=foreign.text(), etag=manifest.header.state)).status_code == 304
    assert (await device.get(after=foreign.text(), etag="f" * 64)).status_code == 200


@pytest.mark.parametrize("header", ['"', "*", "W/", '"' * 5_000, "a" * 5_000, '"\xff"'])
async def test_an_if_none_match_that_is_none(device: PairedDevice, header: str) -> None:
    manifest = await device.fetch()
    real = Cursor.parse(manifest.header.cursor)
    foreign = Cursor(Server(1, 1), real.base, real.content, real.since, real.snapshot)
    headers = {b"Authorization": f"Bearer {device.key}".encode(), b"If-None-Match": header.encode("latin-1")}
    answer = await device.client.get(device.path, params={"after": foreign.text()}, headers=headers)
    assert answer.status_code in (200, 429)


async def test_a_device_that_asks_without_end_does_not_slow_others(device: PairedDevice, target: Target) -> None:
    """Whole manifests are limited for each device; others get theirs meanwhile."""
    greedy, other = device, await paired(device.client, target.tenant)
    began = time.monotonic()
    answers = await asyncio.gather(*(greedy.get() for _ in range(60)))
    statuses = [answer.status_code for answer in answers]
    assert statuses.count(200) <= 12 + (time.monotonic() - began) / 5
    assert set(statuses) == {200, 429}
    assert (await other.get()).status_code == 200


async def test_streams_without_end_are_refused(device: PairedDevice, target: Target) -> None:
    greedy, cursor = device, (await device.fetch()).header.cursor
    request = (
        f"GET {BASE_PATH}{greedy.path}/stream?after={cursor} HTTP/1.1\r\nHost: gates\r\n"
        f"Authorization: Bearer {greedy.key}\r\n\r\n"
    ).encode()
    opened = [await asyncio.open_connection("127.0.0.1", target.server.port) for _ in range(12)]
    heads: list[bytes] = []
    for reader, writer in opened:
        writer.write(request)
        heads.append(await asyncio.wait_for(reader.readline(), 60))
    for _, writer in opened:
        writer.close()
    assert sum(b" 200 " in head for head in heads) == 3
    assert sum(b" 503 " in head for head in heads) == 9


async def test_an_expired_cursor_costs_one_manifest(device: PairedDevice) -> None:
    manifest = await device.up_to_date()
    real = Cursor.parse(manifest.header.cursor)
    old = Cursor(real.server, real.base, real.content, real.since - timedelta(days=30), real.snapshot)
    answer = await device.get(after=old.text())
    assert answer.status_code in (200, 429)
    if answer.status_code == 200:
        assert Manifest.read(answer.content, device.public_keys).records == manifest.records
