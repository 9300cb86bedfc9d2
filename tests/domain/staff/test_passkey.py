"""Passkeys: the right device answers a challenge, once; copies of a device are noticed."""

import asyncio
import json
from dataclasses import replace
from datetime import datetime
from typing import Final

import pytest

from gatepass.base.database import Database
from gatepass.domain import audit_log
from gatepass.domain.staff import Person, passkey, password
from gatepass.domain.staff.challenge import Purpose
from gatepass.domain.staff.passkey import LastCredential, PasskeyNotFound
from gatepass.domain.staff.webauthn import RelyingParty, read_response, relying_party
from tests import factory
from tests.authenticator import PRESENT, Authenticator
from tests.domain.staff.conftest import NOON, hire, later

US: Final = RelyingParty("localhost", "http://localhost:8000")


async def ask(db: Database, at: datetime = NOON) -> str:
    async with db.transaction() as tx:
        return await passkey.begin_sign_in(tx, US, at=at)


async def answered(db: Database, answer: str, at: datetime = NOON) -> object:
    async with db.transaction() as tx:
        return await passkey.authenticate(tx, US, answer, purpose=Purpose.SIGN_IN, at=at)


async def created(db: Database, person: Person, device: Authenticator, **changed: object) -> object:
    async with db.transaction() as tx:
        options = await passkey.begin_registration(tx, US, person.id, person.email, person.name, at=NOON)
        answer = device.create(options, **changed)
        return await passkey.add(tx, US, person.id, answer, "Laptop", by=factory.BY, at=NOON)


@pytest.fixture
async def device(db: Database, ada: Person) -> Authenticator:
    device = Authenticator()
    assert await created(db, ada, device)
    return device


async def test_a_passkey_signs_in(db: Database, ada: Person, device: Authenticator) -> None:
    assert await answered(db, device.get(await ask(db))) == ada.id
    assert await answered(db, device.get(await ask(db))) == ada.id
    async with db.autocommit() as tx:
        (kept,) = await passkey.passkeys_of(tx, ada.id)
    assert (kept.name, kept.used_at, kept.suspect_at) == ("Laptop", NOON, None)


async def test_the_options_ask_for_a_discoverable_verified_credential(
    db: Database, ada: Person, device: Authenticator
) -> None:
    async with db.transaction() as tx:
        creation = json.loads(await passkey.begin_registration(tx, US, ada.id, ada.email, ada.name, at=NOON))
    assert creation["rp"] == {"name": "Gatepass", "id": "localhost"}
    assert creation["authenticatorSelection"] == {
        "residentKey": "required", "requireResidentKey": True, "userVerification": "required",
    }  # fmt: skip
    assert creation["attestation"] == "none"
    assert len(creation["excludeCredentials"]) == 1
    request = json.loads(await ask(db))
    assert (request["userVerification"], request["allowCredentials"]) == ("required", [])


async def test_a_challenge_is_answered_once(db: Database, device: Authenticator) -> None:
    options = await ask(db)
    answer = device.get(options)
    assert await answered(db, answer)
    assert await answered(db, answer) is None, "the same answer again"
    assert await answered(db, device.get(options)) is None, "another answer to the same question"


async def test_a_wrong_answer_uses_the_challenge_up(db: Database, device: Authenticator) -> None:
    options = await ask(db)
    assert await answered(db, Authenticator(credential_id=device.credential_id).get(options)) is None
    assert await answered(db, device.get(options)) is None


async def test_of_two_answers_at_once_one_counts(db: Database, device: Authenticator) -> None:
    options = await ask(db)
    both = await asyncio.gather(*[answered(db, device.get(options)) for _ in range(2)])
    assert both.count(None) == 1


async def test_a_challenge_is_good_for_five_minutes(db: Database, ada: Person, device: Authenticator) -> None:
    assert await answered(db, device.get(await ask(db)), later(minutes=4, seconds=59)) == ada.id
    assert await answered(db, device.get(await ask(db)), later(minutes=5)) is None


