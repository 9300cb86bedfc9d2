"""Passes from a card's page, and the service that keeps them up to date, asked by a phone of our own."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import LiteralString

import httpx2
import pytest

from gatepass.base.settings import Settings
from gatepass.card_page.app import create_app
from gatepass.domain import card_look, cards, wallets
from gatepass.domain.cards import Card, CardStatus, read_token, verifying_keys
from gatepass.domain.events import EventStatus
from tests import factory
from tests.card_page.conftest import ORIGIN
from tests.card_page.links import changed_path_of, path_of
from tests.server.asgi import TaskTransport
from tests.wallets.authority import YEAR, apple_settings
from tests.wallets.phone import Phone


@pytest.fixture
async def client(settings: Settings, tmp_path: Path) -> AsyncGenerator[httpx2.AsyncClient]:
    async with visiting(settings.model_copy(update=apple_settings(tmp_path))) as client:
        yield client


@asynccontextmanager
async def visiting(settings: Settings) -> AsyncGenerator[httpx2.AsyncClient]:
    app = create_app(settings)
    transport = TaskTransport(app=app, client=("192.0.2.7", 1))
    async with app.pages.opened(), httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as client:
        yield client


@pytest.fixture
def phone(client: httpx2.AsyncClient) -> Phone:
    return Phone(client)


async def taken(phone: Phone, tenant: factory.Tenant, card: Card) -> str:
    """The serial number of a pass that the phone has taken and registered."""
    serial = (await phone.take(await path_of(tenant, card)))["serialNumber"]
    assert await phone.register(serial) == 201
    return serial


async def compare(tenant: factory.Tenant, after: timedelta = timedelta()) -> int:
    """What the worker does in one walk; how many passes had changed."""
    place: wallets.Place | None = wallets.BEGINNING
    changed = 0
    while place is not None:
        async with tenant.db.autocommit() as tx:
            place, more = await wallets.compare_some(tx, place, at=factory.now() + after)
            changed += more
    return changed


async def due(tenant: factory.Tenant) -> list[str]:
    """The push tokens of this organization's phones that are to be told."""
    async with tenant.db.autocommit() as tx:
        return [
            push.push_token for push in await wallets.claim(tx, at=factory.now()) if push.organization_id == tenant.id
        ]


async def test_a_phone_takes_a_pass_with_a_code_that_gates_take(tenant: factory.Tenant, phone: Phone) -> None:
    card = await tenant.card()
    content = await phone.take(await path_of(tenant, card))
    async with tenant.db.autocommit() as tx:
        token = read_token(content["barcodes"][0]["message"], await verifying_keys(tx, tenant.id))
    assert token.card_number == card.number
    assert content["webServiceURL"] == f"{ORIGIN}/c/a.wallet"
    assert content["serialNumber"].startswith("a.")
    assert content["organizationName"] == "Harbour Nights"


async def test_taking_a_pass_changes_nothing_and_a_second_one_is_the_same(tenant: factory.Tenant, phone: Phone) -> None:
    path = await path_of(tenant, await tenant.card())
    assert await phone.take(path) == await phone.take(path)
    async with tenant.db.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM wallet_pass WHERE organization_id = $1", tenant.id) == 0


async def test_a_phone_registers_hears_of_a_change_fetches_it_and_unregisters(
    tenant: factory.Tenant, phone: Phone
) -> None:
    card = await tenant.card()
    serial = await taken(phone, tenant, card)
    assert await phone.register(serial) == 200
    assert await phone.changed() == [serial]
    assert await phone.fetch(serial) == 200
    assert await phone.fetch(serial) == 304

    await tenant.move_event(tenant.event_id, EventStatus.CANCELLED)
    assert serial in await phone.changed()
    assert await compare(tenant) >= 1
    assert await due(tenant) == ["push-token-1"]
    assert await due(tenant) == [], "it is another worker's for as long as the lease"
    phone.last_modified.clear()
    assert await phone.fetch(serial) == 200
    told = phone.passes[serial]
    assert "barcodes" not in told
    assert any(field.get("label") == "Cancelled" for field in told["eventTicket"]["backFields"])

    assert await phone.unregister(serial) == 200
    assert await phone.changed() == []
    async with tenant.db.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM wallet_pass WHERE organization_id = $1", tenant.id) == 0


