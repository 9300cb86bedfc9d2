"""The networks of a studio: nothing of the organization is reached from elsewhere, whatever a caller says of itself."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network

import pytest

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Person, Role, invitations
from gatepass.studio.services.templates import root_of
from tests import factory
from tests.attacks.accounts.every_route import KINDS, ask_every_route
from tests.attacks.studio_client import StudioClient, audited, member, visiting
from tests.processes import GatepassProcess, gatepass

INSIDE, INSIDE_6, OUTSIDE = "198.51.100.7", "2001:db8:5::7", "203.0.113.9"
NETWORKS: list[IPv4Network | IPv6Network] = [ip_network("198.51.100.0/24"), ip_network("2001:db8:5::/48")]


@dataclass
class Scene:
    """An organization with a list, and an owner with an old session, who is elsewhere now."""

    tenant: factory.Tenant
    client: StudioClient
    person: Person

    def page(self, rest: str) -> str:
        return f"{root_of(self.tenant.id, 'live')}/{rest}"

    async def status(self, address: str, **headers: str) -> int:
        sent = {"X-Forwarded-For": address, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return (await self.client.get(self.page("home"), headers=sent)).status_code

    async def save(self, text: str, *, address: str = INSIDE) -> int:
        answer = await self.client.post(
            self.page("settings/access/networks"), data={"networks": text}, headers={"X-Forwarded-For": address}
        )
        return answer.status_code


async def limit(tenant: factory.Tenant, networks: list[IPv4Network | IPv6Network] | None) -> None:
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE organization SET studio_networks = $2 WHERE id = $1", tenant.id, networks)


@pytest.fixture
async def scene(watched: GatepassProcess, tenant: factory.Tenant) -> AsyncGenerator[Scene]:
    person, session = await member(tenant)
    await limit(tenant, NETWORKS)
    async with visiting(watched, session) as client:
        client.address = OUTSIDE
        yield Scene(tenant, client, person)


# ---- every route -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["live", "sandbox"])
@pytest.mark.parametrize("kind", KINDS)
async def test_no_route_of_the_organization_answers(scene: Scene, kind: str, mode: str) -> None:
    answers = await ask_every_route(scene.client, scene.tenant, kind, mode)
    assert {route for route, answer in answers.items() if answer.status_code != 403} == set()
    entries = await audited(scene.tenant, scene.person.id)
    assert {(entry["reason"], entry["address"]) for entry in entries} == {("address_not_allowed", OUTSIDE)}
    assert len(entries) == len(answers)


async def test_the_page_says_why(scene: Scene) -> None:
    answer = await scene.client.get(scene.page("home"))
    assert "Not from here" in answer.text
    assert OUTSIDE in answer.text
    assert "/studio/organizations" in answer.text, "a way on"
    await scene.client.line("access_refused", reason="address_not_allowed")


async def test_htmx_is_refused_too(scene: Scene) -> None:
    assert await scene.status(OUTSIDE, HX_Request="true") == 403


@pytest.mark.parametrize("path", ["/studio/account", "/studio/organizations", "/studio/confirm"])
async def test_the_account_stays_reachable(scene: Scene, path: str) -> None:
    assert (await scene.client.get(path)).status_code == 200


# ---- what a caller says of its address -------------------------------------------------------------------------


@pytest.mark.parametrize("address", [INSIDE, INSIDE_6, f"::ffff:{INSIDE}", "::FFFF:C633:6407", "2001:DB8:5:0::7"])
async def test_an_address_on_the_list_in_every_spelling(scene: Scene, address: str) -> None:
    assert await scene.status(address) == 200


@pytest.mark.parametrize(
    "address",
    [
        f"::ffff:{OUTSIDE}",
        f"::{INSIDE}",
        "2002:c633:6407::1",
        "64:ff9b::c633:6407",
        "2001:db8:6::7",
        "198.51.101.7",
        "0198.051.100.007",
        "198.51.100.7.example.org",
        "198.51.100",
        "3325256711",
        "0xc6336407",
        f"{INSIDE}/24",
        f"{INSIDE}%eth0",
        "unknown",
        "",
        "localhost",
        "127.0.0.1",
        f"{INSIDE}, {OUTSIDE}",
        f"{INSIDE},{INSIDE},{OUTSIDE}",
        f"{OUTSIDE}, {INSIDE}, nonsense",
    ],
)
async def test_an_address_that_is_not_on_it(scene: Scene, address: str) -> None:
    assert await scene.status(address) == 403


@pytest.mark.parametrize(
    "name", ["X_Real_IP", "Forwarded", "X_Client_IP", "True_Client_IP", "CF_Connecting_IP", "X_Forwarded_Host"]
)
async def test_no_other_header_is_believed(scene: Scene, name: str) -> None:
    value = f"for={INSIDE}" if name == "Forwarded" else INSIDE
    assert await scene.status(OUTSIDE, **{name: value}) == 403


async def test_without_a_proxy_no_header_is_believed(server: GatepassProcess, scene: Scene) -> None:
    async with visiting(server, scene.client.session) as direct:
        answer = await direct.get(scene.page("home"), headers={"X-Forwarded-For": INSIDE})
    assert answer.status_code == 403


# ---- sessions and organizations --------------------------------------------------------------------------------


async def test_a_session_that_was_opened_inside_does_not_work_outside(scene: Scene) -> None:
    assert [await scene.status(INSIDE), await scene.status(OUTSIDE), await scene.status(INSIDE)] == [200, 403, 200]


async def test_other_organizations_are_not_affected(scene: Scene) -> None:
    other = await factory.tenant(scene.tenant.db)
    async with other.db.transaction() as tx:
        await staff.join(tx, other.id, scene.person.id, Role.OWNER, by=factory.BY, at=factory.now())
    await scene.client.post("/studio/organizations", data={"organization_id": str(other.id)})
    answer = await scene.client.get(f"{root_of(other.id, 'live')}/home", headers={"X-Forwarded-For": OUTSIDE})
    assert answer.status_code == 200
    await scene.client.post("/studio/organizations", data={"organization_id": str(scene.tenant.id)})
    assert await scene.status(OUTSIDE) == 403


@pytest.mark.parametrize("signed_in", [True, False])
async def test_nobody_joins_from_elsewhere(scene: Scene, *, signed_in: bool) -> None:
    other = await factory.tenant(scene.tenant.db)
    person, session = await member(other)
    email = person.email if signed_in else f"{new_id()}@example.org"
    async with scene.tenant.db.transaction() as tx:
        made = await invitations.invite(
            tx, scene.tenant.id, email, Role.VIEWER, giver=Role.OWNER, cell="a", by=factory.BY, at=factory.now()
        )
    scene.client.session = session if signed_in else None
    path, form = f"/studio/welcome/{made.token}", {"name": "Ada", "password": "three brown llamas"}
    for address, status in ((OUTSIDE, 403), (INSIDE, 303)):
        answer = await scene.client.post(
            path + ("/join" if signed_in else ""), data=form, headers={"X-Forwarded-For": address}
        )
        assert answer.status_code == status


async def test_api_keys_are_not_affected(scene: Scene) -> None:
    key = await scene.tenant.key()
    async with scene.client.server.client(key.text) as http:
        assert (await http.get("/events", headers={"X-Forwarded-For": OUTSIDE})).status_code == 200


# ---- changing the list -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "203.0.113.0/24",
        "10.0.0.0/8 2001:db8:5::/48",
        "::ffff:198.51.100.0/120 ::/0",
        "198.51.100.7/24",
        "nonsense",
        "198.51.100.7; DROP TABLE organization",
        "fe80::1%eth0",
        " ".join(f"198.51.100.{number}" for number in range(51)),
        "\0",
    ],
)
async def test_a_list_that_would_lock_its_owner_out_or_is_none(scene: Scene, text: str) -> None:
    assert await scene.save(text) == 422
    assert await scene.status(INSIDE) == 200


async def test_the_list_is_not_changed_from_elsewhere(scene: Scene) -> None:
    assert await scene.save("203.0.113.0/24 198.51.100.0/24", address=OUTSIDE) == 403
    assert await scene.status(OUTSIDE) == 403


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.OWNER])
async def test_only_an_owner_changes_the_list(scene: Scene, role: Role) -> None:
    _, scene.client.session = await member(scene.tenant, role)
    assert await scene.save("0.0.0.0/0") == 403
    assert await scene.status(OUTSIDE) == 403


async def test_a_change_needs_confirmation(scene: Scene) -> None:
    async with scene.tenant.db.transaction() as tx:
        scene.client.session = await staff.begin(
            tx, scene.person.id, at=factory.now(), address=None, browser="", confirmed=False, second_factor=True
        )
    assert await scene.save("0.0.0.0/0") == 303
    assert await scene.status(OUTSIDE) == 403


async def test_every_ipv4_address_is_no_ipv6_address(scene: Scene) -> None:
    assert await scene.save("0.0.0.0/0") == 303
    assert [await scene.status(OUTSIDE), await scene.status(INSIDE_6)] == [200, 403]


async def test_an_empty_list_opens_the_studio_again(scene: Scene) -> None:
    assert await scene.save("") == 303
    assert await scene.status(OUTSIDE) == 200


@pytest.mark.parametrize("by", ["id", "name"])
async def test_the_operator_opens_the_studio_again(scene: Scene, settings_env: dict[str, str], by: str) -> None:
    name = f"Harbour {new_id()}"
    async with scene.tenant.db.transaction() as tx:
        await tx.run("UPDATE organization SET name = $2 WHERE id = $1", scene.tenant.id, name)
    told = gatepass(settings_env, "organization", "clear-networks", str(scene.tenant.id) if by == "id" else name)
    assert told == "Every address is allowed again.\n"
    assert await scene.status(OUTSIDE) == 200
