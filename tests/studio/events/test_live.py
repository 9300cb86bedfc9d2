"""The live page: the page, the projector view, and the stream with its end."""

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
from gatepass.studio.events import live, live_stream
from gatepass.studio.middleware import Middleware
from gatepass.studio.services import live_hub
from gatepass.studio.web import cookies
from tests import factory
from tests.domain.live.test_totals import activate, key_of, scan, ticket_of
from tests.factory import now
from tests.size import NIGHT
from tests.studio.browser_session import BrowserSession, sign_in
from tests.studio.routes import RAW, XSS

# What the page is made of, each sent when it changes: alarms, incidents, totals and so on.
PIECES = 9


@dataclass
class Stream:
    """A stream in this process: ASGI calls without a client, because the stream does not end by itself."""

    app: Middleware
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
            message = await asyncio.wait_for(self.sent.get(), 60)
            assert message["more_body"], "the stream ended"
            lines = dict(line.split(": ", 1) for line in message["body"].decode().strip().split("\n"))
            if lines.get("event") in names:
                return lines["event"], json.loads(lines["data"]), lines.get("id", "")

    async def figures(self) -> dict[str, Any]:
        return (await self.event("figures"))[1]

    async def until_activated(self, number: int) -> dict[str, Any]:
        """The figures once `number` are activated."""
        while True:
            news = await self.figures()
            pieces = news["pieces"]
            if f'data-figure="activated">{number}<' in pieces.get("totals", "") + pieces.get("wall", ""):
                return news

    async def ended(self) -> None:
        while (await asyncio.wait_for(self.sent.get(), 60))["more_body"]:
            pass


@asynccontextmanager
async def open_stream(
    user: BrowserSession, studio: Middleware, rest: str = "", **headers: str
) -> AsyncGenerator[Stream]:
    stream = Stream(
        studio, user.client.cookies[cookies.SESSION], user.url(f"{live_page_of(user)}/stream{rest}"), headers
    )
    running = asyncio.create_task(stream.run())
    yield stream
    stream.left.set()
    await asyncio.wait_for(running, 60)


def live_page_of(user: BrowserSession) -> str:
    event_id = sandbox.EVENT_ID if user.mode == "sandbox" else user.tenant.event_id
    return f"events/{event_id}/live"


async def come_in(
    tenant: factory.Tenant, card_number: str | None = None, *, gate: str = "North", mode: Mode = Mode.LIVE
):
    key_id = await key_of(tenant, mode)
    number = card_number or (await tenant.card()).number
    async with tenant.db.autocommit() as tx:
        return await activate(tx, [scan(tenant, key_id, number, gate=gate, mode=mode)])


async def test_the_page_shows_the_figures_without_a_script(
    user: BrowserSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "OLD_ENOUGH", 0)
    assert "No scan yet" in await user.see(live_page_of(user))
    card = await user.tenant.card()
    await come_in(user.tenant, card.number)
    await come_in(user.tenant, card.number, gate="South")
    await user.tenant.card()
    page = await user.see(live_page_of(user))
    assert 'data-figure="activated">1<' in page
    assert "of 2 activated" in page
    assert "This ticket has already been activated." in page
    assert card.number in page
    assert "South" in page
    assert "need JavaScript" in page
    assert "UTC" in page


@pytest.mark.parametrize(("role", "shown"), [(Role.GATE_LEAD, True), (Role.VIEWER, False), (Role.DEVELOPER, False)])
async def test_card_numbers_are_for_those_who_may_know_whose_they_are(
    studio: Middleware, tenant: factory.Tenant, role: Role, shown: bool
) -> None:
    card = await tenant.card()
    await come_in(tenant, card.number)
    await come_in(tenant, "Ada Lovelace")
    async with await sign_in(studio, tenant, role) as user:
        page = await user.see(live_page_of(user))
        assert ((card.number in page), ("Ada Lovelace" in page)) == (shown, shown)
        assert (f"•••• {card.number[-4:]}" in page) is not shown
        async with open_stream(user, studio) as stream:
            scans = (await stream.figures())["pieces"]["scans"]
            assert ((card.number in scans), ("Ada Lovelace" in scans)) == (shown, shown)


async def test_what_callers_write_is_shown_as_text(user: BrowserSession, studio: Middleware) -> None:
    await come_in(user.tenant, XSS[:64], gate=XSS[:64])
    for rest in ("", "/projector"):
        assert RAW not in await user.see(live_page_of(user) + rest)
    async with open_stream(user, studio) as stream:
        pieces = (await stream.figures())["pieces"]
        assert "&lt;script&gt;" in pieces["gates"]
        assert "&lt;script&gt;" in pieces["scans"]
        assert [name for name, text in pieces.items() if RAW in text] == []


async def test_the_wall_has_no_personal_data(user: BrowserSession) -> None:
    card = await user.tenant.card()
    await come_in(user.tenant, card.number)
    page = await user.see(f"{live_page_of(user)}/projector")
    assert 'data-figure="activated">1<' in page
    assert card.number[-4:] not in page


async def test_an_event_that_is_not_there(user: BrowserSession) -> None:
    for rest in ("", "/projector", "/stream"):
        await user.see(f"events/{UUID(int=5)}/live{rest}", status=404)


