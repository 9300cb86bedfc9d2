"""GET /scans: every scan with its verdict, by event, ticket and card, in both directions."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from gatepass.domain import tickets
from gatepass.domain.cards import CardStatus
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.sandbox import EVENT_ID
from gatepass.domain.tickets import scan_list
from gatepass.domain.twin import twin_id
from tests import factory
from tests.api.conftest import Api, assert_error, request_id, scan_body
from tests.factory import Tenant


async def scan(client: httpx2.AsyncClient, tenant: Tenant, number: str, **more: Any) -> str:
    """The id of a scan."""
    return str(request_id(await client.post("/scan", json=scan_body(tenant, number, **more))))


async def listed(client: httpx2.AsyncClient, **params: Any) -> list[str]:
    """The ids of all pages, each of two scans."""
    found, name = list[str](), "after" if "after" in params else "cursor"
    while True:
        page = (await client.get("/scans", params={"limit": 2, **params})).json()
        found += [one["id"] for one in page["data"]]
        if not page["has_more"]:
            return found
        params[name] = page["next_cursor"]


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is held back: the tests below wait for nothing."""
    monkeypatch.setattr(scan_list, "SETTLING", timedelta(seconds=-5))


async def test_each_scan_has_its_verdict_and_names_no_holder(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card = await tenant.card()
    first = await scan(client, tenant, card.number, gate="North", scanner_id="s1")
    second = await scan(client, tenant, card.number)
    await tenant.move_card(card, CardStatus.SUSPENDED)
    third = await scan(client, tenant, card.number)
    unknown = await scan(client, tenant, "SVC 0000 0000 0000")
    shown = (await client.get("/scans")).json()["data"]
    assert [(one["id"], one["verdict"]) for one in shown] == [
        (unknown, "card_not_found"), (third, "card_suspended"), (second, "already_activated"), (first, "activated"),
    ]  # fmt: skip
    assert {key: shown[3][key] for key in ("card_number", "card_id", "event_id", "gate", "scanner_id")} == {
        "card_number": card.number, "card_id": str(card.id), "event_id": str(tenant.event_id), "gate": "North",
        "scanner_id": "s1",
    }  # fmt: skip
    assert shown[0]["card_id"] is None
    assert not {"holder", "name", "email", "token"} & shown[0].keys()


async def test_scans_of_an_event_a_ticket_or_a_card(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    other_event = await tenant.event()
    one, other = await tenant.card(), await tenant.card()
    ids = [await scan(client, tenant, number) for number in (one.number, other.number, one.number, other.number)]
    elsewhere = str(request_id(await client.post(
        "/scan", json={"event_id": str(other_event), "card_number": one.number}
    )))  # fmt: skip
    async with tenant.db.autocommit() as tx:
        ticket = await tx.value("SELECT id FROM ticket WHERE organization_id = $1 AND card_id = $2", tenant.id, one.id)
    expected: dict[tuple[str, Any], list[str]] = {
        ("event_id", tenant.event_id): ids,
        ("event_id", other_event): [elsewhere],
        ("event_id", uuid4()): [],
        ("card_id", one.id): [ids[0], ids[2], elsewhere],
        ("card_id", other.id): [ids[1], ids[3]],
        ("card_id", uuid4()): [],
        ("ticket_id", ticket): [ids[0], ids[2]],
        ("ticket_id", uuid4()): [],
    }
    start = (await client.get("/scans", params={"limit": 100})).json()["data"][-1]
    for (name, value), wanted in expected.items():
        assert await listed(client, **{name: str(value)}) == wanted[::-1], name
        assert await listed(client, **{name: str(value)}, after=start["cursor"]) == [
            id for id in wanted if id != start["id"]
        ], name


async def test_an_activation_that_was_undone_stays_in_the_lists(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card, start = await tenant.card(), await scan(client, tenant, "SVC 0000 0000 0000")
    mark = (await client.get("/scans")).json()["data"][0]["cursor"]
    ids = [await scan(client, tenant, card.number)]
    ticket = (await client.get("/scans")).json()["data"][0]["ticket_id"]
    for _ in range(2):
        async with tenant.db.transaction() as tx:
            await tickets.undo_activation(tx, tenant.id, UUID(ticket), by="test", at=factory.now(), reason="Misread.")
        ids.append(await scan(client, tenant, card.number))
    for params in ({"card_id": str(card.id)}, {"ticket_id": ticket}):
        assert await listed(client, **params) == ids[::-1]
        assert await listed(client, **params, after=mark) == ids
    assert await listed(client) == [*ids[::-1], start]


async def test_an_undone_activation_is_of_its_ticket_and_of_no_later_card(
    client: httpx2.AsyncClient, tenant: Tenant
) -> None:
    card, other = await tenant.card(), await tenant.card(with_ticket=False)
    used = await scan(client, tenant, card.number)
    ticket = (await client.get("/scans")).json()["data"][0]["ticket_id"]
    async with tenant.db.transaction() as tx:
        await tickets.undo_activation(tx, tenant.id, UUID(ticket), by="test", at=factory.now(), reason="Sold on.")
        await tickets.transfer(tx, tenant.id, UUID(ticket), card_id=other.id, by="test", at=factory.now())
    assert await listed(client, ticket_id=ticket) == [used]
    assert await listed(client, card_id=str(other.id)) == []


async def test_following_goes_on_where_it_stopped(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card = await tenant.card()
    first = await scan(client, tenant, card.number)
    mark = (await client.get("/scans")).json()["data"][0]["cursor"]
    page = (await client.get("/scans", params={"after": mark})).json()
    assert (page["data"], page["has_more"], page["next_cursor"]) == ([], False, mark)
    later = [await scan(client, tenant, card.number) for _ in range(3)]
    page = (await client.get("/scans", params={"after": mark, "limit": 2})).json()
    assert ([one["id"] for one in page["data"]], page["has_more"]) == (later[:2], True)
    page = (await client.get("/scans", params={"after": page["next_cursor"], "limit": 2})).json()
    assert ([one["id"] for one in page["data"]], page["has_more"]) == (later[2:], False)
    assert page["next_cursor"] == page["data"][-1]["cursor"]
    assert await listed(client) == [*later[::-1], first]


async def test_the_newest_seconds_are_held_back(
    client: httpx2.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scan that began earlier and commits later must not come before a cursor that was given out."""
    card = await tenant.card()
    await scan(client, tenant, card.number)
    mark = (await client.get("/scans")).json()["data"][0]["cursor"]
    await scan(client, tenant, card.number)
    assert len(await listed(client, after=mark)) == 1
    async with tenant.db.transaction() as tx:  # another call is writing since before the second scan
        await tx.run("SELECT pg_current_xact_id()")
        await scan(client, tenant, card.number)
        monkeypatch.setattr(scan_list, "SETTLING", timedelta())
        assert len(await listed(client, after=mark)) == 1
    monkeypatch.setattr(scan_list, "SETTLING", timedelta(seconds=12))
    assert await listed(client, after=mark) == []


async def test_a_reader_whose_clock_is_ahead_goes_past_no_scan_of_one_that_is_behind(
    api: Api, client: httpx2.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Minutes here for the seconds that are allowed, so that a slow machine changes nothing."""
    card = await tenant.card()

    async def scan_at(minutes: float) -> str:
        monkeypatch.setattr(api.state, "clock", lambda: factory.now() + timedelta(minutes=minutes))
        return await scan(client, tenant, card.number)

    monkeypatch.setattr(scan_list, "SETTLING", timedelta(minutes=12))
    await scan_at(-40)
    mark = (await client.get("/scans")).json()["data"][0]["cursor"]
    settled, quick = await scan_at(-20), await scan_at(-9)
    monkeypatch.setattr(api.state, "clock", lambda: factory.now() + timedelta(minutes=5))
    page = (await client.get("/scans", params={"after": mark})).json()
    slow = await scan_at(-10)  # it began five minutes ago, at a process that is five minutes behind
    found = [one["id"] for one in page["data"]]
    monkeypatch.setattr(scan_list, "SETTLING", timedelta())
    found += await listed(client, after=page["next_cursor"])
    assert found == [settled, slow, quick]


async def test_a_page_looks_through_a_bounded_number(
    api: Api, client: httpx2.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Among many scans of the other mode a page may be empty and not the last."""
    monkeypatch.setattr(scan_list, "LOOKED_THROUGH", 3)
    mine = await scan(client, tenant, (await tenant.card()).number)
    async with api.client((await tenant.key(mode=Mode.SANDBOX)).text) as sandbox:
        body = {"event_id": str(EVENT_ID), "card_number": "TEST_VALID"}
        others = [str(request_id(await sandbox.post("/scan", json=body))) for _ in range(5)]
        assert await listed(sandbox) == others[::-1]
        assert await listed(sandbox, event_id=str(EVENT_ID)) == others[::-1]
    async with tenant.db.transaction() as tx:  # as version 0.2 wrote them
        await tx.run("UPDATE scan SET organization_id = $2 WHERE organization_id = $1", twin_id(tenant.id), tenant.id)
    first = (await client.get("/scans")).json()
    assert (first["data"], first["has_more"]) == ([], True)
    assert await listed(client) == [mine]


async def test_scans_of_others_are_not_there(api: Api, client: httpx2.AsyncClient, tenant: Tenant) -> None:
    other = await factory.tenant(tenant.db)
    card = await other.card()
    async with api.client((await other.key()).text) as theirs:
        await scan(theirs, other, card.number)
        (shown,) = (await theirs.get("/scans")).json()["data"]
    for params in (
        {}, {"event_id": str(other.event_id)}, {"card_id": str(card.id)}, {"ticket_id": shown["ticket_id"]},
        {"after": shown["cursor"]}, {"cursor": shown["cursor"]},
    ):  # fmt: skip
        assert (await client.get("/scans", params=params)).json()["data"] == []


async def test_no_other_scope_is_enough(api: Api, tenant: Tenant) -> None:
    async with api.client((await tenant.key(*set(Scope) - {Scope.TICKETS_READ, Scope.ADMIN})).text) as client:
        assert_error(await client.get("/scans"), 403, "insufficient_scope")


@pytest.mark.parametrize(
    ("params", "param"),
    [
        ({"event_id": "x"}, "event_id"), ({"ticket_id": ""}, "ticket_id"), ({"card_id": "{0}"}, "card_id"),
        ({"event_id": str(EVENT_ID), "card_id": str(EVENT_ID)}, "card_id"), ({"after": "x"}, "after"),
        ({"after": ""}, "after"), ({"cursor": "x"}, "cursor"), ({"limit": "0"}, "limit"), ({"limit": "101"}, "limit"),
    ],
    ids=str,
)  # fmt: skip
async def test_a_bad_parameter_is_named(client: httpx2.AsyncClient, params: dict[str, str], param: str) -> None:
    assert_error(await client.get("/scans", params=params), 400, "invalid_request", param=param)
