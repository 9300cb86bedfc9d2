"""Every refusal leaves its event, a flood leaves a bounded number, and no text that a caller sends forges a line."""

from collections.abc import AsyncGenerator
from urllib.parse import quote

import pytest

from gatepass.domain import keys
from gatepass.domain.keys import Scope
from gatepass.domain.staff import MAY, Role
from gatepass.studio.services.templates import root_of
from tests import factory
from tests.api.endpoints import ENDPOINTS, Endpoint
from tests.attacks.studio_client import StudioClient, audited, entries, fresh_address, line_in, member, visiting
from tests.processes import GatepassProcess
from tests.studio.routes import Walk, all_ids, form_of, walks

pytestmark = pytest.mark.finding(6)

WALKS = walks()
FORGED = '{"event": "signed_in", "level": "info", "timestamp": "2026-01-01T00:00:00Z", "forged": true}'
BREAKS = {
    "newline": f"x\n{FORGED}\n",
    "carriage return": f"x\r\n{FORGED}\r\n",
    "line separator": f"x\u2028{FORGED}\u2028",
    "vertical tab": f"x\x0b{FORGED}\x0c",
    "colours": f"x\x1b[2K\x1b[1A{FORGED}",
    "quotes": f'x", "forged": true, "y": "{FORGED}',
    "next line": f"x\x85{FORGED}\x85",
}


@pytest.fixture
async def client(watched: GatepassProcess) -> AsyncGenerator[StudioClient]:
    async with visiting(watched) as made:
        yield made


def shown(walk: Walk) -> str:
    return str(walk).replace("/studio", "").replace("/{mode}", "")


# ---- every route -----------------------------------------------------------------------------------------------


async def test_each_route_without_a_session(client: StudioClient, tenant: factory.Tenant) -> None:
    ids = await all_ids(tenant)
    guarded = [walk for walk in WALKS if walk.guarded]
    for walk in guarded:
        assert (await client.request(walk.method, walk.url(ids))).status_code == 303
        await client.line("session_required", reason="none", route=shown(walk))
    assert len(guarded) > 90


async def test_each_route_with_a_session_that_ended(client: StudioClient, tenant: factory.Tenant) -> None:
    client.session = "A" * 43
    ids = await all_ids(tenant)
    for walk in [walk for walk in WALKS if "{mode}" in walk.path][:20]:
        await client.request(walk.method, walk.url(ids))
        await client.line("session_required", reason="ended", route=shown(walk))


async def test_each_route_with_the_ids_of_others(client: StudioClient, tenant: factory.Tenant) -> None:
    theirs = await all_ids(await factory.tenant(tenant.db)) | {"organization": str(tenant.id)}
    person, client.session = await member(tenant)
    found = [walk for walk in WALKS if "{mode}" in walk.path and walk.takes_ids]
    for walk in found:
        form = form_of(walk) if walk.method != "GET" else None
        assert (await client.request(walk.method, walk.url(theirs), data=form)).status_code == 404, str(walk)
        await client.line("page_not_found", actor=f"person {person.id}", route=shown(walk))
    assert len(found) > 40


@pytest.mark.parametrize("role", [Role.VIEWER, Role.GATE_LEAD, Role.DEVELOPER, Role.ADMIN])
async def test_each_route_that_a_role_does_not_have(client: StudioClient, tenant: factory.Tenant, role: Role) -> None:
    ids = await all_ids(tenant)
    person, client.session = await member(tenant, role)
    refused = [walk for walk in WALKS if walk.permission is not None and walk.permission not in MAY[role]]
    for walk in refused:
        assert (await client.request(walk.method, walk.url(ids))).status_code == 403
    found = [entry for entry in await audited(tenant, person.id) if entry["action"] == "access_refused"]
    assert sorted(entry["becomes"] for entry in found) == sorted(map(shown, refused))
    assert {(entry["reason"], entry["address"]) for entry in found} == {("not_permitted", client.address)}
    line = await client.line("access_refused", reason="not_permitted", route=shown(refused[-1]))
    assert (line["level"], line["organization_ids"]) == ("warning", [str(tenant.id)])


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "none"}], ids=str)
@pytest.mark.parametrize("signed_in", [True, False])
async def test_a_form_of_another_site(
    client: StudioClient, tenant: factory.Tenant, headers: dict[str, str], *, signed_in: bool
) -> None:
    person, session = await member(tenant)
    client.session = session if signed_in else None
    assert (await client.post(f"{root_of(tenant.id, 'live')}/team/invite", headers=headers)).status_code == 403
    line = await client.line("access_refused", reason="cross_site", route="POST /team")
    assert line.get("actor") == (f"person {person.id}" if signed_in else None)
    assert len(await audited(tenant, person.id)) == int(signed_in)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=str)
async def test_each_call_without_what_it_needs(
    watched: GatepassProcess, tenant: factory.Tenant, endpoint: Endpoint
) -> None:
    """Without a key, with a key that was revoked, and with one that lacks the scope."""
    revoked, lacking = await tenant.key(), await tenant.key(endpoint.wrong_scope)
    async with tenant.db.transaction() as tx:
        await keys.revoke(tx, tenant.id, revoked.id, by=factory.BY, at=factory.now())
    address, route = fresh_address(), f"{endpoint.method} {endpoint.path}"
    for key, status in ((None, 401), (revoked.text, 401), (lacking.text, 403)):
        async with watched.client(key) as http:
            answer = await endpoint.call(http, headers={"X-Forwarded-For": address})
            assert answer.status_code == status
    await line_in(watched, "api_key_refused", address=address, reason="missing", route=route)
    await line_in(watched, "api_key_refused", address=address, reason="revoked", key_id=str(revoked.id))
    line = await line_in(watched, "api_scope_refused", address=address, route=route)
    assert (line["key_id"], line["organization_id"]) == (str(lacking.id), str(tenant.id))


