"""Attacks on pairing by speed and by deceit: raced codes, codes that somebody else saw, and pages that relay them.

RFC 10027 names the deceits of cross-device flows: a code that is relayed to another device, a request that the victim
confirms for an attacker, a session that another device fetches. No attempt gets a key.
"""

import asyncio

import httpx2
import pytest
from nacl.signing import SigningKey

from gatepass.base.errors import Refusal
from gatepass.domain import audit_log
from gatepass.domain.devices import pairing
from gatepass.domain.devices.pairing.requests import two_words
from gatepass.domain.keys import Mode
from tests import factory
from tests.attacks.pairing.conftest import NewHandset
from tests.attacks.pairing.handset import Handset, Lead, written
from tests.domain.devices import paired

# ---- raced ------------------------------------------------------------------------------------------------------


async def test_two_devices_that_race_for_one_code_both_lose(handset: NewHandset, lead: Lead) -> None:
    """Nobody can tell which of them is the lead's own."""
    code = await lead.code()
    answers = await asyncio.gather(*(handset().ask(code.text) for _ in range(2)))
    assert sorted(answer.status_code for answer in answers) == [202, 404]
    (request,) = await lead.requests(code)
    assert request.status is pairing.RequestStatus.ENDED
    with pytest.raises(pairing.PairingEnded):
        await lead.confirm(code, request.request)
    async with lead.tenant.db.autocommit() as tx:
        assert (await pairing.find_code(tx, lead.tenant.id, Mode.LIVE, code.id)).ended_reason == "contested"
        entries = await audit_log.of_subject(tx, lead.tenant.id, code.id)
    assert [entry.action for entry in entries].count("contested") == 1
    assert await lead.living_keys() == 0


async def test_a_crowd_at_one_code_leaves_nobody_paired(handset: NewHandset, lead: Lead) -> None:
    code = await lead.code()
    answers = await asyncio.gather(*(handset().ask(code.text) for _ in range(15)))
    assert [answer.status_code for answer in answers].count(202) == 1
    assert {one.status for one in await lead.requests(code)} == {pairing.RequestStatus.ENDED}
    assert await lead.living_keys() == 0


async def test_a_code_for_three_takes_three(handset: NewHandset, lead: Lead) -> None:
    code = await lead.code(3)
    answers = await asyncio.gather(*(handset().ask(code.text) for _ in range(12)))
    assert [answer.status_code for answer in answers].count(202) == 3
    assert len(await lead.requests(code)) == 3


async def test_two_leads_confirm_one_device_once(handset: NewHandset, lead: Lead) -> None:
    device, code = handset(), await lead.code()
    request = await device.request(code.text)
    done = await asyncio.gather(*(lead.confirm(code, request) for _ in range(2)), return_exceptions=True)
    assert len([one for one in done if isinstance(one, Refusal)]) == 1
    assert await lead.living_keys() == 0


async def test_fetches_at_once_leave_one_key(handset: NewHandset, lead: Lead) -> None:
    device, code = handset(), await lead.code()
    request = await device.request(code.text)
    await lead.confirm(code, request)
    answers = await asyncio.gather(*(device.fetch(request) for _ in range(10)))
    assert {answer.status_code for answer in answers} <= {200, 400}
    assert await lead.living_keys(device.public_key) == 1


async def test_a_fetch_that_races_with_the_revocation_leaves_no_key(handset: NewHandset, lead: Lead) -> None:
    for _ in range(10):
        device, code = handset(), await lead.code()
        request = await device.request(code.text)
        confirmed = await lead.confirm(code, request)
        await asyncio.gather(
            device.fetch(request), paired.revoke(lead.tenant, confirmed), device.fetch(request), device.fetch(request)
        )
        assert await lead.living_keys(device.public_key) == 0
        await lead.age(code)


# ---- phished, as RFC 10027 has it -------------------------------------------------------------------------------


async def test_whoever_saw_the_code_first_gets_nothing_when_the_device_comes(handset: NewHandset, lead: Lead) -> None:
    """An attacker photographs the code and asks before the lead's own device does."""
    attacker, own, code = handset(), handset(), await lead.code()
    request = await attacker.request(code.text)
    assert (await own.ask(code.text)).status_code == 404
    assert (await attacker.fetch(request)).json()["code"] == "pairing_ended"
    assert await lead.living_keys() == 0


async def test_a_code_alone_is_worth_nothing_without_a_confirmation(handset: NewHandset, lead: Lead) -> None:
    attacker, code = handset(), await lead.code()
    request = await attacker.request(code.text)
    for _ in range(3):
        assert (await attacker.fetch(request)).json() == {"data": {"status": "waiting"}}
    assert await lead.living_keys() == 0


async def test_an_attacker_with_the_same_name_shows_other_words(handset: NewHandset, lead: Lead) -> None:
    own, attacker, code = handset(), handset(), await lead.code(2)
    attacker.name = own.name
    words = [(await one.ask(code.text)).json()["data"]["words"] for one in (own, attacker)]
    shown = [request.words for request in await lead.requests(code)]
    assert sorted(words) == sorted(shown)
    assert words[0] != words[1] or own.public_key == attacker.public_key


