"""Phones' own codes at a gate: taken for a minute, from the enrolled phone alone; an event may want nothing else."""

from dataclasses import replace
from datetime import timedelta

import httpx2
import pytest
from nacl.signing import SigningKey

from gatepass.base.clock import rfc3339
from gatepass.domain import cards, events
from gatepass.domain.cards import Card, CardStatus, phone_code, phones
from gatepass.domain.events import Details, EventCodes
from tests import factory
from tests.api.conftest import Api, assert_error, scan_body
from tests.factory import VAULT, Tenant


class EnrolledPhone:
    def __init__(self, tenant: Tenant, card: Card) -> None:
        self.key, self.certificate = SigningKey.generate(), ""
        self._tenant, self._card = tenant, card

    async def enrol(self) -> "EnrolledPhone":
        key = bytes(self.key.verify_key)
        async with self._tenant.db.transaction() as tx:
            issued = await phones.enrol(tx, self._tenant.id, self._card.id, key, VAULT, at=factory.now())
        self.certificate = issued.certificate
        return self

    async def end(self) -> None:
        async with self._tenant.db.transaction() as tx:
            await phones.end(tx, self._tenant.id, self._card.id, by="test", at=factory.now())

    def code(self, after: float = 0) -> str:
        return phone_code.sign(self.certificate, int(factory.now().timestamp() + after), self.key)


async def want_phones(tenant: Tenant, codes: EventCodes = EventCodes.PHONE) -> None:
    async with tenant.db.transaction() as tx:
        event = await events.lock(tx, tenant.id, tenant.event_id)
        new = replace(Details.of(event), codes=codes)
        await events.edit(tx, tenant.id, tenant.event_id, new, by="test", at=factory.now())


