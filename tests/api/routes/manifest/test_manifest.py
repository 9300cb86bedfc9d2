"""A device gets the manifest of its event, and what has changed since."""

import json
import struct
from datetime import timedelta

import httpx2
import pytest

from gatepass.api.app import ApiState
from gatepass.api.manifests import follower as followers
from gatepass.api.manifests import source
from gatepass.domain import cards, events
from gatepass.domain.cards import CardStatus
from gatepass.domain.events import EventStatus
from gatepass.domain.manifest import Cursor
from gatepass_sdk._gate.manifest import Manifest
from tests import factory
from tests.domain.manifest import verbs
from tests.domain.manifest.devices import PairedDevice, paired
from tests.domain.manifest.reader import expected_records
from tests.factory import BY, VAULT, Tenant, now

Inside = tuple[httpx2.AsyncClient, ApiState]


async def expected(tenant: Tenant) -> bytes:
    async with tenant.db.autocommit() as tx:
        return await expected_records(tx, tenant.id, tenant.event_id)


async def test_the_manifest_is_what_the_tables_hold(device: PairedDevice, tenant: Tenant) -> None:
    numbers = [(await tenant.card()).number for _ in range(5)]
    await verbs.scan_one(tenant)
    manifest = await device.fetch()
    assert manifest.records == await expected(tenant)
    assert len(manifest) == 6
    found = manifest.find(numbers[0])
    assert found is not None
    assert (found.category, found.used) == (0, False)
    assert manifest.find("SVC 0000 0000 0000") is None


async def test_the_answer_has_its_type_its_state_and_its_cursor(device: PairedDevice, tenant: Tenant) -> None:
    await tenant.card()
    answer = await device.get()
    assert answer.headers["content-type"] == "application/vnd.gatepass.manifest"
    header = Manifest.read(answer.content, device.public_keys).header
    assert answer.headers["etag"] == f'"{header.state}"'
    assert answer.headers["gatepass-cursor"] == header.cursor
    assert answer.headers["cache-control"] == "no-store"


async def test_the_header_says_what_a_gate_needs_and_names_nobody(device: PairedDevice, tenant: Tenant) -> None:
    await verbs.issue_to_a_person(tenant)
    answer = await device.get()
    (length,) = struct.unpack_from(">I", answer.content, 4)
    header = json.loads(answer.content[8 : 8 + length])
    async with tenant.db.autocommit() as tx:
        event = (await events.find(tx, tenant.id, tenant.event_id)).event
        signing = [str(key.id) for key in await cards.verifying_keys(tx, tenant.id)]
    assert set(header) == {
        "v", "kind", "event", "salt", "categories", "card_keys", "kid", "issued_at", "expires_at", "count", "digest",
        "state", "cursor",
    }  # fmt: skip
    assert set(header["event"]) == {
        "id", "title", "starts_at", "ends_at", "status", "doors_open_at", "codes", "offline",
    }  # fmt: skip
    (category,) = header["categories"]
    assert category == {
        "index": 0, "name": "General", "tier": "standard", "valid_from": None, "valid_until": None, "gates": None,
    }  # fmt: skip
    assert [key["kid"] for key in header["card_keys"]] == signing
    assert (header["kid"], header["v"], header["kind"]) == (signing[0], 1, "manifest")
    manifest = Manifest.read(answer.content, device.public_keys)
    assert manifest.header.expires_at == event.ends_at + timedelta(hours=6)
    assert b"Ann" not in answer.content
    assert b"example.org" not in answer.content


async def test_changes_are_sent_and_nothing_if_there_are_none(device: PairedDevice, tenant: Tenant) -> None:
    await tenant.card()
    first = await device.fetch()
    answer = await device.get(after=first.header.cursor)
    assert answer.status_code == 304
    assert answer.content == b""
    assert Cursor.parse(answer.headers["gatepass-cursor"])
    await verbs.scan_one(tenant)
    answer = await device.get(after=first.header.cursor)
    assert (answer.status_code, len(answer.content) < 3_000) == (200, True)
    followed = first.apply(answer.content, device.public_keys)
    assert followed.header.kind == "changes"
    assert followed.records == await expected(tenant)


