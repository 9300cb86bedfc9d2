"""Nobody does more than their role: live admin keys, roles above one's own, and other organizations."""

import re

import pytest

from gatepass.domain.keys import Scope
from tests.attacks.accounts.test_invitations import hire
from tests.attacks.accounts.visitor import Visitor, World

ROLES = ("admin", "developer", "gate_lead", "viewer")
MAKERS = ("admin", "developer")
KEY = {"name": "Mine", "expiry": "7d"}
ONLY_AN_OWNER = "Only an owner"
# The scopes that each role may give to a live key.
GRANTS = {
    "admin": set(Scope) - {Scope.ADMIN},
    "developer": {
        Scope.EVENTS_READ,
        Scope.CARDS_VERIFY,
        Scope.TICKETS_ACTIVATE,
        Scope.TICKETS_READ,
        Scope.WEBHOOKS_READ,
    },
    "gate_lead": set[Scope](),
    "viewer": set[Scope](),
}


@pytest.fixture(scope="module")
def staff(world: World) -> dict[str, tuple[str, Visitor]]:
    """An address and a session for each role in BigCo."""
    return {role: hire(world, role) for role in ROLES}


@pytest.fixture(scope="module")
def admin_key(world: World) -> str:
    """The id of a live admin key that the owner made."""
    answer = world.bigco.post("keys", scopes="admin", **KEY)
    assert answer.status_code == 303
    return answer.headers["location"].split("/")[-2]


def live_admin_keys(world: World) -> int:
    rows = world.bigco.get("keys?show=all").text.split("<tr>")
    return sum('<span class="chip">admin</span>' in row for row in rows)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("scopes", [["admin"], ["events:read", "admin"], ["admin", "admin"]], ids=str)
def test_a_live_admin_key_is_made_by_owners_alone(
    world: World, staff: dict[str, tuple[str, Visitor]], role: str, scopes: list[str]
) -> None:
    before = live_admin_keys(world)
    answer = staff[role][1].post("keys", scopes=scopes, **KEY)
    assert answer.status_code == 403
    assert role not in MAKERS or ONLY_AN_OWNER in answer.text
    assert live_admin_keys(world) == before


@pytest.mark.parametrize("overlap", ["now", "24h"])
@pytest.mark.parametrize("role", ROLES)
def test_nor_is_one_had_by_rolling(
    world: World, staff: dict[str, tuple[str, Visitor]], admin_key: str, role: str, overlap: str
) -> None:
    before = live_admin_keys(world)
    answer = staff[role][1].post(f"keys/{admin_key}/roll", overlap=overlap, expiry="7d")
    assert answer.status_code == 403
    assert live_admin_keys(world) == before


@pytest.mark.parametrize("role", MAKERS)
def test_the_pages_say_so_before(staff: dict[str, tuple[str, Visitor]], admin_key: str, role: str) -> None:
    visitor = staff[role][1]
    assert ONLY_AN_OWNER in visitor.get("keys/new").text
    assert ONLY_AN_OWNER in visitor.get("keys/preview?scopes=admin").text
    assert "only an owner can roll it" in visitor.get(f"keys/{admin_key}").text
    assert "only an owner can roll it" in visitor.get(f"keys/{admin_key}/roll").text


@pytest.mark.parametrize("preset", ["gate", "shop", "reporting", "integrator", "admin", "owner"])
def test_no_preset_has_it(staff: dict[str, tuple[str, Visitor]], preset: str) -> None:
    page = staff["developer"][1].get(f"keys/new?preset={preset}").text
    box = re.search(r'<input[^>]*value="admin"[^>]*>', page)
    assert box is not None
    assert "disabled" in box[0]
    assert "checked" not in box[0]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("scope", list(Scope))
def test_nobody_makes_a_live_key_that_can_do_what_they_may_not(
    world: World, staff: dict[str, tuple[str, Visitor]], role: str, scope: Scope
) -> None:
    """Neither by making nor by rolling one: a developer sees no holder and issues no ticket, nor does their key."""
    visitor, wanted = staff[role][1], 303 if scope in GRANTS[role] else 403
    assert visitor.post("keys", scopes=scope, **KEY).status_code == wanted
    assert visitor.post("keys", scopes=["tickets:activate", scope], **KEY).status_code == wanted
    made = world.bigco.post("keys", scopes=scope, **KEY)
    key_id = made.headers["location"].split("/")[-2]
    assert visitor.post(f"keys/{key_id}/roll", overlap="now", expiry="7d").status_code == wanted