async def test_a_challenge_that_we_did_not_ask(db: Database, device: Authenticator) -> None:
    assert await answered(db, device.get(json.dumps({"challenge": "A" * 43}))) is None


async def test_an_answer_to_another_question_is_none(db: Database, ada: Person, device: Authenticator) -> None:
    async with db.transaction() as tx:
        options = await passkey.begin_reauthentication(tx, US, ada.id, at=NOON)
    assert await answered(db, device.get(options)) is None
    async with db.transaction() as tx:
        answer = device.get(options)
        assert (
            await passkey.authenticate(tx, US, answer, purpose=Purpose.REAUTHENTICATE, person_id=ada.id, at=NOON)
            == ada.id
        )


async def test_nobody_else_confirms(tenant: factory.Tenant, ada: Person, device: Authenticator) -> None:
    bob = await hire(tenant.db, tenant.id, name="Bob")
    async with tenant.db.transaction() as tx:
        options = await passkey.begin_reauthentication(tx, US, bob.id, at=NOON)
    async with tenant.db.transaction() as tx:
        answer = device.get(options)
        assert (
            await passkey.authenticate(tx, US, answer, purpose=Purpose.REAUTHENTICATE, person_id=bob.id, at=NOON)
            is None
        )


async def test_a_copied_authenticator_is_found_out(tenant: factory.Tenant, ada: Person, device: Authenticator) -> None:
    copy = replace(device)
    for _ in range(3):
        assert await answered(tenant.db, device.get(await ask(tenant.db))) == ada.id
    assert await answered(tenant.db, copy.get(await ask(tenant.db)), later(minutes=1)) is None
    async with tenant.db.autocommit() as tx:
        (kept,) = await passkey.passkeys_of(tx, ada.id)
        noted = await audit_log.of_subject(tx, tenant.id, ada.id)
    assert kept.suspect_at == later(minutes=1)
    assert "passkey_suspect" in [change.action for change in noted]


async def test_a_forger_makes_nothing_suspect(db: Database, ada: Person, device: Authenticator) -> None:
    await answered(db, device.get(await ask(db)))
    forger = Authenticator(credential_id=device.credential_id, user_handle=device.user_handle, count=-1)
    assert await answered(db, forger.get(await ask(db))) is None
    async with db.autocommit() as tx:
        (kept,) = await passkey.passkeys_of(tx, ada.id)
    assert kept.suspect_at is None


async def test_a_synced_passkey_does_not_count(db: Database, ada: Person) -> None:
    device = Authenticator(count=None)
    assert await created(db, ada, device)
    for _ in range(3):
        assert await answered(db, device.get(await ask(db))) == ada.id


ODD: Final = [
    {"origin": "https://evil.example"},
    {"origin": "http://localhost:8001"},
    {"type": "webauthn.create"},
    {"challenge": ""},
    {"challenge": 5},
]


@pytest.mark.parametrize("changed", ODD)
async def test_what_is_signed_must_be_what_we_asked(db: Database, device: Authenticator, changed) -> None:
    assert await answered(db, device.get(await ask(db), **changed)) is None


async def test_another_site_an_unverified_person_another_owner(db: Database, device: Authenticator) -> None:
    for other in (
        replace(device, rp_id="evil.example"),
        replace(device, flags=PRESENT),
        replace(device, user_handle=b"x"),
    ):
        assert await answered(db, other.get(await ask(db))) is None


async def test_what_is_created_must_be_verified_and_for_us(db: Database, ada: Person, device: Authenticator) -> None:
    assert await created(db, ada, Authenticator(flags=PRESENT)) is None
    assert await created(db, ada, Authenticator(rp_id="evil.example")) is None
    assert await created(db, ada, Authenticator(origin="https://evil.example")) is None
    assert await created(db, ada, replace(device)) is None, "the same credential again"


