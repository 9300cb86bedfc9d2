"""Finding 7: somebody who is removed or demoted does not come back by what they made before."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.attacks.accounts.visitor import PASSWORD, Visitor, World

pytestmark = pytest.mark.finding(7)


@dataclass
class Gone:
    """An admin of BigCo who was removed, and what he has left."""

    world: World
    email: str
    session: Visitor
    puppet: str
    links: dict[str, str]


def hire(world: World, role: str) -> tuple[str, Visitor]:
    email = world.new_address()
    visitor = world.visitor()
    assert visitor.sign_up(world.bigco.invite(email, role), PASSWORD, name=f"The {role}").status_code == 303
    return email, visitor


@pytest.fixture(scope="module")
def gone(world: World) -> Gone:
    email, session = hire(world, "admin")
    puppet = world.new_address()
    links = {role: session.invite(f"{role}.{puppet}", role) for role in ("admin", "developer", "gate_lead", "viewer")}
    assert world.bigco.remove(email).status_code == 303
    return Gone(world, email, session, puppet, links)


@pytest.mark.parametrize("role", ["admin", "developer", "gate_lead", "viewer"])
@pytest.mark.parametrize("path", ["", "/passkey", "/passkey/options", "/join"])
def test_no_invitation_of_his_works(gone: Gone, role: str, path: str) -> None:
    visitor = gone.world.visitor()
    answer = visitor.post(gone.links[role] + path, name="Puppet", password=PASSWORD, answer="{}")
    # Without a session, /join only leads back to the page, which is not there.
    assert answer.status_code == (303 if path == "/join" else 404)
    assert visitor.get(gone.links[role]).status_code == 404
    assert "BigCo" not in visitor.get("home").text


def test_it_is_told_to_whom_comes_with_it(gone: Gone) -> None:
    assert "It may have been used, revoked" in gone.world.visitor().get(gone.links["admin"]).text


@pytest.mark.parametrize("path", ["home", "keys", "team", "audit", "/studio/account"])
def test_his_session_here_has_ended(gone: Gone, path: str) -> None:
    answer = gone.session.get(path)
    assert (answer.status_code, answer.headers["location"].startswith("/studio/sign-in")) == (303, True)


def test_he_invites_nobody_any_more(gone: Gone) -> None:
    answer = gone.session.post("team/invite", email=f"late.{gone.puppet}", role="admin")
    assert answer.status_code == 303
    assert f"late.{gone.puppet}" not in gone.world.bigco.get("team/invitations").text


def test_his_account_is_in_no_organization(gone: Gone) -> None:
    again = gone.world.visitor()
    assert again.sign_in(gone.email, PASSWORD)
    assert "You belong to no organization" in again.get("/studio/organizations").text


def test_the_log_names_what_was_withdrawn(gone: Gone) -> None:
    page = gone.world.bigco.get("audit?subject=invitation").text
    assert page.count("withdrawn") >= len(gone.links)


def test_an_invitation_by_somebody_else_for_the_same_team_still_works(gone: Gone) -> None:
    link = gone.world.bigco.invite(gone.world.new_address())
    assert gone.world.visitor().get(link).status_code == 200


@pytest.mark.parametrize(
    ("becomes", "withdrawn", "kept"),
    [
        ("developer", ["admin"], ["developer", "gate_lead", "viewer"]),
        ("gate_lead", ["admin", "developer"], ["gate_lead", "viewer"]),
        ("viewer", ["admin", "developer", "gate_lead"], ["viewer"]),
    ],
)
def test_a_demotion_withdraws_what_is_above_the_new_role(
    world: World, becomes: str, withdrawn: list[str], kept: list[str]
) -> None:
    email, admin = hire(world, "admin")
    links = {role: admin.invite(f"{role}.{email}", role) for role in (*withdrawn, *kept)}
    assert world.bigco.post(f"team/{world.bigco.member_id(email)}/role", role=becomes).status_code == 303
    seen = {role: world.visitor().get(link).status_code for role, link in links.items()}
    assert seen == {**dict.fromkeys(withdrawn, 404), **dict.fromkeys(kept, 200)}
    assert admin.post("team/invite", email=f"again.{email}", role=becomes).status_code == 403


def by_the_team(world: World, email: str) -> None:
    assert world.bigco.remove(email).status_code == 303


def by_the_operator(world: World, email: str) -> None:
    world.operator("person", "remove", email)


@pytest.mark.parametrize("remove", [by_the_team, by_the_operator], ids=lambda remove: remove.__name__)
def test_whoever_removes_him(world: World, remove: Callable[[World, str], None]) -> None:
    email, admin = hire(world, "admin")
    link = admin.invite(f"puppet.{email}", "admin")
    remove(world, email)
    assert world.visitor().sign_up(link, PASSWORD).status_code == 404


def test_an_owner_who_was_demoted_makes_no_owner(world: World) -> None:
    email, second = hire(world, "owner")
    link = second.invite(f"puppet.{email}", "owner")
    assert world.bigco.post(f"team/{world.bigco.member_id(email)}/role", role="admin").status_code == 303
    assert world.visitor().sign_up(link, PASSWORD).status_code == 404


def test_his_keys_are_offered_for_revocation(world: World) -> None:
    email, admin = hire(world, "admin")
    assert admin.post("keys", name="Left behind", scopes="events:read", expiry="7d").status_code == 303
    answer = world.bigco.remove(email)
    assert answer.headers["location"].endswith("/made")
    page = world.bigco.get(answer.headers["location"]).text
    assert "Left behind" in page
    key_id = page.partition('name="made" value="API key:')[2].partition('"')[0]
    assert world.bigco.post(answer.headers["location"], made=f"API key:{key_id}").status_code == 303
    assert "revoked" in world.bigco.get(f"keys/{key_id}").text