@pytest.mark.parametrize("role", MAKERS)
def test_in_the_sandbox_they_make_what_they_like(staff: dict[str, tuple[str, Visitor]], role: str) -> None:
    assert staff[role][1].post("sandbox/keys", scopes="admin", **KEY).status_code == 303


@pytest.mark.parametrize("role", MAKERS)
def test_a_sandbox_admin_key_is_not_rolled_into_a_live_one(
    world: World, staff: dict[str, tuple[str, Visitor]], role: str
) -> None:
    made = staff[role][1].post("sandbox/keys", scopes="admin", **KEY)
    key_id = made.headers["location"].split("/")[-2]
    answer = staff[role][1].post(f"keys/{key_id}/roll", overlap="now", expiry="7d")
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("role", "wanted"),
    [("admin", "owner"), *[(role, wanted) for role in ROLES[1:] for wanted in ("owner", "admin", "viewer")]],
)
def test_nobody_invites_above_or_without_the_right(
    staff: dict[str, tuple[str, Visitor]], role: str, wanted: str
) -> None:
    answer = staff[role][1].post("team/invite", email=f"{role}.{wanted}@example.org", role=wanted)
    assert answer.status_code == (422 if role == "admin" else 403)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("act", ["promote oneself", "demote the owner", "remove the owner"])
def test_nobody_changes_who_is_above(world: World, staff: dict[str, tuple[str, Visitor]], role: str, act: str) -> None:
    email, visitor = staff[role]
    owner = world.bigco.member_id("Owner of BigCo")
    path, fields = {
        "promote oneself": (f"team/{world.bigco.member_id(email)}/role", {"role": "owner"}),
        "demote the owner": (f"team/{owner}/role", {"role": "viewer"}),
        "remove the owner": (f"team/{owner}/remove", {}),
    }[act]
    assert visitor.post(path, **fields).status_code in (403, 422)
    assert "Owner" in world.bigco.get(f"team/{owner}").text
    assert f"{role.replace('_', ' ').capitalize()}</dd>" in world.bigco.get(f"team/{world.bigco.member_id(email)}").text


@pytest.mark.parametrize("role", ROLES)
def test_nobody_revokes_an_owners_invitation(world: World, staff: dict[str, tuple[str, Visitor]], role: str) -> None:
    email = world.new_address()
    link = world.bigco.invite(email, "owner")
    row = next(row for row in world.bigco.get("team/invitations").text.split("<tr>") if email in row)
    revoke = row.partition('action="')[2].partition('"')[0]
    assert staff[role][1].post(revoke).status_code == 403
    assert world.visitor().get(link).status_code == 200


@pytest.mark.parametrize(
    "path", ["keys/{key}", "keys/{key}/roll", "keys/{key}/revoke", "team/{person}", "team/{person}/made"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_organizations_things_are_not_there(world: World, admin_key: str, path: str, method: str) -> None:
    """Mallory owns his organization, which gives him nothing in BigCo."""
    url = path.format(key=admin_key, person=world.bigco.member_id("Owner of BigCo"))
    answer = (
        world.mallory.send(method, url, overlap="now", expiry="7d", keys=admin_key)
        if method == "POST"
        else (world.mallory.get(url))
    )
    assert answer.status_code in (404, 405)


def test_nobody_switches_to_an_organization_of_others(world: World) -> None:
    page = world.bigco.get("/studio/organizations").text
    organization_id = page.partition('name="organization_id" value="')[2].partition('"')[0]
    assert organization_id
    assert world.mallory.post("/studio/organizations", organization_id=organization_id).status_code == 404
    assert "BigCo" not in world.mallory.get("home").text


@pytest.mark.parametrize("role", ["gate_lead", "viewer"])
def test_no_trial_key_for_who_makes_no_keys(staff: dict[str, tuple[str, Visitor]], role: str) -> None:
    assert staff[role][1].post("home/try").status_code == 403


def test_a_trial_key_names_who_made_it(staff: dict[str, tuple[str, Visitor]]) -> None:
    visitor = staff["developer"][1]
    assert visitor.post("home/try").status_code == 200
    rows = visitor.get("sandbox/keys").text.split("<tr>")
    row = next(row for row in rows if "Trial scan of the studio" in row)
    assert "The developer" in row


def test_an_owner_makes_and_rolls_one(world: World) -> None:
    made = world.bigco.post("keys", scopes="admin", **KEY)
    key_id = made.headers["location"].split("/")[-2]
    assert world.bigco.post(f"keys/{key_id}/roll", overlap="now", expiry="7d").status_code == 303
