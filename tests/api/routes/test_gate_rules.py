"""Rules at the gate by API: doors, windows and gates are set, shown and judged, and an ended event takes late scans."""

from datetime import datetime, timedelta
from typing import Any

import httpx2
import pytest

from gatepass.base.clock import rfc3339
from gatepass.domain import events
from gatepass.domain.events import EventStatus
from tests import factory
from tests.api.conftest import assert_error, scan_body
from tests.api.routes.test_event_changes import STANDING, draft
from tests.factory import Tenant

HOUR = timedelta(hours=1)


async def set_event(client: httpx2.AsyncClient, tenant: Tenant, **fields: object) -> dict[str, Any]:
    answer = await client.patch(f"/events/{tenant.event_id}", json=fields)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


async def set_category(client: httpx2.AsyncClient, tenant: Tenant, **fields: object) -> dict[str, Any]:
    answer = await client.patch(f"/ticket-categories/{tenant.category_id}", json=fields)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def written(moment: datetime) -> str:
    return rfc3339(moment)


async def scanned(client: httpx2.AsyncClient, tenant: Tenant, **fields: object) -> httpx2.Response:
    """A card with an unused ticket is shown."""
    card = await tenant.card()
    return await client.post("/scan", json={**scan_body(tenant, card.number), **fields})


# ---- the rules -------------------------------------------------------------------------------------------------