GARBAGE: Final = [
    "", "null", "[]", "{", "[" * 16_000, '{"id":' * 2_000, "{}", "\0", '"\ud800"', "x" * 20_000,
    '{"id":"a","rawId":"a","type":"public-key","response":{}}',
    '{"id":"a","rawId":"%","type":"public-key","response":{"clientDataJSON":"%%%"}}',
    '{"id":"a","rawId":"YQ","type":"public-key","response":{"clientDataJSON":"W1tbW1s","userHandle":"*"}}',
]  # fmt: skip


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
async def test_garbage_is_no_answer(db: Database, ada: Person, garbage: str) -> None:
    assert await answered(db, garbage) is None
    async with db.transaction() as tx:
        assert await passkey.add(tx, US, ada.id, garbage, "x", by=factory.BY, at=NOON) is None


@pytest.mark.parametrize("field", ["authenticatorData", "signature", "userHandle", "attestationObject"])
@pytest.mark.parametrize("value", [None, "", "AA", "%%", "ow" * 3_000])
async def test_garbage_where_bytes_should_be(db: Database, ada: Person, device: Authenticator, field, value) -> None:
    answer = json.loads(device.get(await ask(db)))
    answer["response"][field] = value
    if field != "attestationObject":
        assert await answered(db, json.dumps(answer)) is None
    async with db.transaction() as tx:
        options = await passkey.begin_registration(tx, US, ada.id, ada.email, ada.name, at=NOON)
        creation = json.loads(Authenticator().create(options))
        if field == "attestationObject":
            creation["response"][field] = value
            assert await passkey.add(tx, US, ada.id, json.dumps(creation), "x", by=factory.BY, at=NOON) is None


async def test_names_and_the_last_one(tenant: factory.Tenant, ada: Person, device: Authenticator) -> None:
    async with tenant.db.transaction() as tx:
        (first,) = await passkey.passkeys_of(tx, ada.id)
        await passkey.rename(tx, ada.id, first.id, "Old laptop", by=factory.BY, at=later(minutes=1))
        with pytest.raises(LastCredential):
            await passkey.remove(tx, ada.id, first.id, by=factory.BY, at=NOON)
        await password.keep(tx, ada.id, "a hash", at=NOON)
        await passkey.remove(tx, ada.id, first.id, by=factory.BY, at=later(minutes=2))
        with pytest.raises(PasskeyNotFound):
            await passkey.remove(tx, ada.id, first.id, by=factory.BY, at=NOON)
        with pytest.raises(PasskeyNotFound):
            await passkey.rename(tx, ada.id, first.id, "x", by=factory.BY, at=NOON)
        noted = await audit_log.of_subject(tx, tenant.id, ada.id)
    changes = [(change.action, change.was, change.becomes) for change in noted]
    assert changes[:2] == [("passkey_removed", "Old laptop", None), ("passkey_renamed", "Laptop", "Old laptop")]
    assert await answered(tenant.db, device.get(await ask(tenant.db))) is None


async def test_two_at_once_do_not_remove_the_last_two(tenant: factory.Tenant, ada: Person) -> None:
    for _ in range(2):
        assert await created(tenant.db, ada, Authenticator())
    async with tenant.db.autocommit() as tx:
        both = await passkey.passkeys_of(tx, ada.id)

    async def remove(id) -> bool:
        try:
            async with tenant.db.transaction() as tx:
                await passkey.remove(tx, ada.id, id, by=factory.BY, at=NOON)
        except LastCredential:
            return False
        return True

    assert sorted(await asyncio.gather(*[remove(one.id) for one in both])) == [False, True]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://studio.example.org", RelyingParty("studio.example.org", "https://studio.example.org")),
        ("http://127.0.0.1:8000", RelyingParty("localhost", "http://localhost:8000")),
        ("http://[::1]:8000", RelyingParty("localhost", "http://localhost:8000")),
    ],
)
def test_who_we_are_to_a_browser(url: str, expected: RelyingParty) -> None:
    assert relying_party(url) == expected


def test_a_long_answer_is_not_read() -> None:
    assert read_response('{"id":"' + "a" * 20_000 + '"}') is None