async def test_nothing_changes_nobody_is_told(tenant: factory.Tenant, phone: Phone) -> None:
    serial = await taken(phone, tenant, await tenant.card())
    await compare(tenant)
    assert await due(tenant) == []
    await compare(tenant)
    assert await due(tenant) == []
    phone.tag = str(int(factory.now().timestamp()) + 60)
    assert await phone.changed() == []
    assert await phone.unregister(serial) == 200


async def test_a_scan_tells_no_phone(tenant: factory.Tenant, phone: Phone) -> None:
    """Twenty thousand people enter within an hour, and their passes stay as they are."""
    card = await tenant.card()
    await taken(phone, tenant, card)
    async with tenant.db.transaction() as tx:
        activated = "UPDATE ticket SET activated_at = now() WHERE organization_id = $1 AND card_id = $2"
        assert await tx.run(activated, tenant.id, card.id) == 1
    await compare(tenant)
    assert await due(tenant) == []


@pytest.mark.parametrize("ending", ["revoked", "link changed"])
async def test_the_pass_of_an_ended_card_or_link_is_voided(tenant: factory.Tenant, phone: Phone, ending: str) -> None:
    card = await tenant.card()
    serial = await taken(phone, tenant, card)
    if ending == "revoked":
        await tenant.move_card(card, CardStatus.REVOKED)
    else:
        await changed_path_of(tenant, card)
    await compare(tenant)
    assert await due(tenant) == ["push-token-1"]
    assert serial in await phone.changed()
    assert await phone.fetch(serial) == 200
    told = phone.passes[serial]
    assert told["voided"] is True
    assert "barcodes" not in told
    assert card.number not in str(told)
    if ending == "link changed":
        other = await phone.take(await path_of(tenant, card))
        assert other["serialNumber"] != serial
        assert "barcodes" in other


async def test_a_suspended_card_has_no_code_until_it_is_resumed(tenant: factory.Tenant, phone: Phone) -> None:
    card = await tenant.card()
    serial = await taken(phone, tenant, card)
    for status, has_code in ((CardStatus.SUSPENDED, False), (CardStatus.ACTIVE, True)):
        await tenant.move_card(card, status)
        assert await phone.fetch(serial) == 200
        assert ("barcodes" in phone.passes[serial]) is has_code
        phone.last_modified.clear()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE card SET phone = 3 WHERE organization_id = $1",
        "UPDATE event SET codes = 'phone' WHERE organization_id = $1",
    ],
)
async def test_where_phones_make_their_own_codes_the_pass_has_none(
    tenant: factory.Tenant, phone: Phone, statement: LiteralString
) -> None:
    card = await tenant.card()
    serial = await taken(phone, tenant, card)
    assert "barcodes" in phone.passes[serial]
    async with tenant.db.autocommit() as tx:
        await tx.run(statement, tenant.id)
    await compare(tenant)
    assert await due(tenant) == ["push-token-1"]
    assert await phone.fetch(serial) == 200
    told = phone.passes[serial]
    assert "barcodes" not in told
    assert "voided" not in told
    assert (card.number in str(told)) is ("phone = 3" in statement)
    fresh = await phone.take(await path_of(tenant, card))
    assert "barcodes" not in fresh


async def test_a_new_signing_key_makes_new_codes(tenant: factory.Tenant, phone: Phone) -> None:
    serial = await taken(phone, tenant, await tenant.card())
    before = phone.passes[serial]["barcodes"]
    async with tenant.db.transaction() as tx:
        await cards.rotate(tx, tenant.id, factory.VAULT, by=factory.BY, at=factory.now())
    await compare(tenant)
    assert await due(tenant) == ["push-token-1"]
    assert await phone.fetch(serial) == 200
    assert phone.passes[serial]["barcodes"] != before


async def test_a_pass_has_the_colour_of_the_card_page(tenant: factory.Tenant, phone: Phone) -> None:
    serial = await taken(phone, tenant, await tenant.card())
    async with tenant.db.transaction() as tx:
        await card_look.change(tx, tenant.id, shows_name=False, colour="#ffd400", line=None, by="ada", at=factory.now())
    await compare(tenant)
    assert await due(tenant) == ["push-token-1"]
    assert await phone.fetch(serial) == 200
    told = phone.passes[serial]
    assert (told["backgroundColor"], told["foregroundColor"]) == ("rgb(255, 212, 0)", "rgb(0, 0, 0)")