async def test_a_phones_code_opens_a_gate_once(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    phone = await EnrolledPhone(tenant, await tenant.card()).enrol()
    assert (await client.post("/scan", json=scan_body(tenant, token=phone.code()))).status_code == 200
    assert_error(await client.post("/scan", json=scan_body(tenant, token=phone.code())), 409, "already_activated")


@pytest.mark.parametrize("after", [-62, 62])
async def test_a_code_of_another_minute_is_expired(client: httpx2.AsyncClient, tenant: Tenant, after: float) -> None:
    """So a copied code stops working within the minute."""
    phone = await EnrolledPhone(tenant, await tenant.card()).enrol()
    assert_error(await client.post("/scan", json=scan_body(tenant, token=phone.code(after))), 410, "expired")
    answer = (await client.get("/card/verify", params={"token": phone.code(after)})).json()
    assert (answer["valid"], answer["expired"], answer["reason"]) == (False, True, "expired")
    assert (await client.post("/scan", json=scan_body(tenant, token=phone.code(after / 2)))).status_code == 200


async def test_a_scan_that_is_sent_later_is_judged_by_its_own_minute(
    client: httpx2.AsyncClient, tenant: Tenant
) -> None:
    phone = await EnrolledPhone(tenant, await tenant.card()).enrol()
    then = factory.now() - timedelta(hours=2)
    old = phone.code(-7200)
    late = scan_body(tenant, token=old, occurred_at=rfc3339(then + timedelta(minutes=2)))
    assert_error(await client.post("/scan", json=late), 410, "expired")
    assert (await client.post("/scan", json=scan_body(tenant, token=old, occurred_at=rfc3339(then)))).status_code == 200


async def test_the_code_of_a_phone_that_ended_is_expired(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card = await tenant.card()
    first = await EnrolledPhone(tenant, card).enrol()
    assert (await client.get("/card/verify", params={"token": first.code()})).json()["valid"]
    await first.end()
    assert_error(await client.post("/scan", json=scan_body(tenant, token=first.code())), 410, "expired")
    second = await EnrolledPhone(tenant, card).enrol()
    assert_error(await client.post("/scan", json=scan_body(tenant, token=first.code())), 410, "expired")
    assert (await client.get("/card/verify", params={"token": first.code()})).json()["reason"] == "expired"
    assert (await client.get("/card/verify", params={"token": second.code()})).json()["valid"]


async def test_a_code_with_a_forged_part_is_no_token(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card, other = await tenant.card(), await tenant.card()
    phone, another = await EnrolledPhone(tenant, card).enrol(), await EnrolledPhone(tenant, other).enrol()
    for forged in (
        phone.code().replace(phone.certificate, another.certificate),
        phone_code.sign(another.certificate, int(factory.now().timestamp()), phone.key),
        phone_code.sign(
            phone_code.certify(card.number, 2**32 - 1, 0, bytes(phone.key.verify_key), phone.key),
            int(factory.now().timestamp()), phone.key,
        ),
    ):  # fmt: skip
        assert_error(await client.post("/scan", json=scan_body(tenant, token=forged)), 400, "invalid_token")


async def test_a_certificate_of_a_retired_key_is_no_token(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    phone = await EnrolledPhone(tenant, await tenant.card()).enrol()
    assert (await client.get("/card/verify", params={"token": phone.code()})).json()["valid"], "it is cached"
    async with tenant.db.transaction() as tx:
        (old,) = await cards.signing_keys_of(tx, tenant.id)
        await cards.rotate(tx, tenant.id, VAULT, by="test", at=factory.now())
        await cards.retire(tx, tenant.id, old.id, by="test", at=factory.now(), reason="leaked")
    assert_error(await client.post("/scan", json=scan_body(tenant, token=phone.code())), 400, "invalid_token")
    assert (await client.get("/card/verify", params={"token": phone.code()})).json()["reason"] == "invalid_token"


async def test_an_event_may_want_phones_own_codes(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    await want_phones(tenant)
    card = await tenant.card()
    phone, now = await EnrolledPhone(tenant, card).enrol(), factory.now()
    for body in (
        scan_body(tenant, card.number),
        scan_body(tenant, "SVC 0000 0000 0000"),
        scan_body(tenant, token=tenant.sign(card.number, now + timedelta(days=1))),
        scan_body(tenant, token=tenant.sign(card.number, now + timedelta(seconds=130))),
    ):
        assert_error(await client.post("/scan", json=body), 422, "static_code_refused")
    expired = scan_body(tenant, token=tenant.sign(card.number, now - timedelta(seconds=1)))
    assert_error(await client.post("/scan", json=expired), 410, "expired")
    short = scan_body(tenant, token=tenant.sign((await tenant.card()).number, now + timedelta(seconds=100)))
    assert (await client.post("/scan", json=short)).status_code == 200
    assert (await client.post("/scan", json=scan_body(tenant, token=phone.code()))).status_code == 200


async def test_the_cards_status_is_told_of_a_good_code(client: httpx2.AsyncClient, tenant: Tenant) -> None:
    card = await tenant.card()
    phone = await EnrolledPhone(tenant, card).enrol()
    await tenant.move_card(card, CardStatus.SUSPENDED)
    assert_error(await client.post("/scan", json=scan_body(tenant, token=phone.code())), 422, "card_suspended")
    await tenant.move_card(card, CardStatus.REVOKED)
    assert_error(await client.post("/scan", json=scan_body(tenant, token=phone.code())), 422, "card_revoked")


async def test_another_organizations_code_is_no_token(api: Api, client: httpx2.AsyncClient, tenant: Tenant) -> None:
    other = await factory.tenant(tenant.db)
    phone = await EnrolledPhone(other, await other.card()).enrol()
    async with api.client((await other.key()).text) as theirs:
        assert (await theirs.get("/card/verify", params={"token": phone.code()})).json()["valid"]
    assert_error(await client.post("/scan", json=scan_body(tenant, token=phone.code())), 400, "invalid_token")


async def test_a_program_chooses_the_codes_of_an_event(client: httpx2.AsyncClient) -> None:
    new = {"title": "Night", "starts_at": "2030-06-15T20:00:00Z", "ends_at": "2030-06-15T23:00:00Z"}
    made = (await client.post("/events", json=new | {"codes": "phone"})).json()["data"]
    assert made["codes"] == "phone"
    assert (await client.post("/events", json=new)).json()["data"]["codes"] == "any"
    assert_error(await client.post("/events", json=new | {"codes": "paper"}), 400, "invalid_request", param="codes")
    changed = await client.patch(f"/events/{made['id']}", json={"codes": "any"})
    assert changed.json()["data"]["codes"] == "any"
