"""The team's pages: who is in it, who is invited, and what nobody can do."""

from gatepass.base.ids import new_id
from gatepass.domain import staff
from gatepass.domain.staff import Role
from gatepass.studio import places, team
from gatepass.studio.reception import Reception
from tests import make
from tests.studio.desk import Desk, another_person, sit_down


async def test_an_invitation_from_form_to_link_to_revocation(desk: Desk) -> None:
    email = f"{new_id()}@example.org"
    made = await desk.send("team/invite", status=200, email=email, role="developer")
    link = made.text.partition("<pre")[2].partition(">")[2].partition("</pre")[0]
    assert link.startswith("https://studio.test/studio/welcome/")
    assert email in await desk.see("team/invitations")
    assert "Open invitations" in await desk.see("team")
    async with desk.house.db.reading() as tx:
        id = await tx.value("SELECT id FROM invitation WHERE organization_id = $1", desk.house.id)
        kept = await tx.value("SELECT i::text FROM invitation i WHERE organization_id = $1", desk.house.id)
    assert link.rpartition("/")[2] not in kept
    answer = await desk.send(f"team/invitations/{id}/revoke")
    assert "Its link no longer works." in await desk.follow(answer)
    assert "No open invitations" in await desk.see("team/invitations")
    assert (await desk.client.get(link)).status_code == 404


async def test_what_is_wrong_stands_beside_its_field(desk: Desk) -> None:
    refused = await desk.send("team/invite", status=422, email="not an address", role="viewer")
    assert "This is not an e-mail address." in refused.text
    assert 'value="not an address"' in refused.text
    refused = await desk.send("team/invite", status=422, email=desk.person.email, role="viewer")
    assert "in the team already" in refused.text
    refused = await desk.send("team/invite", status=422, email="a@example.org", role="emperor")
    assert "Choose one of these." in refused.text


async def test_an_admin_gives_no_ownership(studio: Reception, house: make.House, desk: Desk) -> None:
    async with await sit_down(studio, house, Role.ADMIN) as admin:
        assert 'value="owner"' not in await admin.see("team/invite")
        refused = await admin.send("team/invite", status=422, email="a@example.org", role="owner")
        assert "Only somebody who is an owner can invite an owner." in refused.text
        refused = await admin.send(f"team/{admin.person.id}/role", status=422, role="owner")
        assert "Nobody gives a role above their own." in refused.text
        assert "This role is above yours" in await admin.see(f"team/{desk.person.id}")
        await admin.send(f"team/{desk.person.id}/role", status=422, role="viewer")
        await admin.send(f"team/{desk.person.id}/remove", status=422)


async def test_a_viewer_sees_the_team_and_changes_nothing(studio: Reception, house: make.House, desk: Desk) -> None:
    async with await sit_down(studio, house, Role.VIEWER) as viewer:
        page = await viewer.see("team")
        assert desk.person.email in page
        assert "team/invite" not in page
        await viewer.see("team/invite", status=403)
        await viewer.send(f"team/{desk.person.id}/role", status=403, role="viewer")


async def test_the_last_owner_stays(desk: Desk) -> None:
    for path, fields in (("role", {"role": "viewer"}), ("remove", {})):
        refused = await desk.send(f"team/{desk.person.id}/{path}", status=422, **fields)
        assert "An organization needs an owner." in refused.text
    assert "You are alone here." in await desk.see("team")


async def test_a_role_is_changed_and_somebody_removed(desk: Desk) -> None:
    bob = await another_person(desk.house, Role.VIEWER)
    page = await desk.follow(await desk.send(f"team/{bob}/role", role="gate_lead"))
    assert "Runs the door" in page
    assert "Removed from the team" in await desk.follow(await desk.send(f"team/{bob}/remove"))
    await desk.see(f"team/{bob}", status=404)


async def test_the_team_page_by_page(desk: Desk) -> None:
    async with desk.house.db.transaction() as tx:
        for n in range(team.PAGE):
            person = await staff.enrol(tx, f"{new_id()}@example.org", f"Member {n:02}", at=make.now())
            await staff.join(tx, desk.house.id, person.id, Role.VIEWER, by=make.BY, at=make.now())
    first = await desk.see("team")
    assert "Member 48" in first
    assert "Member 49" not in first
    address = first.partition('href="/studio/live/team?after=')[2].partition('"')[0]
    second = await desk.see(f"team?after={address}")
    assert "Member 49" in second
    assert "Member 48" not in second


def test_an_address_that_somebody_made_up_begins_at_the_beginning() -> None:
    for text in ("", "x", "2026-01-01_x", "2026-01-01T00:00:00_" + str(new_id()), "_", "é_\0"):
        assert places.place_of(text) is None
