"""A device uploads its journal: each entry once, judged as a scan is; what was admitted is never refused."""

import asyncio
from datetime import timedelta
from uuid import UUID

import httpx2
import pytest
from nacl.signing import SigningKey

from gatepass.domain import tickets
from gatepass.domain.cards import CardStatus
from gatepass.domain.keys import Scope
from tests.api.conftest import Api, assert_error
from tests.domain.journal.device import GateDevice, Json, upload, upload_one
from tests.factory import BY, Tenant, now


async def activations(tenant: Tenant, number: str) -> int:
    async with tenant.db.autocommit() as tx:
        return await tx.value(
            "SELECT count(*) FROM scan WHERE organization_id = $1 AND card_number = $2 AND verdict = 'activated'",
            tenant.id,
            number,
        )


async def rotate(tenant: Tenant) -> None:
    """Two generations later no stored answer is left."""
    for _ in range(3):
        async with tenant.db.transaction() as tx:
            await tx.run("SELECT empty_next_generation()")
        async with tenant.db.transaction() as tx:
            await tx.run("SELECT open_next_generation($1, $2)", now(), now() + timedelta(days=9))
    async with tenant.db.transaction() as tx:
        await tx.run("SELECT empty_next_generation()")


async def test_an_admission_activates_the_ticket(tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient) -> None:
    card = await tenant.card()
    assert await upload_one(device, gate.entry(token=tenant.token(card))) == ("activated", None, [])
    assert await upload_one(device, gate.entry(number=card.number)) == ("recorded", "already_activated", ["duplicate"])
    assert await activations(tenant, card.number) == 1


async def test_sent_again_it_has_the_same_result(tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient) -> None:
    card, used = await tenant.card(), await tenant.card()
    entry = gate.entry(token=tenant.token(card))
    double = gate.entry(token=tenant.token(used)), gate.entry(token=tenant.token(used))
    first = await upload(device, entry, *double)
    await tenant.move_card(card, CardStatus.REVOKED)
    assert await upload(device, entry, *double) == first
    assert await upload(device, entry, entry) == [first[0], first[0]]