async def test_a_role_above_ones_own(client: StudioClient, tenant: factory.Tenant) -> None:
    """The page shows the form again, which is no 403, but it was a refusal all the same."""
    admin, client.session = await member(tenant, Role.ADMIN)
    form = {"email": "somebody@example.org", "role": "owner"}
    assert (await client.post(f"{root_of(tenant.id, 'live')}/team/invite", data=form)).status_code == 422
    await client.line("access_refused", reason="not_permitted", route="POST /team/invite")
    assert [entry["action"] for entry in await audited(tenant, admin.id)] == ["access_refused"]


async def test_a_trial_key_names_its_person(client: StudioClient, tenant: factory.Tenant) -> None:
    person, client.session = await member(tenant, Role.DEVELOPER)
    await client.post(f"{root_of(tenant.id, 'sandbox')}/home/try")
    await line_in(client.server, "key_issued", actor=f"person {person.id}")


# ---- floods ----------------------------------------------------------------------------------------------------


async def test_a_flood_of_bad_keys_leaves_few_lines(client: StudioClient) -> None:
    headers = {"Authorization": f"Bearer {keys.make_key(keys.Mode.LIVE, 'a')}"}
    before = len(client.server.lines)
    for _ in range(150):
        await client.get("/api/public/v1/events", headers=headers)
    await client.line("api_rate_limited", reason="failures")
    assert len(client.lines()) <= 20, "five of each reason; twice that if a minute ended meanwhile"
    assert len(client.server.lines) - before < 60, "no other line for each call either"


async def test_a_flood_from_one_ipv6_network_leaves_few_lines(client: StudioClient) -> None:
    for number in range(40):
        client.address = f"2001:db8:77:1::{number:x}"
        await client.get("/studio/live/home")
    found = [line for line in entries(client.server.lines) if str(line.get("address", "")).startswith("2001:db8:77:1:")]
    assert 1 <= len(found) <= 10


@pytest.mark.parametrize("what", ["role", "cross_site", "not_found", "confirmation"])
async def test_a_flood_of_refusals_leaves_few_entries(client: StudioClient, tenant: factory.Tenant, what: str) -> None:
    person, client.session = await member(tenant, Role.VIEWER)
    for _ in range(40):
        if what == "role":
            await client.get(f"{root_of(tenant.id, 'live')}/keys")
        elif what == "cross_site":
            await client.post(f"{root_of(tenant.id, 'live')}/keys", headers={"Sec-Fetch-Site": "cross-site"})
        elif what == "confirmation":
            await client.post("/studio/confirm/passkey", data={"answer": "{}"})
        else:
            await client.get(f"{root_of(tenant.id, 'live')}/keys/{person.id}")
    assert len(await audited(tenant, person.id)) <= 2
    assert len(client.lines()) <= 10


# ---- forged lines ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", BREAKS.values(), ids=BREAKS.keys())
async def test_no_text_forges_a_line(client: StudioClient, tenant: factory.Tenant, text: str) -> None:
    """In every place that a stranger fills: form, path, query, headers, name of a passkey, address of a proxy."""
    header = "".join(letter for letter in text if letter >= " " and letter.isascii())
    await client.post("/studio/sign-in", data={"email": text, "password": text})
    await client.post("/studio/sign-in", data={"email": f"{header}@example.org", "password": text})
    await client.post("/studio/sign-in/passkey", data={"answer": text})
    await client.get(f"/studio/link/{quote(text, safe='')}")
    await client.post(f"/studio/link/{quote(text, safe='')}")
    await client.get(f"/studio/{quote(text, safe='')}/keys")
    await client.post(f"/studio/{quote(text, safe='')}", headers={"Sec-Fetch-Site": "cross-site"})
    await client.get(f"/api/public/v1/{quote(text, safe='')}", headers={"Authorization": f"Bearer {header}"})
    await client.get(f"{root_of(tenant.id, 'live')}/home", headers={"X-Forwarded-For": header, "User-Agent": header})
    _, client.session = await member(tenant, Role.VIEWER)
    await client.post("/studio/account/name", data={"name": text})
    await client.get(f"{root_of(tenant.id, 'live')}/keys", headers={"User-Agent": header})
    await client.line("access_refused", reason="not_permitted")
    assert not [line for line in entries(client.server.lines) if line.get("forged")]
    assert not [line for line in client.server.lines if line.startswith('{"event": "signed_in", "level"')]


async def test_a_known_key_is_in_the_request_log_too(client: StudioClient, tenant: factory.Tenant) -> None:
    key = await tenant.key(Scope.EVENTS_READ)
    answer = await client.post("/api/public/v1/scan", json={}, headers={"Authorization": f"Bearer {key.text}"})
    assert answer.status_code == 403
    async with tenant.db.autocommit() as tx:
        found = await tx.value(
            "SELECT host(address) FROM logged_call WHERE organization_id = $1 AND code = 'insufficient_scope'",
            tenant.id,
        )
    assert found == client.address
