"""A required second factor: no page, stream, download or change of the organization without one, whatever is tried."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

import pytest

from gatepass.domain import staff
from gatepass.domain.staff import MAY, Person, Role
from gatepass.domain.staff.webauthn import RelyingParty
from gatepass.studio.services.templates import root_of
from tests import factory
from tests.attacks.accounts.every_route import KINDS, ask_every_route
from tests.attacks.studio_client import StudioClient, audited, member, visiting
from tests.authenticator import Authenticator
from tests.processes import GatepassProcess
from tests.studio.people import GOOD, Known, asked, somebody, with_passkey

ASKED_FOR = "/studio/second-factor?next="


@dataclass
class Scene:
    """An organization that requires a second factor, and somebody in it who signed in without."""

    tenant: factory.Tenant
    client: StudioClient
    person: Person

    def page(self, rest: str) -> str:
        return f"{root_of(self.tenant.id, 'live')}/{rest}"

    async def enters(self, other: factory.Tenant | None = None) -> bool:
        answer = await self.client.get(f"{root_of((other or self.tenant).id, 'live')}/home")
        if answer.status_code == 200:
            return True
        assert answer.headers["location"].startswith(ASKED_FOR), answer.headers
        return False

    async def sign_in(self, known: Known, code: str | None = None) -> None:
        form = {"email": known.person.email, "password": GOOD}
        page = await self.client.post("/studio/sign-in", data=form)
        if code is not None:
            await self.client.post("/studio/sign-in/code", data={"asked": asked(page.text), "code": code})


async def require(tenant: factory.Tenant, *, required: bool = True) -> None:
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE organization SET requires_second_factor = $2 WHERE id = $1", tenant.id, required)


@pytest.fixture
async def scene(watched: GatepassProcess, tenant: factory.Tenant) -> AsyncGenerator[Scene]:
    person, session = await member(tenant, second_factor=False)
    await require(tenant)
    async with visiting(watched, session) as client:
        yield Scene(tenant, client, person)


# ---- every route -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["live", "sandbox"])
@pytest.mark.parametrize("kind", KINDS)
async def test_no_route_of_the_organization_answers(scene: Scene, kind: str, mode: str) -> None:
    answers = await ask_every_route(scene.client, scene.tenant, kind, mode)
    for route, answer in answers.items():
        assert (answer.status_code, route) == (303, route)
        assert answer.headers["location"].startswith(ASKED_FOR), route
    entries = await audited(scene.tenant, scene.person.id)
    assert {entry["reason"] for entry in entries} == {"second_factor_required"}
    assert len(entries) == len(answers)


async def test_htmx_leaves_the_page(scene: Scene) -> None:
    answer = await scene.client.get(scene.page("keys"), headers={"HX-Request": "true"})
    assert (answer.status_code, answer.text) == (204, "")
    assert answer.headers["hx-redirect"].startswith(ASKED_FOR)


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"])
async def test_no_other_method_answers(scene: Scene, method: str) -> None:
    answer = await scene.client.request(method, scene.page("keys"))
    assert answer.status_code in (303, 404, 405)
    assert "svc_" not in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "/studio/o/{id}/live//keys",
        "/studio/o/{id}/live/keys/",
        "/studio/o/{id}/LIVE/keys",
        "/studio/o/{id}/live/%6beys",
        "/studio/o/{id}/live/../live/keys",
        "/studio/live/keys",
        "/studio/LIVE/keys",
    ],
)
async def test_no_spelling_of_a_path_answers(scene: Scene, path: str) -> None:
    answer = await scene.client.get(path.format(id=scene.tenant.id))
    assert answer.status_code in (303, 404)


# ---- sessions --------------------------------------------------------------------------------------------------


async def test_a_session_that_is_open_is_affected_at_once(scene: Scene) -> None:
    await require(scene.tenant, required=False)
    assert await scene.enters()
    await require(scene.tenant)
    assert not await scene.enters()


async def test_a_password_alone_is_not_enough(scene: Scene) -> None:
    await scene.sign_in(await somebody(scene.tenant))
    assert not await scene.enters()


async def test_a_link_is_not_enough(scene: Scene) -> None:
    async with scene.tenant.db.transaction() as tx:
        token = await staff.make_link(tx, scene.person.id, cell="a", at=factory.now())
    assert (await scene.client.post(f"/studio/link/{token}")).status_code == 303
    assert not await scene.enters()


@pytest.mark.parametrize("factor", ["code", "recovery"])
async def test_a_code_is_enough(scene: Scene, factor: str) -> None:
    known = await somebody(scene.tenant, codes=True)
    await scene.sign_in(known, known.code() if factor == "code" else known.recovery[0])
    assert await scene.enters()


async def test_a_wrong_code_is_not(scene: Scene) -> None:
    known = await somebody(scene.tenant, codes=True)
    scene.client.session = None
    await scene.sign_in(known, "000000")
    answer = await scene.client.get(scene.page("home"))
    assert answer.headers["location"].startswith("/studio/sign-in")


async def test_confirming_with_the_password_alone_is_not_enough(scene: Scene) -> None:
    await scene.sign_in(await somebody(scene.tenant))
    answer = await scene.client.post("/studio/confirm", data={"password": GOOD, "next": "/studio/live/keys"})
    assert answer.status_code == 303
    assert not await scene.enters()


async def test_confirming_with_a_code_is_enough(scene: Scene) -> None:
    known = await somebody(scene.tenant, codes=True)
    async with scene.tenant.db.transaction() as tx:
        scene.client.session = await staff.begin(
            tx, known.person.id, at=factory.now(), address=None, browser="old code"
        )
    assert not await scene.enters()
    await scene.client.post("/studio/confirm", data={"password": GOOD, "code": known.code()})
    assert await scene.enters()


@pytest.mark.parametrize("answers", ["their own", "another"])
async def test_confirming_with_a_passkey(scene: Scene, answers: str) -> None:
    party = RelyingParty("localhost", f"http://localhost:{scene.client.server.port}")
    device = await with_passkey(scene.tenant, scene.person, party)
    if answers == "another":
        device = Authenticator(origin=party.origin, rp_id=party.id)
    options = await scene.client.post("/studio/confirm/passkey/options")
    await scene.client.post("/studio/confirm/passkey", data={"answer": device.get(options.text)})
    assert await scene.enters() is (answers == "their own")


async def test_a_passkey_that_is_added_is_enough_and_one_that_is_not_kept_is_none(scene: Scene) -> None:
    device = Authenticator(origin=f"http://localhost:{scene.client.server.port}", rp_id="localhost")
    options = await scene.client.post("/studio/account/passkeys/options")
    await scene.client.post("/studio/account/passkeys", data={"answer": "{}"})
    assert not await scene.enters()
    await scene.client.post("/studio/account/passkeys", data={"answer": device.create(options.text)})
    assert await scene.enters()


@pytest.mark.parametrize(
    "path", ["/studio/account", "/studio/organizations", "/studio/confirm", "/studio/second-factor"]
)
async def test_the_account_stays_reachable(scene: Scene, path: str) -> None:
    assert (await scene.client.get(path)).status_code == 200


# ---- other organizations, settings, keys -----------------------------------------------------------------------


async def test_switching_between_organizations_neither_helps_nor_harms(scene: Scene) -> None:
    other = await factory.tenant(scene.tenant.db)
    async with other.db.transaction() as tx:
        await staff.join(tx, other.id, scene.person.id, Role.OWNER, by=factory.BY, at=factory.now())
    await scene.client.post("/studio/organizations", data={"organization_id": str(other.id)})
    assert await scene.enters(other)
    await scene.client.post("/studio/organizations", data={"organization_id": str(scene.tenant.id)})
    assert not await scene.enters()


@pytest.mark.parametrize("role", Role)
async def test_only_an_owner_with_a_second_factor_turns_it_on(scene: Scene, role: Role) -> None:
    await require(scene.tenant, required=False)
    for second_factor in (False, True):
        _, scene.client.session = await member(scene.tenant, role, second_factor=second_factor)
        answer = await scene.client.post(scene.page("settings/access/second-factor"), data={"required": "true"})
        wanted = 403 if role is not Role.OWNER else 303 if second_factor else 422
        assert answer.status_code == wanted
    assert await scene.enters()


async def test_it_is_not_turned_off_from_outside(scene: Scene) -> None:
    answer = await scene.client.post(scene.page("settings/access/second-factor"), data={"required": "false"})
    assert answer.headers["location"].startswith(ASKED_FOR)
    assert not await scene.enters()


async def test_api_keys_are_not_affected(scene: Scene) -> None:
    key = await scene.tenant.key()
    async with scene.client.server.client(key.text) as http:
        assert (await http.get("/events")).status_code == 200


async def test_the_team_page_shows_who_lacks_it(scene: Scene) -> None:
    viewer, scene.client.session = await member(scene.tenant, Role.VIEWER)
    page = await scene.client.get(scene.page("team"))
    assert page.text.count("Second factor missing") == 2, MAY[Role.VIEWER]
    known = await somebody(scene.tenant, codes=True)
    page = await scene.client.get(scene.page(f"team/{known.person.id}"))
    assert "Second factor missing" not in page.text
    assert "Second factor missing" in (await scene.client.get(scene.page(f"team/{viewer.id}"))).text
