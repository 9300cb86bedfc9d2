"""Every kind of incident is opened, listed and told; the order in which journals come does not matter."""

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from itertools import permutations
from uuid import UUID

import httpx2
import pytest

from gatepass.domain import devices, incidents, tickets
from gatepass.domain.cards import Card, CardStatus
from gatepass.domain.events import EventStatus
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.webhooks import MessageType
from tests import factory
from tests.api.conftest import Api, assert_error
from tests.domain.journal.device import GateDevice, Json, pair, upload, upload_one
from tests.factory import BY, Tenant, now


async def test_a_duplicate_names_both_admissions(
    tenant: Tenant, api: Api, client: httpx2.AsyncClient, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    endpoint, _ = await tenant.endpoint("https://example.com/", MessageType.SCAN_CONFLICT)
    card, south = await tenant.card(), await pair(tenant, "South")
    first = gate.entry(token=tenant.token(card), scanner_id="handheld-17")
    second = south.entry(token=tenant.token(card), occurred_at=now() - timedelta(minutes=1))
    await upload(device, first)
    async with api.client(south.key) as other:
        (result,) = await upload(other, second)
    shown = (await client.get(f"/incidents/{result['incidents'][0]['id']}")).json()["data"]
    assert shown["kind"] == "duplicate"
    assert (shown["gate"], shown["device_id"], shown["card_number"]) == ("South", str(south.id), card.number)
    assert shown["ticket_id"] == result["ticket_id"]
    assert shown["occurred_at"] == second["occurred_at"]
    assert shown["first"] == {
        "gate": "North",
        "device_id": str(gate.id),
        "scanner_id": "handheld-17",
        "occurred_at": first["occurred_at"],
        "received_at": shown["first"]["received_at"],
    }
    listed = (await client.get("/incidents", params={"event_id": str(tenant.event_id)})).json()
    assert listed == {"data": [shown], "has_more": False, "next_cursor": None}
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows("SELECT body FROM webhook_event WHERE organization_id = $1", tenant.id)
    message = json.loads(rows[0]["body"])
    assert message["type"] == "scan.conflict"
    assert _moments(message["data"]) == _moments(shown)
    assert endpoint


def _moments(incident: Json) -> Json:
    """Messages write microseconds always, answers where there are any."""
    return {
        name: value.replace(".000000Z", "Z") if isinstance(value, str) else value for name, value in incident.items()
    }


async def _revoked(tenant: Tenant, card: Card) -> None:
    await tenant.move_card(card, CardStatus.REVOKED)


async def _suspended(tenant: Tenant, card: Card) -> None:
    await tenant.move_card(card, CardStatus.SUSPENDED)


async def _cancelled(tenant: Tenant, card: Card) -> None:
    async with tenant.db.transaction() as tx:
        (held,) = await tickets.of_card(tx, tenant.id, card.id)
        await tickets.cancel(tx, tenant.id, held.id, by=BY, at=now(), reason="refunded")


async def _cancelled_event(tenant: Tenant, _: Card) -> None:
    await tenant.move_event(tenant.event_id, EventStatus.CANCELLED)


async def _not_open_yet(tenant: Tenant, _: Card) -> None:
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE event SET doors_open_at = $2 WHERE organization_id = $1", tenant.id, now() + timedelta(1))


async def _window(tenant: Tenant, _: Card) -> None:
    async with tenant.db.transaction() as tx:
        await tx.run(
            "UPDATE ticket_category SET valid_until = $2 WHERE organization_id = $1", tenant.id, now() - timedelta(1)
        )


async def _gates(tenant: Tenant, _: Card) -> None:
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE ticket_category SET gates = '{East}' WHERE organization_id = $1", tenant.id)


async def _codes(tenant: Tenant, _: Card) -> None:
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE event SET codes = 'phone' WHERE organization_id = $1", tenant.id)


Change = Callable[[Tenant, Card], Awaitable[None]]


@pytest.mark.parametrize(
    ("change", "code", "kind"),
    [
        (_revoked, "card_revoked", "revoked_meanwhile"),
        (_suspended, "card_suspended", "suspended"),
        (_cancelled, "ticket_cancelled", "cancelled"),
        (_cancelled_event, "event_not_active", "cancelled"),
        (_not_open_yet, "doors_closed", "outside_window"),
        (_window, "outside_window", "outside_window"),
        (_gates, "wrong_gate", "wrong_gate"),
        (_codes, "static_code_refused", "expired"),
    ],
)
async def test_what_changed_meanwhile(
    tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient, change: Change, code: str, kind: str
) -> None:
    """The first admission has its kind; the second one is a duplicate too, although the ticket was never used."""
    card = await tenant.card()
    await change(tenant, card)
    (first,) = await upload(device, gate.entry(token=tenant.token(card)))
    assert (first["outcome"], first["code"], [one["kind"] for one in first["incidents"]]) == ("recorded", code, [kind])
    assert first["ticket_id"] is not None
    assert await upload_one(device, gate.entry(token=tenant.token(card))) == (
        "recorded",
        code,
        sorted([kind, "duplicate"]),
    )


async def test_cards_without_a_ticket(tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient) -> None:
    card, other = await tenant.card(with_ticket=False), await factory.tenant(tenant.db)
    assert await upload_one(device, gate.entry(token=tenant.token(card))) == (
        "recorded", "ticket_not_found", ["no_ticket"],
    )  # fmt: skip
    foreign = gate.entry(token=other.token(await other.card()))
    assert await upload_one(device, foreign) == ("recorded", "invalid_token", ["unknown_card"])
    assert await upload_one(device, gate.entry(number="SVC 0000 0000 0000")) == (
        "recorded", "card_not_found", ["unknown_card"],
    )  # fmt: skip
    old = gate.entry(token=tenant.token(await tenant.card(), valid_for=-timedelta(hours=1)))
    assert await upload_one(device, old) == ("recorded", "expired", ["expired"])


async def test_a_scan_after_an_admission_without_activation_is_the_second_admission(
    tenant: Tenant, api: Api, client: httpx2.AsyncClient, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    """The guest came in at a gate that was not theirs, and again at the right one: the second is told too."""
    card = await tenant.card()
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE ticket_category SET gates = '{East}' WHERE organization_id = $1", tenant.id)
    assert await upload_one(device, gate.entry(token=tenant.token(card))) == ("recorded", "wrong_gate", ["wrong_gate"])
    body = {"event_id": str(tenant.event_id), "card_number": card.number, "gate": "East"}
    assert (await client.post("/scan", json=body)).status_code == 200
    listed = (await client.get("/incidents", params={"kind": "duplicate"})).json()["data"]
    assert [(one["gate"], one["first"]["gate"], one["first"]["device_id"]) for one in listed] == [
        ("East", "North", str(gate.id))
    ]
    async with api.client((await pair(tenant, "East")).key) as east:
        assert (await east.get("/incidents")).status_code == 403


async def test_a_try_that_comes_days_after_its_own_upload_is_no_second_admission(
    tenant: Tenant, client: httpx2.AsyncClient, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    """The guest came in once. The first try of the scan was on its way until nobody knew its answer any more."""
    card = await tenant.card()
    await tenant.move_card(card, CardStatus.SUSPENDED)
    entry = gate.entry(token=tenant.token(card))
    assert await upload_one(device, entry) == ("recorded", "card_suspended", ["suspended"])
    await tenant.move_card(card, CardStatus.ACTIVE)
    async with tenant.db.transaction() as tx:
        await tx.run("DELETE FROM idempotency WHERE organization_id = $1", tenant.id)
    headers = {"Idempotency-Key": entry["idempotency_key"]}
    assert (await device.post("/scan", json=gate.scan_body(entry), headers=headers)).status_code == 200
    assert [one["kind"] for one in (await client.get("/incidents")).json()["data"]] == ["suspended"]


async def test_entries_that_come_together_are_judged_in_their_order(
    tenant: Tenant, client: httpx2.AsyncClient, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    """A device that was moved brings an admission at the wrong gate and one at the right gate: one is the second."""
    card = await tenant.card()
    await _gates(tenant, card)
    moved_at = now() - timedelta(minutes=1)
    async with tenant.db.transaction() as tx:
        await devices.change(tx, tenant.id, Mode.LIVE, gate.id, by=BY, at=moved_at, gate="East")
    before = gate.entry(token=tenant.token(card), occurred_at=moved_at - timedelta(minutes=1))
    wrong, right = await upload(device, before, gate.entry(token=tenant.token(card), gate="East"))
    assert (wrong["outcome"], [one["kind"] for one in wrong["incidents"]]) == ("recorded", ["wrong_gate"])
    assert (right["outcome"], [one["kind"] for one in right["incidents"]]) == ("activated", ["duplicate"])
    listed = (await client.get("/incidents", params={"kind": "duplicate"})).json()["data"]
    assert [(one["gate"], one["first"]["gate"]) for one in listed] == [("East", "North")]


@pytest.mark.parametrize("order", list(permutations(range(3))))
async def test_three_gates_sync_in_any_order(
    tenant: Tenant, api: Api, client: httpx2.AsyncClient, order: tuple[int, ...]
) -> None:
    """One ticket at three gates: one activation and two duplicates; a card without one, at two of them: two kinds."""
    gates = [await pair(tenant, name) for name in ("North", "South", "East")]
    card, none = await tenant.card(), await tenant.card(with_ticket=False)
    journals = [[one.entry(token=tenant.token(card))] for one in gates]
    journals[0].append(gates[0].entry(token=tenant.token(none)))
    journals[2].append(gates[2].entry(token=tenant.token(none)))
    outcomes: list[str] = []
    for n in order:
        async with api.client(gates[n].key) as device:
            outcomes += [one["outcome"] for one in await upload(device, *journals[n])]
    assert sorted(outcomes) == ["activated"] + ["recorded"] * 4
    listed = (await client.get("/incidents")).json()["data"]
    assert sorted(one["kind"] for one in listed) == ["duplicate", "duplicate", "no_ticket", "no_ticket"]


async def test_the_list_is_filtered_and_paged(
    tenant: Tenant, client: httpx2.AsyncClient, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    cards = [await tenant.card(with_ticket=False) for _ in range(3)]
    for card in cards:
        await upload(device, gate.entry(token=tenant.token(card)))
    newest = [card.number for card in reversed(cards)]
    first = (await client.get("/incidents", params={"limit": "2"})).json()
    rest = (await client.get("/incidents", params={"limit": "2", "cursor": first["next_cursor"]})).json()
    assert [one["card_number"] for one in first["data"] + rest["data"]] == newest
    async with tenant.db.transaction() as tx:
        closed = UUID(first["data"][0]["id"])
        await incidents.close(tx, tenant.id, closed, note="A guest of the band", by=BY, at=now())
    opened = (await client.get("/incidents", params={"open": "true", "kind": "no_ticket"})).json()["data"]
    assert [one["card_number"] for one in opened] == newest[1:]
    (one,) = (await client.get("/incidents", params={"open": "false"})).json()["data"]
    assert (one["note"], one["closed_by"]) == ("A guest of the band", BY)
    assert (await client.get("/incidents", params={"kind": "duplicate"})).json()["data"] == []
    for bad in ({"kind": "x"}, {"open": "1"}, {"event_id": "x"}):
        assert_error(await client.get("/incidents", params=bad), 400, "invalid_request", param=next(iter(bad)))


async def test_another_organization_sees_nothing(
    tenant: Tenant, api: Api, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    (result,) = await upload(device, gate.entry(token=tenant.token(await tenant.card(with_ticket=False))))
    id = result["incidents"][0]["id"]
    other = await factory.tenant(tenant.db)
    async with api.client((await other.key(Scope.TICKETS_READ)).text) as client:
        assert_error(await client.get(f"/incidents/{id}"), 404, "incident_not_found")
        assert_error(await client.get("/incidents/none"), 404, "incident_not_found")
        assert (await client.get("/incidents")).json()["data"] == []
    async with api.client((await tenant.key(Scope.EVENTS_READ)).text) as client:
        assert_error(await client.get("/incidents"), 403, "insufficient_scope")