async def test_two_uploads_of_one_journal_at_once_are_one(
    tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    entries = [gate.entry(token=tenant.token(await tenant.card())) for _ in range(20)]
    first, second = await asyncio.gather(upload(device, *entries), upload(device, *reversed(entries)))
    assert first == second[::-1]
    assert {result["outcome"] for result in first} == {"activated"}


async def test_a_scan_whose_answer_was_lost_is_the_same_scan(
    tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    card = await tenant.card()
    entry = gate.entry(token=tenant.token(card), scanner_id="handheld-17")
    headers = {"Idempotency-Key": entry["idempotency_key"]}
    assert (await device.post("/scan", json=gate.scan_body(entry), headers=headers)).status_code == 200
    assert await upload_one(device, entry) == ("activated", None, [])
    again = await device.post("/scan", json=gate.scan_body(entry), headers=headers)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert await activations(tenant, card.number) == 1


async def test_a_scan_after_the_upload_finds_its_answer(
    tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    entry = gate.entry(token=tenant.token(await tenant.card()))
    assert await upload_one(device, entry) == ("activated", None, [])
    answer = await device.post(
        "/scan", json=gate.scan_body(entry), headers={"Idempotency-Key": entry["idempotency_key"]}
    )
    assert (answer.status_code, answer.headers["Idempotent-Replayed"]) == (200, "true")


async def test_a_lost_refusal_of_somebody_who_was_let_in_is_an_incident(
    tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    card = await tenant.card()
    await tenant.move_card(card, CardStatus.SUSPENDED)
    entry = gate.entry(token=tenant.token(card))
    headers = {"Idempotency-Key": entry["idempotency_key"]}
    assert_error(await device.post("/scan", json=gate.scan_body(entry), headers=headers), 422, "card_suspended")
    await tenant.move_card(card, CardStatus.ACTIVE)
    assert await upload_one(device, entry) == ("recorded", "card_suspended", ["suspended"])


@pytest.mark.parametrize("undone", [False, True])
async def test_a_lost_answer_is_found_after_the_stored_answers_are_gone(
    tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient, *, undone: bool
) -> None:
    card = await tenant.card()
    entry = gate.entry(token=tenant.token(card))
    headers = {"Idempotency-Key": entry["idempotency_key"]}
    answer = await device.post("/scan", json=gate.scan_body(entry), headers=headers)
    if undone:
        async with tenant.db.transaction() as tx:
            ticket_id = UUID(answer.json()["data"]["ticket_id"])
            await tickets.undo_activation(tx, tenant.id, ticket_id, by=BY, at=now(), reason="by mistake")
    await rotate(tenant)
    assert await upload_one(device, entry) == ("activated", None, [])
    assert await activations(tenant, card.number) == 1


async def test_a_refusal_of_the_device_never_activates(
    tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    card, unknown = await tenant.card(), "SVC 0000 0000 0000"
    refused = gate.entry(token=tenant.token(card), admitted=False)
    assert await upload_one(device, refused) == ("recorded", "refused_by_device", [])
    assert await upload_one(device, gate.entry(number=unknown, admitted=False)) == ("recorded", "card_not_found", [])
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows("SELECT verdict FROM scan WHERE organization_id = $1 ORDER BY at", tenant.id)
    assert [row["verdict"] for row in rows] == ["refused_by_device", "card_not_found"]
    assert await upload_one(device, gate.entry(token=tenant.token(card))) == ("activated", None, [])


@pytest.mark.parametrize("is_admitted", [False, True])
async def test_a_try_that_comes_after_its_upload_uses_no_ticket(
    tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient, *, is_admitted: bool
) -> None:
    """Every try and the upload are one scan: here one that was refused at the door, or typed too fast."""
    card, at = await tenant.card(), now()
    other = gate.entry(number=(await tenant.card()).number, occurred_at=at)
    entry = gate.entry(number=card.number, occurred_at=at, admitted=is_admitted)
    _, result = await upload(device, other, entry)
    assert result["outcome"] == "recorded"
    headers = {"Idempotency-Key": entry["idempotency_key"]}
    late = await device.post("/scan", json=gate.scan_body(entry), headers=headers)
    assert (late.status_code, late.json()["code"]) == (422, "idempotency_key_reused")
    assert await activations(tenant, card.number) == 0
    assert [one["kind"] for one in result["incidents"]] == (["override"] if is_admitted else [])
    again = await device.post("/scan", json=gate.scan_body(entry), headers={"Idempotency-Key": "another try"})
    assert again.status_code == 200


async def test_a_guest_who_is_shown_again_repeats_the_try(
    tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    """The same key twice in a journal: a refusal that became an admission is one; two admissions are one."""
    card, at = await tenant.card(), now()
    shown: Json = {"token": tenant.token(card), "key": "one try", "occurred_at": at}
    assert await upload_one(device, gate.entry(**shown, admitted=False)) == ("recorded", "refused_by_device", [])
    assert await upload_one(device, gate.entry(**shown)) == ("activated", None, [])
    assert await upload_one(device, gate.entry(**shown)) == ("activated", None, [])
    answer = await device.post("/scans/batch", json={"entries": [gate.entry(**shown)]})
    assert answer.json()["data"]["missing"] == []


async def test_gaps_in_the_sequence_are_shown(tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient) -> None:
    entries = [gate.entry(token=tenant.token(await tenant.card()), sequence=n) for n in (3, 4, 9)]
    answer = await device.post("/scans/batch", json={"entries": entries})
    assert answer.json()["data"]["missing"] == [[1, 2], [5, 8]]


async def test_the_other_entries_are_taken_when_one_is_bad(
    tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    good = gate.entry(token=tenant.token(await tenant.card()))
    forged = gate.entry(token=tenant.token(await tenant.card()), signer=SigningKey.generate())
    results = await upload(device, forged, {"sequence": 8, "nonsense": True}, good)
    assert [(one["outcome"], one["code"]) for one in results] == [
        ("rejected", "invalid_signature"),
        ("rejected", "invalid_entry"),
        ("activated", None),
    ]
    async with tenant.db.autocommit() as tx:
        assert await tx.value("SELECT refused_entries FROM device WHERE id = $1", gate.id) == 2
        rows = await tx.rows(
            "SELECT actor, reason FROM audit_log WHERE organization_id = $1 AND action = 'journal_refused'", tenant.id
        )
    assert [row["reason"] for row in rows] == ["invalid_entry: 1, invalid_signature: 1"]


async def test_one_sequence_has_one_content(tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient) -> None:
    first, second = await tenant.card(), await tenant.card()
    assert await upload_one(device, gate.entry(token=tenant.token(first), sequence=1)) == ("activated", None, [])
    other = gate.entry(token=tenant.token(second), sequence=1)
    assert await upload_one(device, other) == ("rejected", "sequence_reused", [])
    assert await activations(tenant, second.number) == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("occurred_at", "0001-01-01T00:00:00Z"),
        ("occurred_at", "yesterday"),
        ("gate", "North\nSouth"),
        ("idempotency_key", ""),
        ("idempotency_key", "a\nb"),
        ("event_id", "none"),
        ("admitted", "yes"),
        ("token", None),
        ("card_number", "SVC 0000 0000 0000"),
        ("scanner_id", "\x00"),
        ("signature", 1),
    ],
)
async def test_an_entry_that_is_not_well_formed(
    tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient, field: str, value: object
) -> None:
    entry = {**gate.entry(token=tenant.token(await tenant.card())), field: value}
    assert await upload_one(device, entry) == ("rejected", "invalid_entry", [])


async def test_bodies_that_are_refused_as_a_whole(gate: GateDevice, device: httpx2.AsyncClient) -> None:
    for body in (
        {"entries": []},
        {"entries": [{}]},
        {"entries": [{"sequence": 0}]},
        {"entries": [gate.entry()] * 501},
        {},
    ):
        assert_error(await device.post("/scans/batch", json=body), 400, "invalid_request", param="entries")
    large = await device.post("/scans/batch", content=b" " * (512 * 1024 + 1))
    assert_error(large, 413, "request_too_large")


async def test_only_devices_upload(tenant: Tenant, api: Api, gate: GateDevice) -> None:
    async with api.client((await tenant.key(Scope.ADMIN)).text) as client:
        answer = await client.post("/scans/batch", json={"entries": [gate.entry(number="x")]})
        assert_error(answer, 403, "insufficient_scope")


async def test_a_call_leaves_one_row_in_the_request_log(
    tenant: Tenant, gate: GateDevice, device: httpx2.AsyncClient
) -> None:
    await upload(device, *[gate.entry(token=tenant.token(await tenant.card())) for _ in range(3)])
    async with tenant.db.autocommit() as tx:
        rows = await tx.rows("SELECT path, status FROM logged_call WHERE organization_id = $1", tenant.id)
    assert [tuple(row) for row in rows] == [("/scans/batch", 200)]