async def test_a_relay_with_its_own_key_is_seen_by_the_words(handset: NewHandset, lead: Lead) -> None:
    """It stands between the device and us, and asks with a key of its own: the device computes other words."""
    victim, relay, code = handset(), handset(), await lead.code()
    asked = (await relay.ask(code.text)).json()["data"]
    on_the_device = two_words(code.text, victim.public_key, asked["request"])
    (shown,) = await lead.requests(code)
    assert shown.words == asked["words"]
    assert on_the_device != shown.words


async def test_the_request_of_another_device_is_not_fetched_with_ones_own_key(handset: NewHandset, lead: Lead) -> None:
    victim, attacker, code = handset(), handset(), await lead.code()
    request = await victim.request(code.text)
    await lead.confirm(code, request)
    assert (await attacker.fetch(request)).json()["code"] == "invalid_signature"
    assert await lead.living_keys() == 0


async def test_the_signature_for_one_request_does_not_fetch_another(handset: NewHandset, lead: Lead) -> None:
    device, first, second = handset(), await lead.code(), await lead.code()
    mine, other = await device.request(first.text), await device.request(second.text)
    await lead.confirm(second, other)
    assert (await device.fetch(other, device.signed(mine))).json()["code"] == "invalid_signature"
    assert await lead.living_keys() == 0


@pytest.mark.parametrize("context", ["svc-journal-1", "svc-pair-2", "", "svc-pair-1\n"])
async def test_a_signature_of_another_kind_fetches_nothing(handset: NewHandset, lead: Lead, context: str) -> None:
    device, code = handset(), await lead.code()
    request = await device.request(code.text)
    await lead.confirm(code, request)
    answer = await device.fetch(request, device.signed(request, context=context))
    assert answer.json()["code"] == "invalid_signature"
    assert await lead.living_keys() == 0


@pytest.mark.parametrize("path", ["/gate/pair/{}", "/gate/pair/{}/key", "/gate/pair/", "/gate/pair?code={}"])
async def test_a_link_is_never_the_credential(client: httpx2.AsyncClient, lead: Lead, path: str) -> None:
    code = await lead.code()
    for method in ("GET", "HEAD", "OPTIONS", "PUT"):
        assert (await client.request(method, path.format(code.text))).status_code in (404, 405)
    assert await lead.requests(code) == []


async def test_the_studios_link_opens_the_same_page_for_everybody(client: httpx2.AsyncClient, lead: Lead) -> None:
    """The code is in the fragment, which no browser sends. If one did, the page would know nothing of it."""
    code = await lead.code()
    plain = await client.get("/gate")
    for link in (f"/gate#{code.text}", f"/gate?code={code.text}"):
        page = await client.get(link)
        assert (page.status_code, page.content) == (200, plain.content)
    assert await lead.requests(code) == []


async def test_the_code_and_the_request_are_not_each_other(handset: NewHandset, lead: Lead) -> None:
    device, code = handset(), await lead.code()
    request = await device.request(code.text)
    await lead.confirm(code, request)
    assert (await device.ask(request)).json()["code"] == "pairing_not_found"
    assert (await device.fetch(code.text, device.signed(code.text))).json()["code"] == "pairing_not_found"
    assert await lead.living_keys() == 0


async def test_a_lead_of_another_organization_cannot_confirm(handset: NewHandset, lead: Lead) -> None:
    other = Lead(await factory.tenant(lead.tenant.db))
    device, code = handset(), await lead.code()
    request = await device.request(code.text)
    with pytest.raises(pairing.PairingNotFound):
        await other.confirm(code, request)
    with pytest.raises(pairing.PairingNotFound):
        await other.refuse(code, request)
    assert (await device.fetch(request)).json() == {"data": {"status": "waiting"}}


async def test_a_sandbox_code_pairs_nothing_that_is_live(handset: NewHandset, lead: Lead) -> None:
    twin = await factory.sandbox_twin(lead.tenant)
    device, code = handset(), await lead.code(mode=Mode.SANDBOX, event_id=twin.event_id)
    request = await device.request(code.text)
    with pytest.raises(pairing.PairingNotFound):
        await lead.confirm(code, request)
    async with lead.tenant.db.transaction() as tx:
        await pairing.confirm(tx, lead.tenant.id, Mode.SANDBOX, code.id, request, by=factory.BY, at=factory.now())
    key = (await device.fetch(request)).json()["data"]["key"]
    assert key.startswith("svc_test_")
    headers = {"Authorization": f"Bearer {key}"}
    live = await device.client.get(f"/api/public/v1/events/{lead.tenant.event_id}", headers=headers)
    assert live.status_code == 404


async def test_another_organizations_device_key_does_not_take_a_device_over(handset: NewHandset, lead: Lead) -> None:
    """The public key of a device is no secret. Who asks with it cannot sign for it."""
    own = handset()
    code = await lead.code()
    request = await own.request(code.text)
    device = await lead.confirm(code, request)
    assert (await own.fetch(request)).status_code == 200
    impostor, again = Handset(own.client, key=SigningKey.generate()), await lead.code()
    answer = await impostor.ask(again.text, public_key=written(own.public_key))
    stolen = answer.json()["data"]["request"]
    await lead.confirm(again, stolen)
    assert (await impostor.fetch(stolen)).json()["code"] == "invalid_signature"
    async with lead.tenant.db.autocommit() as tx:
        assert await tx.value(
            "SELECT count(*) = 1 FROM device WHERE organization_id = $1 AND id = $2", lead.tenant.id, device.id
        )
