"""The stream of a card page, from a real server: a scan is on the phone within two seconds."""

import asyncio
import time

import httpx2
import pytest

from gatepass.base.ids import new_id
from gatepass.card_page import hub as hub_module
from gatepass.card_page.hub import MOST_OF_CARD
from gatepass.card_page.middleware import Middleware
from gatepass.domain.card_view import CardRef
from gatepass.domain.cards import CardStatus
from gatepass.domain.keys import Scope
from tests import factory
from tests.card_page.event_stream import WITHIN, open_stream
from tests.card_page.links import changed_path_of, path_of
from tests.postgres import free_port
from tests.processes import GatepassProcess
from tests.size import NIGHT
from tests.warm.processes import serve

pytestmark = pytest.mark.processes


async def test_a_scan_is_told_within_two_seconds(server: GatepassProcess, tenant: factory.Tenant) -> None:
    card = await tenant.card()
    path = await path_of(tenant, card)
    key = await tenant.key(Scope.TICKETS_ACTIVATE)
    async with server.client(key.text) as gate, httpx2.AsyncClient(base_url=server.url) as phone:
        shown = (await phone.get(path + "/state")).json()
        async with open_stream(server.port, f"{path}/stream?version={shown['version']}") as stream:
            assert stream.status == 200
            body = {"event_id": str(tenant.event_id), "card_number": card.number, "gate": "North 2"}
            scanned = await gate.post("/scan", json=body, headers={"Idempotency-Key": str(new_id())})
            assert scanned.status_code == 200, scanned.text
            began = time.monotonic()
            told = await stream.changed()
            if NIGHT:
                assert time.monotonic() - began < 2
        (event,) = (now := (await phone.get(path + "/state")).json())["events"]
        assert told["version"] == now["version"] != shown["version"]
        assert (event["state"], event["gate"]) == ("in", "North 2")
        assert event["activated_when"].count(":") == 1
        assert "You are in" in (await phone.get(path)).text


async def test_a_page_that_is_behind_is_told_at_once(server: GatepassProcess, tenant: factory.Tenant) -> None:
    path = await path_of(tenant, await tenant.card())
    async with open_stream(server.port, path + "/stream?version=old") as stream:
        assert len((await stream.changed())["version"]) == 32


@pytest.mark.parametrize("how", ["changed", "revoked"])
async def test_the_stream_of_a_link_ends_with_it(server: GatepassProcess, tenant: factory.Tenant, how: str) -> None:
    card = await tenant.card()
    path = await path_of(tenant, card)
    async with open_stream(server.port, path + "/stream") as stream:
        await stream.changed()
        if how == "changed":
            await changed_path_of(tenant, card)
        else:
            await tenant.move_card(card, CardStatus.REVOKED)
        await stream.changed()
        await stream.rest()
    async with open_stream(server.port, path + "/stream") as stream:
        assert stream.status == 410


async def test_a_card_has_so_many_streams_and_no_more(server: GatepassProcess, tenant: factory.Tenant) -> None:
    path = await path_of(tenant, await tenant.card())
    opened = [open_stream(server.port, path + "/stream") for _ in range(MOST_OF_CARD + 1)]
    statuses = [(await one.__aenter__()).status for one in opened]
    assert statuses == [200] * MOST_OF_CARD + [429]
    for one in opened:
        await one.__aexit__(None, None, None)
    async with asyncio.timeout(WITHIN):
        while True:  # the server notices that the others left
            async with open_stream(server.port, path + "/stream") as again:
                if again.status == 200:
                    return


async def test_one_query_is_for_all_cards(pages: Middleware, tenant: factory.Tenant) -> None:
    hub, listeners = pages.pages.hub, [asyncio.Event() for _ in range(20)]
    cards = [CardRef(tenant.id, (await tenant.card()).id) for _ in listeners]
    watching = [hub.listening(card, listener) for card, listener in zip(cards, listeners, strict=True)]
    for one in watching:
        await one.__aenter__()
    await asyncio.wait_for(asyncio.gather(*(listener.wait() for listener in listeners)), WITHIN)
    assert hub.reads == 1
    assert len({hub.version(card) for card in cards}) == len(cards)
    for one in watching:
        await one.__aexit__(None, None, None)
    assert hub.open == 0
    assert hub.version(cards[0]) is None


async def test_a_process_has_so_many_streams_and_no_more(
    pages: Middleware, tenant: factory.Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "MOST_STREAMS", 1)
    hub, one, other = pages.pages.hub, CardRef(tenant.id, new_id()), CardRef(tenant.id, new_id())
    async with hub.listening(one, asyncio.Event()):
        assert not hub.has_room(other)
    assert hub.has_room(other)


async def test_a_process_stops_although_pages_are_open(settings_env: dict[str, str], tenant: factory.Tenant) -> None:
    path = await path_of(tenant, await tenant.card())
    server = serve(settings_env, free_port(), "--only", "card-page")
    async with open_stream(server.port, path + "/stream") as stream:
        await stream.changed()
        server.process.terminate()
        await stream.rest()
    assert await asyncio.to_thread(server.stop) == 0
    assert not [line for line in server.lines if '"level": "error"' in line or "Traceback" in line]
