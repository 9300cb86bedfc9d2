"""Attacks on pairing with wrong, late and repeated codes. No attempt gets a key."""

import time
from base64 import urlsafe_b64encode
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from gatepass.api.pairing.limits import WRONG
from gatepass.domain.cell import new_token
from gatepass.domain.devices import pairing
from gatepass.domain.devices.pairing import written_code
from gatepass.domain.devices.pairing.requests import two_words
from gatepass.domain.events import EventStatus
from tests.attacks.limits import granted
from tests.attacks.pairing.conftest import NewHandset
from tests.attacks.pairing.handset import Lead, written
from tests.domain.devices import paired
from tests.factory import Tenant, now

# ---- the way that works, without which the attempts would prove nothing -----------------------------------------


@pytest.mark.parametrize("spelled", [str, str.lower, written_code, lambda code: f" {code[:2]}-{code[2:]} "])
async def test_a_confirmed_device_gets_its_key(handset: NewHandset, lead: Lead, spelled: Any) -> None:
    device, code = handset(), await lead.code()
    asked = (await device.ask(spelled(code.text))).json()["data"]
    assert asked["words"] == two_words(code.text, device.public_key, asked["request"])
    assert (await device.fetch(asked["request"])).json() == {"data": {"status": "waiting"}}
    confirmed = await lead.confirm(code, asked["request"])
    answer = await device.fetch(asked["request"])
    assert answer.headers["cache-control"] == "no-store"
    fetched = answer.json()["data"]
    assert (fetched["status"], fetched["device"]["id"]) == ("paired", str(confirmed.id))
    assert await lead.living_keys(device.public_key) == 1
    headers = {"Authorization": f"Bearer {fetched['key']}"}
    event = await device.client.get(f"/api/public/v1/events/{lead.tenant.event_id}", headers=headers)
    assert event.status_code == 200


# ---- wrong codes ------------------------------------------------------------------------------------------------


def changed(code: str, place: int) -> str:
    return code[:place] + ("Z" if code[place] != "Z" else "Y") + code[place + 1 :]


WRONG_CODES = {
    "another character": lambda code: changed(code, 9),
    "another first character": lambda code: changed(code, 1),
    "another cell": lambda code: "B" + code[1:],
    "no letter": lambda code: code[1:],
    "one too many": lambda code: code + "0",
    "twice": lambda code: code + code,
    "a letter that is no digit": lambda code: code[:9] + "U",
    "full-width": lambda code: "".join(chr(ord(one) + 0xFEE0) for one in code),
    "with NUL": lambda code: code + "%00",
    "with a line": lambda code: code + "%0a",
    "a wildcard": lambda code: code[:5] + "%25%25%25%25%25",
    "a statement": lambda code: code + "'%20OR%20'1'='1",
    "very long": lambda code: code + "-" * 5_000 + "A",
}


@pytest.mark.parametrize("spelled", WRONG_CODES)
async def test_a_wrong_code_gets_nothing(handset: NewHandset, lead: Lead, spelled: str) -> None:
    device, code = handset(), await lead.code()
    answer = await device.ask(WRONG_CODES[spelled](code.text))
    assert answer.status_code in (404, 400), answer.text
    assert await lead.requests(code) == []
    assert await lead.living_keys() == 0


async def test_guessing_is_limited_and_finds_nothing(handset: NewHandset, lead: Lead) -> None:
    device, code = handset(), await lead.code()
    began = time.monotonic()
    answers = [await device.ask(f"{code.text[:8]}{n:02d}"[:10]) for n in range(40) if f"{n:02d}" != code.text[8:]]
    statuses = [answer.status_code for answer in answers]
    assert statuses[: WRONG.burst] == [404] * WRONG.burst
    assert set(statuses) == {404, 429}
    assert statuses.count(404) <= granted(WRONG, since=began)
    assert all(int(answer.headers["Retry-After"]) >= 1 for answer in answers if answer.status_code == 429)
    await device.ask(f"{code.text[:8]}--"[:10])  # the one that a slow machine may be granted meanwhile
    assert (await device.ask(code.text)).status_code == 429
    assert await lead.requests(code) == []


