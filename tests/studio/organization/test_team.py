"""The team's pages: members, invitations, and changes that nobody can make."""

from collections.abc import AsyncGenerator
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.base.ids import new_id
from gatepass.domain import audit_log, staff
from gatepass.domain.keys import Key, Mode, keys_of
from gatepass.domain.staff import Role
from gatepass.studio.middleware import Middleware
from gatepass.studio.organization import team
from gatepass.studio.web import paging
from tests import factory
from tests.studio.browser_session import BrowserSession, another_person, sign_in


async def test_an_invitation_from_form_to_link_to_revocation(user: BrowserSession) -> None:
    email = f"{new_id()}@example.org"
    made = await user.send("team/invite", status=200, email=email, role="developer")
    link = made.text.partition("<pre")[2].partition(">")[2].partition("</pre")[0]
    assert link.startswith("https://studio.test/studio/welcome/")
    assert email in await user.see("team/invitations")
    assert "Open invitations" in await user.see("team")
    async with user.tenant.db.autocommit() as tx:
        id = await tx.value("SELECT id FROM invitation WHERE organization_id = $1", user.tenant.id)
        kept = await tx.value("SELECT i::text FROM invitation i WHERE organization_id = $1", user.tenant.id)
    assert link.rpartition("/")[2] not in kept
    answer = await user.send(f"team/invitations/{id}/revoke")
    assert "Its link no longer works." in await user.follow(answer)
    assert "No open invitations" in await user.see("team/invitations")
    assert (await user.client.get(link)).status_code == 404


async def test_what_is_wrong_stands_beside_its_field(user: BrowserSession) -> None:
    refused = await user.send("team/invite", status=422, email="not an address", role="viewer")
    assert "This is not an e-mail address." in refused.text
    assert 'value="not an address"' in refused.text
    refused = await user.send("team/invite", status=422, email=user.person.email, role="viewer")
    assert "in the team already" in refused.text
    refused = await user.send("team/invite", status=422, email="a@example.org", role="emperor")
    assert "Choose one of these." in refused.text


async def test_whoever_invites_is_asked_before_the_form_and_not_after_it(
    studio: Middleware, tenant: factory.Tenant, user: BrowserSession
) -> None:
    async with await sign_in(studio, tenant, confirmed=False) as owner:
        asked = await owner.client.get(owner.url("team/invite"))
        assert asked.headers["location"] == f"/studio/confirm?next={user.root()}team/invite"
    assert "E-mail address" in await user.see("team/invite")
    assert (await user.send("team/invite", status=200, email="a@example.org", role="developer")).text


async def test_an_admin_gives_no_ownership(studio: Middleware, tenant: factory.Tenant, user: BrowserSession) -> None:
    async with await sign_in(studio, tenant, Role.ADMIN) as admin:
        assert 'value="owner"' not in await admin.see("team/invite")
        refused = await admin.send("team/invite", status=422, email="a@example.org", role="owner")
        assert "Only somebody who is an owner can invite an owner." in refused.text
        refused = await admin.send(f"team/{admin.person.id}/role", status=422, role="owner")
        assert "Nobody gives a role above their own." in refused.text
        assert "This role is above yours" in await admin.see(f"team/{user.person.id}")
        await admin.send(f"team/{user.person.id}/role", status=422, role="viewer")
        await admin.send(f"team/{user.person.id}/remove", status=422)


async def test_a_viewer_sees_the_team_and_changes_nothing(
    studio: Middleware, tenant: factory.Tenant, user: BrowserSession
) -> None:
    async with await sign_in(studio, tenant, Role.VIEWER) as viewer:
        page = await viewer.see("team")
        assert user.person.email in page
        assert "team/invite" not in page
        await viewer.see("team/invite", status=403)
        await viewer.send(f"team/{user.person.id}/role", status=403, role="viewer")


async def test_the_last_owner_stays(user: BrowserSession) -> None:
    for path, fields in (("role", {"role": "viewer"}), ("remove", {})):
        refused = await user.send(f"team/{user.person.id}/{path}", status=422, **fields)
        assert "An organization needs an owner." in refused.text
    assert "You are alone here." in await user.see("team")


async def test_a_role_is_changed_and_somebody_removed(user: BrowserSession) -> None:
    bob = await another_person(user.tenant, Role.VIEWER)
    page = await user.follow(await user.send(f"team/{bob}/role", role="gate_lead"))
    assert "Runs the door" in page
    assert "Removed from the team" in await user.follow(await user.send(f"team/{bob}/remove"))
    await user.see(f"team/{bob}", status=404)


async def test_the_team_page_by_page(user: BrowserSession) -> None:
    async with user.tenant.db.transaction() as tx:
        for n in range(team.PAGE):
            person = await staff.enrol(tx, f"{new_id()}@example.org", f"Member {n:02}", at=factory.now())
            await staff.join(tx, user.tenant.id, person.id, Role.VIEWER, by=factory.BY, at=factory.now())
    first = await user.see("team")
    assert "Member 48" in first
    assert "Member 49" not in first
    address = first.partition(f'href="{user.root()}team?after=')[2].partition('"')[0]
    second = await user.see(f"team?after={address}")
    assert "Member 49" in second
    assert "Member 48" not in second


def test_an_address_that_somebody_made_up_begins_at_the_beginning() -> None:
    for text in ("", "x", "2026-01-01_x", "2026-01-01T00:00:00_" + str(new_id()), "_", "é_\0"):
        assert paging.place_of(text) is None


async def made_key(user: BrowserSession, name: str = "Bob's key") -> str:
    """A key that this person made; its id."""
    answer = await user.send("keys", name=name, scopes="events:read", expiry="7d")
    return answer.headers["location"].split("/")[-2]


async def test_the_keys_of_somebody_who_is_removed_are_offered(
    studio: Middleware, tenant: factory.Tenant, user: BrowserSession
) -> None:
    async with await sign_in(studio, tenant, Role.DEVELOPER) as bob:
        kept, revoked = await made_key(bob, "Kept"), await made_key(bob, "Revoked")
        answer = await user.send(f"team/{bob.person.id}/remove")
        assert answer.headers["location"] == f"{user.root()}team/{bob.person.id}/made"
        page = await user.follow(answer)
        assert f"What {bob.person.name} made" in page
        answer = await user.send(f"team/{bob.person.id}/made", made=[f"API key:{revoked}"])
        assert "Revoked: Revoked." in await user.follow(answer)
    async with tenant.db.autocommit() as tx:
        found = {str(key.id): key async for key in _keys(tx, tenant)}
        noted = await audit_log.of_subject(tx, tenant.id, UUID(revoked))
    assert found[kept].revoked_at is None
    assert found[revoked].revoked_by == f"person {user.person.id}"
    assert noted[0].action == "revoked"


async def test_the_keys_of_somebody_else_are_not_revoked_on_their_page(
    studio: Middleware, tenant: factory.Tenant, user: BrowserSession
) -> None:
    async with await sign_in(studio, tenant, Role.DEVELOPER) as bob:
        mine = await made_key(user, "Mine")
        await made_key(bob)
        await user.send(f"team/{bob.person.id}/made", made=[f"API key:{mine}"])
    async with tenant.db.autocommit() as tx:
        assert all([key.revoked_at is None async for key in _keys(tx, tenant)])


async def _keys(tx: Tx, tenant: factory.Tenant) -> AsyncGenerator[Key]:
    found, _ = await keys_of(tx, tenant.id, Mode.LIVE, at=factory.now(), limit=100)
    for key in found:
        yield key