async def test_one_phone_holds_passes_of_two_organizations(db, tenant: factory.Tenant, phone: Phone) -> None:
    other = await factory.tenant(db)
    first, second = await taken(phone, tenant, await tenant.card()), await taken(phone, other, await other.card())
    assert sorted(await phone.changed()) == sorted([first, second])


async def test_a_phone_that_was_told_is_due_again_only_after_another_change(
    tenant: factory.Tenant, phone: Phone
) -> None:
    card = await tenant.card()
    await taken(phone, tenant, card)
    await tenant.move_card(card, CardStatus.SUSPENDED)
    await compare(tenant)
    async with tenant.db.autocommit() as tx:
        (push,) = [one for one in await wallets.claim(tx, at=factory.now()) if one.organization_id == tenant.id]
        await wallets.told(tx, push)
        later = await wallets.claim(tx, at=factory.now() + timedelta(days=1))
    assert tenant.id not in {one.organization_id for one in later}
    await tenant.move_card(card, CardStatus.ACTIVE)
    await compare(tenant)
    assert await due(tenant) == ["push-token-1"]


async def test_a_change_while_a_phone_is_told_is_told_too(tenant: factory.Tenant, phone: Phone) -> None:
    card = await tenant.card()
    await taken(phone, tenant, card)
    await tenant.move_card(card, CardStatus.SUSPENDED)
    await compare(tenant)
    async with tenant.db.autocommit() as tx:
        (push,) = [one for one in await wallets.claim(tx, at=factory.now()) if one.organization_id == tenant.id]
    await tenant.move_card(card, CardStatus.ACTIVE)
    await compare(tenant)
    async with tenant.db.autocommit() as tx:
        await wallets.told(tx, push)
    assert await due(tenant) == ["push-token-1"]


async def test_a_phone_that_cannot_be_told_is_tried_again_later_and_in_the_end_left(
    tenant: factory.Tenant, phone: Phone
) -> None:
    card = await tenant.card()
    await taken(phone, tenant, card)
    await tenant.move_card(card, CardStatus.SUSPENDED)
    await compare(tenant)
    at, waits = factory.now(), list[timedelta]()
    async with tenant.db.autocommit() as tx:
        for _ in range(20):
            own = [one for one in await wallets.claim(tx, at=at) if one.organization_id == tenant.id]
            if not own:
                break
            await wallets.put_off(tx, own[0], at=at)
            next_at = await tx.value("SELECT push_at FROM wallet_registration WHERE organization_id = $1", tenant.id)
            waits += [next_at - at] if next_at else []
            at = next_at or at + timedelta(days=9)
    assert waits == [timedelta(minutes=2**n) for n in range(1, 9)]


async def test_a_push_token_that_apple_forgot_is_forgotten(tenant: factory.Tenant, phone: Phone) -> None:
    card = await tenant.card()
    serial = await taken(phone, tenant, card)
    await tenant.move_card(card, CardStatus.SUSPENDED)
    await compare(tenant)
    async with tenant.db.autocommit() as tx:
        (push,) = [one for one in await wallets.claim(tx, at=factory.now()) if one.organization_id == tenant.id]
        await wallets.forget(tx, push)
    assert await phone.changed() == []
    assert await phone.register(serial) == 201


async def test_nothing_is_offered_without_settings_to_a_sandbox_card_or_with_an_ended_certificate(
    tenant: factory.Tenant, visitor: httpx2.AsyncClient, settings: Settings, tmp_path: Path
) -> None:
    path = await path_of(tenant, await tenant.card())
    assert (await visitor.get(path + "/state")).json()["wallets"] == {"apple": None, "google": None}
    assert (await visitor.get(path + "/wallet/apple")).status_code == 404
    assert (await visitor.get(path + "/wallet/google")).status_code == 404
    assert (await visitor.post("/c/a.wallet/v1/log", json={"logs": []})).status_code == 404
    async with visiting(settings.model_copy(update=apple_settings(tmp_path, -timedelta(days=1)))) as ended:
        assert (await ended.get(path + "/state")).json()["wallets"]["apple"] is None
        assert (await ended.get(path + "/wallet/apple")).status_code == 404
    async with visiting(settings.model_copy(update=apple_settings(tmp_path, YEAR))) as client:
        bare = await path_of(tenant, await tenant.card(with_ticket=False))
        assert (await client.get(bare + "/state")).json()["wallets"]["apple"] is None
        assert (await client.get(bare + "/wallet/apple")).status_code == 404