async def test_a_cursor_that_the_process_has_forgotten_is_answered_too(
    device: PairedDevice, tenant: Tenant, inside: Inside
) -> None:
    await tenant.card()
    first = await device.fetch()
    await verbs.scan_one(tenant)
    await verbs.transfer(tenant)
    # As another process, or this one after a restart, would have it.
    inside[1].manifests._followers.clear()
    followed = first.apply((await device.get(after=first.header.cursor)).content, device.public_keys)
    assert followed.records == await expected(tenant)


async def test_a_walk_over_all_verbs_by_devices_of_two_processes(
    device: PairedDevice, tenant: Tenant, inside: Inside
) -> None:
    """One is always answered from memory, the other one never."""
    await tenant.card()
    second = await paired(inside[0], tenant)
    await device.fetch()
    await second.fetch()
    hub = inside[1].manifests
    for verb in verbs.VERBS:
        if verb in (verbs.cancel_event, verbs.import_guests, verbs.undo_import):
            continue  # a worker's, which act on every organization: the domain's walk has them
        await verb(tenant)
        assert (await device.follow()).records == await expected(tenant)
        kept, hub._followers = hub._followers, {}
        assert (await second.follow()).records == await expected(tenant)
        hub._followers = kept


async def test_a_change_of_the_event_is_told_without_records(device: PairedDevice, tenant: Tenant) -> None:
    await tenant.card()
    first = await device.fetch()
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE event SET offline = 'stop' WHERE organization_id = $1 AND id = $2",
                     tenant.id, tenant.event_id)  # fmt: skip
    followed = await device.follow()
    assert (followed.header.event.offline, followed.header.count) == ("stop", 0)
    assert followed.records == first.records
    await tenant.move_event(tenant.event_id, EventStatus.CANCELLED)
    assert (await device.follow()).header.event.status == "cancelled"


async def test_a_new_key_and_a_new_category_are_told(device: PairedDevice, tenant: Tenant) -> None:
    await device.fetch()
    async with tenant.db.transaction() as tx:
        await cards.rotate(tx, tenant.id, VAULT, by=BY, at=now())
        device.public_keys = [key.public_key for key in await cards.verifying_keys(tx, tenant.id)]
    followed = await device.follow()
    assert list(followed.header.card_keys) == device.public_keys
    await verbs.add_category_and_issue(tenant)
    followed = await device.follow()
    assert (followed.header.kind, [one.tier for one in followed.header.categories]) == ("manifest", ["standard", "vip"])
    assert followed.records == await expected(tenant)


async def test_a_foreign_cursor_gets_the_whole_manifest_or_304(device: PairedDevice, tenant: Tenant) -> None:
    await tenant.card()
    first = await device.fetch()
    cursor = Cursor.parse(first.header.cursor)
    foreign = [
        Cursor(type(cursor.server)(1, 1), cursor.base, cursor.content, cursor.since, cursor.snapshot),
        Cursor(
            type(cursor.server)(cursor.server.system, 99), cursor.base, cursor.content, cursor.since, cursor.snapshot
        ),
        Cursor(cursor.server, cursor.base, cursor.content, cursor.since, "999999999999:999999999999:"),
        Cursor(cursor.server, cursor.base, cursor.content, now() - timedelta(hours=3), cursor.snapshot),
    ]
    for one in foreign:
        whole = await device.get(after=one.text())
        assert Manifest.read(whole.content, device.public_keys).records == first.records
        assert (await device.get(after=one.text(), etag=first.header.state)).status_code == 304
        assert (await device.get(after=one.text(), etag="0" * 64)).status_code == 200
    # The records are the same, but the rules are not: 304 would hide them.
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE event SET offline = 'stop' WHERE organization_id = $1", tenant.id)
    assert (await device.get(after=foreign[0].text(), etag=first.header.state)).status_code == 200


async def test_a_device_that_was_away_for_an_hour_catches_up_in_one_call(
    device: PairedDevice, tenant: Tenant, inside: Inside
) -> None:
    await tenant.card()
    first = await device.fetch()
    for _ in range(20):
        await verbs.scan_one(tenant)
    old = Cursor.parse(first.header.cursor)
    hour_ago = Cursor(old.server, old.base, old.content, old.since - timedelta(hours=1), old.snapshot)
    inside[1].manifests._followers.clear()
    answer = await device.get(after=hour_ago.text())
    followed = first.apply(answer.content, device.public_keys)
    assert (followed.header.kind, followed.header.count) == ("changes", 20)
    assert followed.records == await expected(tenant)


