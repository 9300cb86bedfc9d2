"""Attacks on the service for wallets: other people's passes, wrong tokens, floods, broken bodies and paths."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx2
import pytest

from gatepass.base.database import Database
from gatepass.card_page.app import create_app
from gatepass.card_page.wallets import faults_in
from gatepass.domain.wallets.registrations import MOST_DEVICES
from tests import factory
from tests.card_page.links import path_of
from tests.server.asgi import TaskTransport
from tests.wallets.authority import PASS_TYPE, apple_settings
from tests.wallets.phone import Phone

ORIGIN = "https://cards.test"
SERVICE = "/c/a.wallet/v1"


@pytest.fixture
async def client(database_url: str, db: Database, tmp_path: Path) -> AsyncGenerator[httpx2.AsyncClient]:
    settings = factory.settings(database_url, public_url=ORIGIN, **apple_settings(tmp_path))
    app = create_app(settings)
    transport = TaskTransport(app=app, client=("192.0.2.9", 1))
    async with app.pages.opened(), httpx2.AsyncClient(transport=transport, base_url=ORIGIN) as visitor:
        yield visitor


@pytest.fixture
async def phone(client: httpx2.AsyncClient, tenant: factory.Tenant) -> Phone:
    """It holds a pass that is registered."""
    phone = Phone(client)
    await phone.take(await path_of(tenant, await tenant.card()))
    (serial,) = phone.passes
    assert await phone.register(serial) == 201
    return phone


async def registrations(tenant: factory.Tenant) -> int:
    async with tenant.db.autocommit() as tx:
        return await tx.value("SELECT count(*) FROM wallet_registration WHERE organization_id = $1", tenant.id)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "ApplePass",
        "ApplePass ",
        "ApplePass x",
        "Bearer TOKEN",
        "applepass TOKEN",
        "ApplePass TOKENx",
        "ApplePass " + "A" * 43,
    ],
)
async def test_without_its_token_a_pass_is_not_given(phone: Phone, tenant: factory.Tenant, header: str) -> None:
    (serial,) = phone.passes
    header = header.replace("TOKEN", phone.passes[serial]["authenticationToken"])
    headers = {"authorization": header}
    path = f"{SERVICE}/passes/{PASS_TYPE}/{serial}"
    assert (await phone.client.get(path, headers=headers)).status_code == 401
    path = f"{SERVICE}/devices/intruder/registrations/{PASS_TYPE}/{serial}"
    assert (await phone.client.post(path, headers=headers, json={"pushToken": "x"})).status_code == 401
    path = f"{SERVICE}/devices/{phone.device}/registrations/{PASS_TYPE}/{serial}"
    assert (await phone.client.delete(path, headers=headers)).status_code == 401
    assert await registrations(tenant) == 1


async def test_the_token_of_one_pass_opens_no_other(phone: Phone, tenant: factory.Tenant, db: Database) -> None:
    (serial,) = phone.passes
    token = phone.passes[serial]["authenticationToken"]
    other = await factory.tenant(db)
    victim = Phone(phone.client)
    await victim.take(await path_of(other, await other.card()))
    (theirs,) = victim.passes
    assert await victim.fetch(theirs, token) == 401
    assert await victim.register(theirs, token) == 401
    assert await victim.register(theirs) == 201
    assert await victim.fetch(theirs, token) == 401
    assert await victim.unregister(theirs, token) == 401
    assert await victim.changed() == [theirs]
    assert await registrations(other) == 1


@pytest.mark.parametrize("serial", ["a.", "a." + "A" * 43, "a." + "A" * 42 + "%00", "b.x", "'; --", "a." + "A" * 5000])
async def test_a_made_up_serial_number_finds_nothing(phone: Phone, serial: str) -> None:
    headers = {"authorization": "ApplePass " + "A" * 43}
    answer = await phone.client.get(f"{SERVICE}/passes/{PASS_TYPE}/{serial}", headers=headers)
    assert answer.status_code in (401, 404)


async def test_another_pass_type_is_not_ours(phone: Phone) -> None:
    (serial,) = phone.passes
    headers = {"authorization": f"ApplePass {phone.passes[serial]['authenticationToken']}"}
    answer = await phone.client.get(f"{SERVICE}/passes/pass.other/{serial}", headers=headers)
    assert answer.status_code == 401


async def test_guesses_from_one_network_are_limited_and_the_holder_is_not(phone: Phone) -> None:
    (serial,) = phone.passes
    headers = {"authorization": "ApplePass " + "A" * 43}
    statuses = [
        (await phone.client.get(f"{SERVICE}/passes/{PASS_TYPE}/a.{n:043d}", headers=headers)).status_code
        for n in range(60)
    ]
    assert statuses[0] == 401
    assert 429 in statuses[-2:], "one in five seconds is looked at"
    assert await phone.fetch(serial) == 200, "who shares the network with a guesser is served"


async def test_one_phone_that_registers_hundreds_of_times_is_one_row(phone: Phone, tenant: factory.Tenant) -> None:
    (serial,) = phone.passes
    statuses = {await phone.register(serial) for _ in range(200)}
    assert statuses <= {200, 429}
    assert await registrations(tenant) == 1


async def test_a_copied_pass_on_many_phones_keeps_the_newest(phone: Phone, tenant: factory.Tenant) -> None:
    (serial,) = phone.passes
    first = phone.device
    for n in range(MOST_DEVICES + 5):
        phone.device = f"copy-{n}"
        assert await phone.register(serial) == 201
    assert await registrations(tenant) == MOST_DEVICES
    phone.device = first
    assert await phone.changed() == []


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'{"pushToken": 1}', b'{"pushToken": ""}', b'{"pushToken": "a/b"}',
     b'{"pushToken": "a\\u0000"}', b'{"pushToken": "a\\r\\nb"}', b"[" * 5000, b'{"pushToken": "' + b"a" * 201 + b'"}',
     b'{"pushToken": "a", "more": "' + b"x" * 20_000 + b'"}'],
)  # fmt: skip
async def test_a_broken_body_registers_nothing(phone: Phone, tenant: factory.Tenant, body: bytes) -> None:
    (serial,) = phone.passes
    headers = {"authorization": f"ApplePass {phone.passes[serial]['authenticationToken']}"}
    path = f"{SERVICE}/devices/other/registrations/{PASS_TYPE}/{serial}"
    assert (await phone.client.post(path, headers=headers, content=body)).status_code == 400
    assert await registrations(tenant) == 1


@pytest.mark.parametrize("device", ["a" * 101, "a%0d%0ab", "%00", "ä", "a%2Fb", "..%2f.."])
async def test_a_phone_has_a_plain_name(phone: Phone, tenant: factory.Tenant, device: str) -> None:
    (serial,) = phone.passes
    headers = {"authorization": f"ApplePass {phone.passes[serial]['authenticationToken']}"}
    path = f"{SERVICE}/devices/{device}/registrations/{PASS_TYPE}"
    answer = await phone.client.post(f"{path}/{serial}", headers=headers, json={"pushToken": "x"})
    assert answer.status_code in (400, 404)
    assert (await phone.client.get(path)).status_code in (204, 404)
    assert await registrations(tenant) == 1


@pytest.mark.parametrize("tag", ["-1", "9" * 12, "99999999999", "1e9", "now", "' OR 1=1", "\u0661", ""])
async def test_a_made_up_tag_is_no_error(phone: Phone, tag: str) -> None:
    path = f"{SERVICE}/devices/{phone.device}/registrations/{PASS_TYPE}"
    answer = await phone.client.get(path, params={"passesUpdatedSince": tag})
    assert answer.status_code in (200, 204)


@pytest.mark.parametrize(
    "since", ["", "yesterday", "Thu, 99 Nov 2026 00:00:00 GMT", "Thu, 01 Jan 1970 00:00:00", "\x7f"]
)
async def test_a_made_up_date_is_as_none(phone: Phone, since: str) -> None:
    (serial,) = phone.passes
    phone.last_modified[serial] = since
    assert await phone.fetch(serial) == 200


async def test_reports_of_phones_write_no_names_and_no_lines_into_the_log(phone: Phone) -> None:
    (serial,) = phone.passes
    report = f'task (serial number {serial}) encountered error: not here {serial} https://x/c/a.b\n{{"level":"error"}}'
    assert faults_in([report, 5, None, ["x"], report]) == ["not here … …"]
    assert faults_in({"logs": report}) == faults_in(None) == []
    for body in (json.dumps({"logs": [report]}), json.dumps({"logs": {}}), "[]", "x" * 50_000):
        assert (await phone.client.post(f"{SERVICE}/log", content=body)).status_code == 200


@pytest.mark.parametrize("service", ["b.wallet", "A.wallet", "a.wallets", "aa.wallet", ".wallet", "a.walleT"])
async def test_only_the_service_of_this_cell_answers(phone: Phone, service: str) -> None:
    answer = await phone.client.get(f"/c/{service}/v1/devices/{phone.device}/registrations/{PASS_TYPE}")
    assert answer.status_code == 404


async def test_a_form_of_another_site_is_still_refused_elsewhere(phone: Phone, tenant: factory.Tenant) -> None:
    """The check for cross-site requests leaves out the service alone, where a browser has nothing to show."""
    page = await path_of(tenant, await tenant.card())
    headers = {"sec-fetch-site": "cross-site", "origin": "https://evil.test"}
    for path in (page, page + "/wallet/apple", "/c/a.wallet/v2/log", "/c/x/c/a.wallet/v1/log"):
        assert (await phone.client.post(path, headers=headers)).status_code == 403
