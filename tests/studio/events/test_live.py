"""The live door: its page, its wall, and its stream, which ends when it must."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from gatepass.domain import sandbox, staff, tickets
from gatepass.domain.keys import Mode
from gatepass.domain.staff import Role
from gatepass.studio import cookies, door, door_stream, tower
from gatepass.studio.reception import Reception
from tests import make
from tests.domain.door.test_tally import activate, key_of, scan, ticket_of
from tests.make import now
from tests.studio.desk import Desk, sit_down
from tests.studio.walk import RAW, XSS


@dataclass
class Stream:
    """A stream in this process: the application is spoken to directly, because it does not end by itself."""

    app: Reception
    cookie: str
    path: str
    headers: dict[str, str] = field(default_factory=dict[str, str])
    status: int = 0
    sent: "asyncio.Queue[dict[str, Any]]" = field(default_factory=asyncio.Queue[dict[str, Any]])
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        path, _, query = self.path.partition("?")
        named = {"cookie": f"{cookies.SESSION}={self.cookie}", "host": "studio.test", **self.headers}
        scope = {
            "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in named.items()], "http_version": "1.1",
            "scheme": "https", "server": ("studio.test", 443), "client": ("127.0.0.1", 1), "root_path": "",
        }  # fmt: skip
        asked = False

        async def receive() -> dict[str, Any]:
            nonlocal asked
            if not asked:
                asked = True
                return {"type": "http.request", "body": b"", "more_body": False}
            await self.left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                self.status = message["status"]
                self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            else:
                await self.sent.put(message)

        await self.app(scope, receive, send)

    async def event(self, *names: str) -> tuple[str, dict[str, Any], str]:
        """The next event with one of these names: its name, its data and its id."""
        while True:
            message = await asyncio.wait_for(self.sent.get(), 10)
            assert message["more_body"], "the stream ended"
            lines = dict(line.split(": ", 1) for line in message["body"].decode().strip().split("\n"))
            if lines.get("event") in names:
                return lines["event"], json.loads(lines["data"]), lines.get("id", "")

    async def figures(self) -> dict[str, Any]:
        return (await self.event("figures"))[1]

    async def until_activated(self, number: int) -> dict[str, Any]:
        """The figures once the door says so."""
        while True:
            news = await self.figures()
            pieces = news["pieces"]
            if f'data-figure="activated">{number}<' in pieces.get("totals", "") + pieces.get("wall", ""):
                return news

    async def ended(self) -> None:
        while (await asyncio.wait_for(self.sent.get(), 10))["more_body"]:
            pass


@asynccontextmanager
async def open_stream(desk: Desk, studio: Reception, rest: str = "", **headers: str) -> AsyncGenerator[Stream]:
    stream = Stream(studio, desk.client.cookies[cookies.SESSION], desk.url(f"{door_of(desk)}/stream{rest}"), headers)
    running = asyncio.create_task(stream.run())
    yield stream
    stream.left.set()
    await asyncio.wait_for(running, 5)


def door_of(desk: Desk) -> str:
    event_id = sandbox.EVENT_ID if desk.mode == "sandbox" else desk.house.event_id
    return f"events/{event_id}/door"


async def come_in(house: make.House, card_number: str | None = None, *, gate: str = "North", mode: Mode = Mode.LIVE):
    key_id = await key_of(house, mode)
    number = card_number or (await house.card()).number
    async with house.db.statement() as tx:
        return await activate(tx, [scan(house, key_id, number, gate=gate, mode=mode)])


async def test_the_page_shows_the_figures_without_a_script(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "OLD_ENOUGH", 0)
    assert "No scan yet" in await desk.see(door_of(desk))
    card = await desk.house.card()
    await come_in(desk.house, card.number)
    await come_in(desk.house, card.number, gate="South")
    await desk.house.card()
    page = await desk.see(door_of(desk))
    assert 'data-figure="activated">1<' in page
    assert "of 2 activated" in page
    assert "This ticket has already been activated." in page
    assert card.number in page
    assert "South" in page
    assert "need JavaScript" in page
    assert "UTC" in page


@pytest.mark.parametrize(("role", "shown"), [(Role.GATE_LEAD, True), (Role.VIEWER, False), (Role.DEVELOPER, False)])
async def test_card_numbers_are_for_those_who_may_know_whose_they_are(
    studio: Reception, house: make.House, role: Role, shown: bool
) -> None:
    card = await house.card()
    await come_in(house, card.number)
    await come_in(house, "Ada Lovelace")
    async with await sit_down(studio, house, role) as desk:
        page = await desk.see(door_of(desk))
        assert ((card.number in page), ("Ada Lovelace" in page)) == (shown, shown)
        assert (f"•••• {card.number[-4:]}" in page) is not shown
        async with open_stream(desk, studio) as stream:
            scans = (await stream.figures())["pieces"]["scans"]
            assert ((card.number in scans), ("Ada Lovelace" in scans)) == (shown, shown)


async def test_what_callers_write_is_shown_as_text(desk: Desk, studio: Reception) -> None:
    await come_in(desk.house, XSS[:64], gate=XSS[:64])
    for rest in ("", "/projector"):
        assert RAW not in await desk.see(door_of(desk) + rest)
    async with open_stream(desk, studio) as stream:
        pieces = (await stream.figures())["pieces"]
        assert "&lt;script&gt;" in pieces["gates"]
        assert "&lt;script&gt;" in pieces["scans"]
        assert [name for name, text in pieces.items() if RAW in text] == []


async def test_the_wall_has_no_personal_data(desk: Desk) -> None:
    card = await desk.house.card()
    await come_in(desk.house, card.number)
    page = await desk.see(f"{door_of(desk)}/projector")
    assert 'data-figure="activated">1<' in page
    assert card.number[-4:] not in page


async def test_an_event_that_is_not_there(desk: Desk) -> None:
    for rest in ("", "/projector", "/stream"):
        await desk.see(f"events/{UUID(int=5)}/door{rest}", status=404)


async def test_a_scan_is_on_the_stream_within_a_second(desk: Desk, studio: Reception) -> None:
    async with open_stream(desk, studio) as stream:
        await stream.until_activated(0)
        began = now()
        await come_in(desk.house)
        news = await stream.until_activated(1)
        assert now() - began < timedelta(seconds=1)
        assert "North" in news["pieces"]["gates"]
        assert stream.headers["content-type"].startswith("text/event-stream")


async def test_only_what_changed_is_sent(desk: Desk, studio: Reception) -> None:
    async with open_stream(desk, studio) as stream:
        assert len((await stream.until_activated(0))["pieces"]) == 8
        await come_in(desk.house)
        changed = (await stream.until_activated(1))["pieces"]
        assert "denials" not in changed
        assert "alarms" not in changed


async def test_what_is_taken_back_is_seen(desk: Desk, studio: Reception) -> None:
    card = await desk.house.card()
    await come_in(desk.house, card.number)
    async with open_stream(desk, studio) as stream:
        await stream.until_activated(1)
        async with desk.house.db.transaction() as tx:
            ticket_id = await ticket_of(desk.house, card)
            await tickets.undo_activation(tx, desk.house.id, ticket_id, by="test", at=now(), reason="test")
        await stream.until_activated(0)


async def test_the_sandbox_has_a_door(studio: Reception, house: make.House) -> None:
    async with await sit_down(studio, house, mode="sandbox") as desk, open_stream(desk, studio) as stream:
        await stream.until_activated(0)
        await come_in(house, "TEST_VIP", mode=Mode.SANDBOX)
        assert "TEST_VIP" in (await stream.until_activated(1))["pieces"]["scans"]
        assert "never used up" in await desk.see(door_of(desk))


async def test_the_wall_streams_too(desk: Desk, studio: Reception) -> None:
    async with open_stream(desk, studio, "?wall=true") as stream:
        assert list((await stream.until_activated(0))["pieces"]) == ["wall"]


async def test_whoever_comes_back_is_told_what_they_missed(desk: Desk, studio: Reception) -> None:
    async with open_stream(desk, studio) as stream:
        _, news, id = await stream.event("figures")
        assert len(news["pieces"]) == 8
    await come_in(desk.house)
    async with open_stream(desk, studio, **{"last-event-id": id}) as stream:
        await stream.until_activated(1)
    async with open_stream(desk, studio, **{"last-event-id": "nonsense-1x"}) as stream:
        assert len((await stream.figures())["pieces"]) == 8


async def test_the_stream_ends_with_its_session(desk: Desk, studio: Reception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door_stream, "ALLOWED_EVERY", 0.2)
    async with open_stream(desk, studio) as stream:
        await stream.figures()
        async with desk.house.db.transaction() as tx:
            session = await staff.find(tx, desk.client.cookies[cookies.SESSION], at=now())
            assert session is not None
            await staff.end(tx, session.id, at=now())
        await stream.event("over")
        await stream.ended()


async def test_the_stream_ends_when_the_person_leaves_the_organization(
    desk: Desk, studio: Reception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door_stream, "ALLOWED_EVERY", 0.2)
    async with open_stream(desk, studio) as stream:
        await stream.figures()
        async with desk.house.db.transaction() as tx:
            await tx.run(
                "DELETE FROM member WHERE organization_id = $1 AND person_id = $2", desk.house.id, desk.person.id
            )
        await stream.event("over")


async def test_nobody_opens_doors_without_end(desk: Desk, studio: Reception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tower, "MOST_OF_PERSON", 2)
    async with open_stream(desk, studio) as one, open_stream(desk, studio) as two:
        await one.figures()
        await two.figures()
        await desk.see(f"{door_of(desk)}/stream", status=503)
    async with open_stream(desk, studio) as again:
        await again.figures()


async def test_one_watch_serves_all_and_rests_when_nobody_looks(desk: Desk, studio: Reception) -> None:
    async with open_stream(desk, studio) as one, open_stream(desk, studio) as two:
        await one.figures()
        await two.figures()
        places = [place for place in studio.studio.tower._views if place.organization_id == desk.house.id]
        assert len(places) == 1
        watch = studio.studio.tower._views[places[0]].watch
        assert len(watch.listeners) == 2
    assert watch._task is not None
    await asyncio.wait_for(asyncio.wait([watch._task]), 5)
    assert studio.studio.metrics.doors_open._value.get() == 0
    assert studio.studio.tower._people.total() == 0


async def test_a_stop_ends_the_streams_at_once(desk: Desk, settings: Any) -> None:
    from gatepass.studio.app import create_app

    app = create_app(settings)
    async with app.studio.opened():
        stream = Stream(app, desk.client.cookies[cookies.SESSION], desk.url(f"{door_of(desk)}/stream"))
        running = asyncio.create_task(stream.run())
        await stream.figures()
        app.studio.stop()
        await asyncio.wait_for(running, 1)