async def test_a_scan_is_on_the_stream_within_a_second(user: BrowserSession, studio: Middleware) -> None:
    async with open_stream(user, studio) as stream:
        await stream.until_activated(0)
        began = now()
        await come_in(user.tenant)
        news = await stream.until_activated(1)
        assert not NIGHT or now() - began < timedelta(seconds=1)
        assert "North" in news["pieces"]["gates"]
        assert stream.headers["content-type"].startswith("text/event-stream")


async def test_only_what_changed_is_sent(user: BrowserSession, studio: Middleware) -> None:
    async with open_stream(user, studio) as stream:
        assert len((await stream.until_activated(0))["pieces"]) == PIECES
        await come_in(user.tenant)
        changed = (await stream.until_activated(1))["pieces"]
        assert "denials" not in changed
        assert "alarms" not in changed
        assert "incidents" not in changed


async def test_what_is_taken_back_is_seen(user: BrowserSession, studio: Middleware) -> None:
    card = await user.tenant.card()
    await come_in(user.tenant, card.number)
    async with open_stream(user, studio) as stream:
        await stream.until_activated(1)
        async with user.tenant.db.transaction() as tx:
            ticket_id = await ticket_of(user.tenant, card)
            await tickets.undo_activation(tx, user.tenant.id, ticket_id, by="test", at=now(), reason="test")
        await stream.until_activated(0)


async def test_the_sandbox_has_a_live_page(studio: Middleware, tenant: factory.Tenant) -> None:
    async with await sign_in(studio, tenant, mode="sandbox") as user, open_stream(user, studio) as stream:
        await stream.until_activated(0)
        await come_in(tenant, "TEST_VIP", mode=Mode.SANDBOX)
        assert "TEST_VIP" in (await stream.until_activated(1))["pieces"]["scans"]
        assert "never used up" in await user.see(live_page_of(user))


async def test_the_wall_streams_too(user: BrowserSession, studio: Middleware) -> None:
    async with open_stream(user, studio, "?wall=true") as stream:
        assert list((await stream.until_activated(0))["pieces"]) == ["wall"]


async def test_whoever_comes_back_is_told_what_they_missed(user: BrowserSession, studio: Middleware) -> None:
    async with open_stream(user, studio) as stream:
        _, news, id = await stream.event("figures")
        assert len(news["pieces"]) == PIECES
    await come_in(user.tenant)
    async with open_stream(user, studio, **{"last-event-id": id}) as stream:
        await stream.until_activated(1)
    async with open_stream(user, studio, **{"last-event-id": "nonsense-1x"}) as stream:
        assert len((await stream.figures())["pieces"]) == PIECES


async def test_the_stream_ends_with_its_session(
    user: BrowserSession, studio: Middleware, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_stream, "ALLOWED_EVERY", 0.2)
    async with open_stream(user, studio) as stream:
        await stream.figures()
        async with user.tenant.db.transaction() as tx:
            session = await staff.find(tx, user.client.cookies[cookies.SESSION], at=now())
            assert session is not None
            await staff.end(tx, session.id, at=now())
        await stream.event("over")
        await stream.ended()


async def test_the_stream_ends_when_the_person_leaves_the_organization(
    user: BrowserSession, studio: Middleware, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_stream, "ALLOWED_EVERY", 0.2)
    async with open_stream(user, studio) as stream:
        await stream.figures()
        async with user.tenant.db.transaction() as tx:
            await tx.run(
                "DELETE FROM member WHERE organization_id = $1 AND person_id = $2", user.tenant.id, user.person.id
            )
        await stream.event("over")


async def test_nobody_opens_live_pages_without_end(
    user: BrowserSession, studio: Middleware, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_hub, "MOST_OF_PERSON", 2)
    async with open_stream(user, studio) as one, open_stream(user, studio) as two:
        await one.figures()
        await two.figures()
        await user.see(f"{live_page_of(user)}/stream", status=503)
    async with open_stream(user, studio) as again:
        await again.figures()


async def test_one_watcher_serves_all_and_rests_when_nobody_looks(user: BrowserSession, studio: Middleware) -> None:
    async with open_stream(user, studio) as one, open_stream(user, studio) as two:
        await one.figures()
        await two.figures()
        refs = [ref for ref in studio.studio.live_hub._views if ref.organization_id == user.tenant.id]
        assert len(refs) == 1
        watcher = studio.studio.live_hub._views[refs[0]].watcher
        assert len(watcher.listeners) == 2
    assert watcher._task is not None
    await asyncio.wait_for(asyncio.wait([watcher._task]), 60)
    assert studio.studio.metrics.live_viewers._value.get() == 0
    assert studio.studio.live_hub._people.total() == 0


async def test_a_stop_ends_the_streams_at_once(user: BrowserSession, settings: Any) -> None:
    from gatepass.studio.app import create_app

    app = create_app(settings)
    async with app.studio.opened():
        stream = Stream(app, user.client.cookies[cookies.SESSION], user.url(f"{live_page_of(user)}/stream"))
        running = asyncio.create_task(stream.run())
        await stream.figures()
        app.studio.stop()
        await asyncio.wait_for(running, 60)
