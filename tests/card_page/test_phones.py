"""A phone enrols on the card's page, and its codes open gates; a forwarded link gets none."""

from collections.abc import AsyncGenerator
from typing import Any

import httpx2
import pytest

from gatepass.base.settings import Settings
from gatepass.card_page.app import create_app
from gatepass.domain import cards
from gatepass.domain.cards import Card, mailed_codes, phone_code
from tests import factory
from tests.card_page.conftest import ORIGIN
from tests.card_page.handset import FROM_THE_PAGE, Handset, encoded, refused
from tests.card_page.links import path_of
from tests.factory import Tenant
from tests.server.asgi import TaskTransport


async def test_an_enrolled_phone_signs_codes_and_the_link_has_none_any_more(
    tenant: Tenant, visitor: httpx2.AsyncClient
) -> None:
    card = await tenant.card()
    path = await path_of(tenant, card)
    phone, stranger = Handset(visitor, path), Handset(visitor, path)
    before = (await visitor.get(path + "/state")).json()
    answer = await phone.send("/phone")
    assert answer.status_code == 200, answer.text
    async with tenant.db.autocommit() as tx:
        keys = await cards.verifying_keys(tx, tenant.id)
    made_at = int(factory.now().timestamp())
    code = phone_code.verify(phone_code.sign(answer.json()["certificate"], made_at, phone.key), keys)
    assert (code.card_number, code.certificate.expires_at) == (card.number, answer.json()["expires_at"])
    state = (await visitor.get(path + "/state")).json()
    assert before["code"] is not None
    assert (state["code"], state["phone"]) == (None, {"state": "enrolled", "enrolment": 0})
    assert state["version"] != before["version"]
    assert '<div id="code" class="code" hidden></div>' in (await visitor.get(path)).text
    refused(await stranger.send("/phone"), 409, "phone_enrolled")
    refused(await stranger.send("/phone/certificate"), 409, "phone_not_enrolled")
    refused(await stranger.send("/phone/end"), 403, "invalid_proof")
    refused(await stranger.send("/short-token"), 409, "phone_enrolled")
    assert (await phone.send("/phone/certificate")).json()["enrolment"] == 0
    assert (await phone.send("/phone/end")).status_code == 200
    assert (await visitor.get(path + "/state")).json()["phone"]["state"] == "none"


async def test_a_card_moves_with_the_old_phones_signature(tenant: Tenant, visitor: httpx2.AsyncClient) -> None:
    path = await path_of(tenant, await tenant.card())
    old, new, stranger = (Handset(visitor, path) for _ in range(3))
    await old.send("/phone")
    refused(await new.send("/phone/move", old_signature=stranger.hand_over(new)), 403, "invalid_proof")
    refused(await new.send("/phone/move"), 422, "invalid_request")
    refused(await new.send("/phone/move", code="1", old_signature=old.hand_over(new)), 422, "invalid_request")
    assert (await new.send("/phone/move", old_signature=old.hand_over(new))).json()["enrolment"] == 1
    refused(await old.send("/phone/certificate"), 409, "phone_not_enrolled")
    refused(await old.send("/phone/move", old_signature=new.hand_over(old)), 409, "phone_ended")


async def test_a_phone_that_cannot_sign_gets_a_token_of_a_minute(tenant: Tenant, visitor: httpx2.AsyncClient) -> None:
    card = await tenant.card()
    answer = (await visitor.post(await path_of(tenant, card) + "/short-token", headers=FROM_THE_PAGE)).json()
    async with tenant.db.autocommit() as tx:
        token = cards.read_token(answer["token"], await cards.verifying_keys(tx, tenant.id))
    assert (token.card_number, token.expires_at) == (card.number, answer["expires_at"])
    assert token.is_fresh(factory.now())
    assert 55 < token.expires_at - factory.now().timestamp() <= 60


@pytest.mark.parametrize(
    "change",
    [
        {"public_key": "x"}, {"public_key": None}, {"public_key": encoded(bytes([1]) + bytes(31))[:-1] + "B"},
        {"proof": "x" * 86}, {"proof": ""}, {"at": 0}, {"at": -1}, {"at": 10**30}, {"at": "1"},
        {"at": True}, {"at": 1.5},
        {"public_key": encoded(bytes([1]) + bytes(31)), "proof": encoded(bytes([1]) + bytes(63))},
    ],
)  # fmt: skip
async def test_what_is_no_proof_enrols_nothing(
    tenant: Tenant, visitor: httpx2.AsyncClient, change: dict[str, Any]
) -> None:
    card = await tenant.card()
    answer = await Handset(visitor, await path_of(tenant, card)).send("/phone", **change)
    assert answer.status_code in (403, 422), answer.text
    async with tenant.db.autocommit() as tx:
        assert await cards.find_phone(tx, tenant.id, card.id) is None