BAD_KEYS = {
    "of small order": written(bytes([1]) + bytes(31)),
    "zero": written(bytes(32)),
    "not on the curve": written(b"\x02" + bytes(31)),
    "not canonical": written(b"\xff" * 31 + b"\x7f"),
    "too short": written(bytes(31)),
    "too long": written(bytes(33)),
    "another spelling": urlsafe_b64encode(bytes(32)).decode(),
}


@pytest.mark.parametrize("key", BAD_KEYS)
async def test_a_public_key_that_proves_nothing_is_refused(handset: NewHandset, lead: Lead, key: str) -> None:
    device, code = handset(), await lead.code()
    answer = await device.ask(code.text, public_key=BAD_KEYS[key])
    assert (answer.status_code, answer.json()["param"]) == (400, "public_key")
    assert await lead.requests(code) == []


@pytest.mark.parametrize("name", ["", " ", "x" * 101, "North\n2", "a\x00b", "North \u202e2", "\u200b"])
async def test_a_name_cannot_forge_what_a_lead_sees(handset: NewHandset, lead: Lead, name: str) -> None:
    device, code = handset(), await lead.code()
    answer = await device.ask(code.text, name=name)
    assert (answer.status_code, answer.json()["param"]) == (400, "name")
    assert await lead.requests(code) == []


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"null", b'{"public_key": 1}', b" " * 4_000])
async def test_a_broken_body_is_refused(client: httpx2.AsyncClient, lead: Lead, body: bytes) -> None:
    code = await lead.code()
    answer = await client.post(f"/gate/pair/{code.text}", content=body)
    assert answer.status_code in (400, 413)
    assert await lead.requests(code) == []


# ---- late codes -------------------------------------------------------------------------------------------------


async def test_an_expired_code_gets_nothing(handset: NewHandset, lead: Lead) -> None:
    device, code = handset(), await lead.code()
    await lead.age(code)
    assert (await device.ask(code.text)).json()["code"] == "pairing_not_found"
    assert await lead.living_keys() == 0


async def test_a_code_that_a_lead_ended_gets_nothing(handset: NewHandset, lead: Lead) -> None:
    device, code = handset(), await lead.code()
    request = await device.request(code.text)
    await lead.end(code)
    assert (await device.fetch(request)).json()["code"] == "pairing_ended"
    assert (await handset().ask(code.text)).json()["code"] == "pairing_not_found"
    with pytest.raises(pairing.PairingEnded):
        await lead.confirm(code, request)
    assert await lead.living_keys() == 0


async def test_a_confirmation_that_comes_late_is_refused(handset: NewHandset, lead: Lead) -> None:
    device, code = handset(), await lead.code()
    request = await device.request(code.text)
    await lead.age(code)
    with pytest.raises(pairing.PairingEnded):
        await lead.confirm(code, request)
    assert (await device.fetch(request)).json()["code"] == "pairing_ended"
    assert await lead.living_keys() == 0


async def test_a_key_is_not_fetched_after_the_ten_minutes(handset: NewHandset, lead: Lead) -> None:
    device, code = handset(), await lead.code()
    request = await device.request(code.text)
    await lead.confirm(code, request)
    await lead.age(code)
    assert (await device.fetch(request)).json()["code"] == "pairing_ended"
    assert await lead.living_keys() == 0


@pytest.mark.parametrize("off", [timedelta(minutes=-3), timedelta(minutes=3), timedelta(days=-1), timedelta(days=365)])
async def test_a_signature_of_another_time_gets_no_key(handset: NewHandset, lead: Lead, off: timedelta) -> None:
    device, code = handset(), await lead.code()
    request = await device.request(code.text)
    await lead.confirm(code, request)
    answer = await device.fetch(request, device.signed(request, at=now() + off))
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_signature")
    assert await lead.living_keys() == 0