async def test_closed_doors_say_when_they_open(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    doors = written(factory.now() + HOUR)
    await set_event(client, tenant, doors_open_at=doors)
    answer = await scanned(client, tenant)
    assert_error(answer, 422, "doors_closed")
    assert answer.json()["details"] == {"doors_open_at": doors}
    await set_event(client, tenant, doors_open_at=None)
    assert (await scanned(client, tenant)).status_code == 200


async def test_doors_are_judged_when_the_card_was_shown(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    now = factory.now()
    await set_event(client, tenant, doors_open_at=written(now - HOUR))
    assert_error(await scanned(client, tenant, occurred_at=written(now - 2 * HOUR)), 422, "doors_closed")
    assert (await scanned(client, tenant, occurred_at=written(now - HOUR))).status_code == 200


async def test_a_ticket_is_refused_outside_its_time(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    since, until = written(factory.now() - 2 * HOUR), written(factory.now() - HOUR)
    await set_category(client, tenant, valid_from=since, valid_until=until)
    answer = await scanned(client, tenant)
    assert_error(answer, 422, "outside_window")
    assert answer.json()["details"] == {"valid_from": since, "valid_until": until}
    assert_error(await scanned(client, tenant, occurred_at=until), 422, "outside_window")
    assert (await scanned(client, tenant, occurred_at=since)).status_code == 200
    await set_category(client, tenant, valid_until=None)
    assert (await scanned(client, tenant)).status_code == 200


@pytest.mark.parametrize("gate", ["South 1", "north 1", "North 1 ", "", None])
async def test_a_ticket_opens_its_own_gates_alone(client: httpx2.AsyncClient, tenant: Tenant, gate: str | None) -> None:
    gates = ["North 1", "Entrée"]
    await set_category(client, tenant, gates=gates)
    answer = await scanned(client, tenant, gate=gate)
    assert_error(answer, 422, "wrong_gate")
    assert answer.json()["details"] == {"gates": gates}
    for right in gates:
        assert (await scanned(client, tenant, gate=right)).status_code == 200


async def test_a_retry_gets_the_rule_of_the_first_answer(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    await set_category(client, tenant, gates=["North 1"])
    body, key = scan_body(tenant, (await tenant.card()).number), {"Idempotency-Key": "a scan"}
    first = await client.post("/scan", json=body, headers=key)
    await set_category(client, tenant, gates=["South 1"])
    again = await client.post("/scan", json=body, headers=key)
    assert again.json() == first.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    other = await client.post("/scan", json={**body, "gate": "North 1"}, headers=key)
    assert_error(other, 422, "idempotency_key_reused")
    assert "details" not in other.json()


# ---- after the end ---------------------------------------------------------------------------------------------


async def end(tenant: Tenant, at: datetime) -> None:
    async with tenant.db.transaction() as tx:
        await events.change_status(tx, tenant.id, tenant.event_id, EventStatus.ENDED, by="test", at=at)


async def test_an_ended_event_takes_scans_from_before_its_end(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    await tenant.card()
    now = factory.now()
    cards = [await tenant.card() for _ in range(3)]
    await end(tenant, now - HOUR)
    bodies = [scan_body(tenant, card.number) for card in cards]
    late = await client.post("/scan", json={**bodies[0], "occurred_at": written(now - 2 * HOUR)})
    assert late.status_code == 200, late.text
    again = await client.post("/scan", json={**bodies[0], "occurred_at": written(now - 2 * HOUR), "gate": "South"})
    assert_error(again, 409, "already_activated")
    assert_error(
        await client.post("/scan", json={**bodies[1], "occurred_at": written(now - HOUR)}), 422, "event_not_active"
    )
    assert_error(await client.post("/scan", json=bodies[2]), 422, "event_not_active")


async def test_an_ended_event_takes_no_scan_72_hours_later(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card, now = await tenant.card(), factory.now()
    await end(tenant, now - 71 * HOUR)
    body = {**scan_body(tenant, card.number), "occurred_at": written(now - 71.5 * HOUR)}
    assert (await client.post("/scan", json=body)).status_code == 200
    other = {**scan_body(tenant, "SVC 0000 0000 0000"), "occurred_at": written(now - 71.5 * HOUR)}
    assert_error(await client.post("/scan", json=other), 404, "card_not_found")
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE event SET ended_at = $2 WHERE organization_id = $1", tenant.id, now - 72 * HOUR)
    late = {**other, "occurred_at": written(now - 71.9 * HOUR)}
    assert_error(await client.post("/scan", json=late), 422, "event_not_active")


async def test_a_cancelled_event_takes_none(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card = await tenant.card()
    await tenant.move_event(tenant.event_id, EventStatus.CANCELLED)
    body = {**scan_body(tenant, card.number), "occurred_at": written(factory.now() - HOUR)}
    assert_error(await client.post("/scan", json=body), 422, "event_not_active")


async def test_the_worker_notes_when_it_ends_an_event(tenant: Tenant) -> None:
    event_id = await tenant.event(starts_in=timedelta(days=-3))
    at = factory.now()
    async with tenant.db.transaction() as tx:
        assert await events.end_past_events(tx, at=at) >= 1
        ended_at = await tx.value(
            "SELECT ended_at FROM event WHERE organization_id = $1 AND id = $2", tenant.id, event_id
        )
    assert ended_at == at


# ---- the fields ------------------------------------------------------------------------------------------------


async def test_an_event_has_its_doors_from_the_beginning(client: httpx2.AsyncClient) -> None:
    plain = await draft(client)
    assert (plain["doors_open_at"], plain["offline"]) == (None, "manifest")
    doors = {"doors_open_at": "2031-06-15T19:00:00+02:00", "offline": "stop"}
    made = await draft(client, starts_at="2031-06-15T20:00:00+02:00", ends_at="2031-06-15T23:00:00+02:00", **doors)
    assert (made["doors_open_at"], made["offline"]) == ("2031-06-15T17:00:00Z", "stop")
    answer = await client.patch(f"/events/{made['id']}", json={"doors_open_at": None, "offline": "signature"})
    assert (answer.json()["data"]["doors_open_at"], answer.json()["data"]["offline"]) == (None, "signature")


async def test_a_category_has_its_rules_from_the_beginning(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    rules = {"valid_from": "2031-06-15T17:00:00Z", "valid_until": "2031-06-15T18:00:00Z", "gates": ["North 1", "B"]}
    path = f"/events/{tenant.event_id}/ticket-categories"
    made = (await client.post(path, json={**STANDING, **rules})).json()["data"]
    assert {name: made[name] for name in rules} == rules
    shown = (await client.get(f"/events/{tenant.event_id}")).json()["data"]["ticket_categories"]
    assert made in shown
    for empty in ([], None):
        answer = await client.patch(f"/ticket-categories/{made['id']}", json={"gates": empty})
        assert answer.json()["data"]["gates"] is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("doors_open_at", "tomorrow"), ("doors_open_at", "2031-06-15T19:00:00"), ("doors_open_at", 7),
        ("doors_open_at", "2131-06-15T19:00:00Z"), ("doors_open_at", "1971-06-15T19:00:00Z"), ("doors_open_at", ""),
        ("offline", "sometimes"), ("offline", None), ("offline", ""),
    ],
    ids=str,
)  # fmt: skip
async def test_a_bad_rule_of_an_event_is_named(
    client: httpx2.AsyncClient, tenant: Tenant, field: str, value: object
) -> None:
    answer = await client.patch(f"/events/{tenant.event_id}", json={field: value})
    assert_error(answer, 400, "invalid_request", param=field)


async def test_doors_open_before_the_event_ends(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    ends_at = (await client.get(f"/events/{tenant.event_id}")).json()["data"]["ends_at"]
    answer = await client.patch(f"/events/{tenant.event_id}", json={"doors_open_at": ends_at})
    assert_error(answer, 400, "invalid_request", param="doors_open_at")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("valid_from", "soon"), ("valid_from", ""), ("valid_until", "2131-06-15T19:00:00Z"), ("valid_until", 1),
        ("gates", "North"), ("gates", [""]), ("gates", [" "]), ("gates", ["x" * 65]), ("gates", ["North", "North"]),
        ("gates", [f"Gate {number}" for number in range(51)]), ("gates", [None]), ("gates", ["a\u202eb"]),
        ("gates", ["a\u0000b"]), ("gates", ["a\u0007b"]), ("gates", {"North": 1}), ("gates", [["North"]]),
    ],
    ids=str,
)  # fmt: skip
async def test_a_bad_rule_of_a_category_is_named(
    client: httpx2.AsyncClient, tenant: Tenant, field: str, value: object
) -> None:
    for answer in (
        await client.patch(f"/ticket-categories/{tenant.category_id}", json={field: value}),
        await client.post(f"/events/{tenant.event_id}/ticket-categories", json={**STANDING, field: value}),
    ):
        assert_error(answer, 400, "invalid_request", param=field)


async def test_a_time_that_ends_before_it_begins_is_refused(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    window = {"valid_from": "2031-06-15T19:00:00Z", "valid_until": "2031-06-15T19:00:00Z"}
    answer = await client.patch(f"/ticket-categories/{tenant.category_id}", json=window)
    assert_error(answer, 400, "invalid_request", param="valid_until")