async def test_broken_bodies_other_sites_and_other_links_enrol_nothing(
    tenant: Tenant, visitor: httpx2.AsyncClient
) -> None:
    card, other = await tenant.card(), await tenant.card()
    path, another = await path_of(tenant, card), await path_of(tenant, other)
    for content in (b"", b"[]", b"{", b"[" * 2_000, b'{"at": "\xff"}', b" " * 5_000):
        answer = await visitor.post(path + "/phone", content=content, headers=FROM_THE_PAGE)
        assert answer.status_code == 422, content[:20]
    proof = Handset(visitor, another).proof()
    refused(await visitor.post(path + "/phone", json=proof, headers=FROM_THE_PAGE), 403, "invalid_proof")
    for headers in ({"Origin": "https://evil.test"}, {"Sec-Fetch-Site": "cross-site"}):
        answer = await visitor.post(path + "/phone", json=Handset(visitor, path).proof(), headers=headers)
        refused(answer, 403, "cross_site")
    async with tenant.db.autocommit() as tx:
        assert await cards.find_phone(tx, tenant.id, card.id) is None


# ---- mail ------------------------------------------------------------------------------------------------------


@pytest.fixture
async def with_mail(settings: Settings, tenant: Tenant) -> AsyncGenerator[httpx2.AsyncClient]:
    app = create_app(settings.model_copy(update={"smtp_url": "smtp://127.0.0.1:1"}))
    async with app.pages.opened():
        transport = TaskTransport(app=app, client=("192.0.2.2", 1))
        async with httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as client:
            yield client


async def letters(tenant: Tenant) -> list[Any]:
    async with tenant.db.autocommit() as tx:
        return await tx.rows("SELECT kind, address FROM letter WHERE organization_id = $1", tenant.id)


async def test_the_holder_gets_the_card_back_by_mail(tenant: Tenant, with_mail: httpx2.AsyncClient) -> None:
    async with tenant.db.transaction() as tx:
        card = await cards.issue(
            tx, tenant.id, by="test", at=factory.now(), holder_name="Ada", holder_email="ada@example.org"
        )
    path = await path_of(tenant, card)
    stranger, holder = Handset(with_mail, path), Handset(with_mail, path)
    await stranger.send("/phone")
    for _ in range(5):
        assert (await stranger.send("/phone/mail-code")).json() == {}
    assert [(row["kind"], row["address"]) for row in await letters(tenant)] == [("phone_code", "ada@example.org")] * 3
    for guess in ("000000", "123456789012", "x"):
        refused(await stranger.send("/phone/move", code=guess), 403, "invalid_code")
    async with tenant.db.transaction() as tx:  # as the mail has it: the letter itself is sealed
        await tx.run("DELETE FROM card_phone_code WHERE organization_id = $1", tenant.id)
        mail = await mailed_codes.prepare(tx, tenant.id, card.id, at=factory.now())
    assert mail is not None
    moved = await holder.send("/phone/move", code=mail.code)
    assert moved.json()["enrolment"] == 1
    refused(await stranger.send("/phone/certificate"), 409, "phone_not_enrolled")


async def test_a_card_without_an_address_gets_the_same_answer_and_no_mail(
    tenant: Tenant, with_mail: httpx2.AsyncClient, visitor: httpx2.AsyncClient
) -> None:
    path = await path_of(tenant, await tenant.card())
    assert (await Handset(with_mail, path).send("/phone/mail-code")).json() == {}
    assert await letters(tenant) == []
    refused(await Handset(visitor, path).send("/phone/mail-code"), 409, "mail_not_sent")


async def test_another_organizations_card_has_the_same_link_for_nobody(
    tenant: Tenant, visitor: httpx2.AsyncClient
) -> None:
    other: Card = await (await factory.tenant(tenant.db)).card()
    path = await path_of(tenant, await tenant.card())
    await Handset(visitor, path).send("/phone")
    async with tenant.db.autocommit() as tx:
        assert await cards.find_phone(tx, tenant.id, other.id) is None