async def test_a_code_for_an_event_that_was_cancelled_pairs_nothing(handset: NewHandset, lead: Lead) -> None:
    event_id = await lead.tenant.event()
    code = await lead.code(event_id=event_id)
    device = handset()
    request = await device.request(code.text)
    await lead.tenant.move_event(event_id, EventStatus.CANCELLED)
    with pytest.raises(Exception, match="cancelled"):
        await lead.confirm(code, request)
    assert (await device.fetch(request)).json() == {"data": {"status": "waiting"}}
    assert await lead.living_keys() == 0


# ---- repeated ---------------------------------------------------------------------------------------------------


async def test_a_used_code_pairs_no_second_device(handset: NewHandset, lead: Lead) -> None:
    first, second, code = handset(), handset(), await lead.code()
    request = await first.request(code.text)
    await lead.confirm(code, request)
    assert (await first.fetch(request)).status_code == 200
    assert (await second.ask(code.text)).json()["code"] == "pairing_not_found"
    assert await lead.living_keys(second.public_key) == 0
    assert await lead.living_keys(first.public_key) == 1


async def test_a_signature_that_got_a_key_gets_no_other(handset: NewHandset, lead: Lead) -> None:
    """Somebody who copied it would take the device's key away."""
    device, code = handset(), await lead.code()
    request = await device.request(code.text)
    await lead.confirm(code, request)
    body = device.signed(request)
    key = (await device.fetch(request, body)).json()["data"]["key"]
    for copy in (body, device.signed(request, at=now() - timedelta(seconds=30))):
        assert (await handset().fetch(request, copy)).json()["code"] == "invalid_signature"
    headers = {"Authorization": f"Bearer {key}"}
    assert (await device.client.get("/api/public/v1/card/keys", headers=headers)).status_code == 200


async def test_a_device_that_fetches_again_has_one_key(handset: NewHandset, lead: Lead) -> None:
    device, code = handset(), await lead.code()
    request = await device.request(code.text)
    await lead.confirm(code, request)
    keys = [(await device.fetch(request)).json()["data"]["key"] for _ in range(3)]
    assert len(set(keys)) == 3
    calls = [
        await device.client.get("/api/public/v1/card/keys", headers={"Authorization": f"Bearer {key}"}) for key in keys
    ]
    assert [call.status_code for call in calls] == [401, 401, 200]


async def test_a_refused_device_cannot_ask_again(handset: NewHandset, lead: Lead) -> None:
    device, code = handset(), await lead.code(3)
    request = await device.request(code.text)
    await lead.refuse(code, request)
    assert await device.request(code.text) == request
    assert (await device.fetch(request)).json()["code"] == "pairing_ended"
    with pytest.raises(pairing.PairingEnded):
        await lead.confirm(code, request)
    assert await lead.living_keys() == 0


@pytest.mark.parametrize("end", [paired.revoke, paired.retire])
async def test_an_ended_device_does_not_fetch_another_key(handset: NewHandset, lead: Lead, end: Any) -> None:
    device, code = handset(), await lead.code()
    request = await device.request(code.text)
    await end(lead.tenant, await lead.confirm(code, request))
    assert (await device.fetch(request)).json()["code"] == "pairing_ended"
    assert await lead.living_keys() == 0


async def test_an_older_request_fetches_no_key_of_the_device_that_was_paired_again(
    handset: NewHandset, lead: Lead
) -> None:
    device, first, second = handset(), await lead.code(), await lead.code()
    old = await device.request(first.text)
    await lead.confirm(first, old)
    new = await device.request(second.text)
    await lead.confirm(second, new)
    assert (await device.fetch(old)).json()["code"] == "pairing_ended"
    assert (await device.fetch(new)).status_code == 200


async def test_a_request_of_nobody_is_not_found(handset: NewHandset, tenant: Tenant) -> None:
    device = handset()
    for request in (new_token("a"), "a.b", "a." + "A" * 44, str(tenant.id)):
        assert (await device.fetch(request)).json()["code"] == "pairing_not_found"