async def test_two_cards_with_one_hash_make_the_service_draw_another_salt(device: PairedDevice, tenant: Tenant) -> None:
    async with tenant.db.transaction() as tx:
        await tx.run("INSERT INTO event_manifest VALUES ($1, $2, $3, $4)",
                     tenant.id, tenant.event_id, COLLIDING_SALT, now())  # fmt: skip
    await ticket_on(tenant, COLLIDING[0])
    first = await device.fetch()
    assert first.header.salt == COLLIDING_SALT
    await ticket_on(tenant, COLLIDING[1])
    followed = await device.follow()
    assert followed.header.salt != COLLIDING_SALT
    assert (followed.header.kind, followed.records) == ("manifest", await expected(tenant))
    assert all(followed.find(number) for number in COLLIDING)


async def ticket_on(tenant: Tenant, number: str) -> None:
    async with tenant.db.transaction() as tx:
        card_id, _ = await cards.register(tx, tenant.id, holder=None, number=number, external_id=None, by=BY, at=now())
        card = await cards.find(tx, tenant.id, card_id)
    await tenant.ticket(card)  # pyright: ignore[reportArgumentType]


async def test_what_the_audit_log_does_not_tell_is_found_within_a_minute(
    device: PairedDevice, tenant: Tenant, inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As version 0.2 may leave it: the comparison finds it, counts it, and sends it."""
    card = await tenant.card()
    await device.fetch()
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE card SET status = 'suspended' WHERE organization_id = $1 AND id = $2",
                     tenant.id, card.id)  # fmt: skip
    before = inside[1].manifests.metrics.disagreements._value.get()
    await device.follow()
    monkeypatch.setattr(source, "WHOLE_EVERY", 0.0)
    monkeypatch.setattr(source, "WHOLE_SHARE", 1e9)
    found = (await device.follow()).find(card.number)
    assert found is not None
    assert found.suspended
    assert inside[1].manifests.metrics.disagreements._value.get() == before + 1


async def test_devices_that_ask_at_once_cost_one_manifest(tenant: Tenant, inside: Inside) -> None:
    import asyncio

    await tenant.card()
    many = [await paired(inside[0], tenant) for _ in range(8)]
    made = inside[1].manifests.metrics.made._value.get()
    found = await asyncio.gather(*(device.fetch() for device in many))
    assert len({manifest.records for manifest in found}) == 1
    assert inside[1].manifests.metrics.made._value.get() == made + 1


async def test_a_device_that_asks_in_a_loop_is_answered_from_memory(tenant: Tenant, inside: Inside) -> None:
    await tenant.card()
    device = await paired(inside[0], tenant)
    first = await device.fetch()
    hub = inside[1].manifests
    (follower,) = [one for ref, one in hub._followers.items() if ref.event_id == tenant.event_id]
    reading = await follower.refresh()
    for _ in range(50):
        assert (await device.get(after=first.header.cursor)).status_code == 304
    assert followers.FRESH == 1.0
    assert reading.manifest.records is (await follower.refresh()).manifest.records
    answers = [(await device.get()).status_code for _ in range(15)]
    assert (answers[0], answers[-1]) == (200, 429)


async def test_an_expired_manifest_is_not_made(device: PairedDevice, tenant: Tenant) -> None:
    await device.fetch()
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE event SET starts_at = $2, ends_at = $3 WHERE organization_id = $1", tenant.id,
                     now() - timedelta(hours=12), now() - timedelta(hours=7))  # fmt: skip
    answer = await device.get()
    assert (answer.status_code, answer.json()["code"]) == (422, "event_not_active")


async def test_the_sandbox_has_its_own(inside: Inside, tenant: Tenant, unhurried: None) -> None:
    twin = await factory.sandbox_twin(tenant)
    card = await twin.card()
    device = await paired(inside[0], twin)
    manifest = await device.fetch()
    assert (len(manifest), manifest.find(card.number) is not None) == (1, True)
    await twin.move_card(card, CardStatus.REVOKED)
    found = (await device.follow()).find(card.number)
    assert found is not None
    assert found.revoked


# Found by trying out 40,000,000 numbers: under this salt the two have the same 6 bytes.
COLLIDING_SALT = bytes(range(32))
COLLIDING = ("SVC 0000 3310 5362", "SVC 0003 5660 3712")
