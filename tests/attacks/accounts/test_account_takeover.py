"""Finding 1: an address is taken before its owner comes, with a way back in, and the owner joins an organization later.

Mallory invites `ceo@…` to an organization of his own, opens the link himself, and keeps a password, a passkey, recovery
codes and a session. However the real person then comes into their account, none of these reaches their organization.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

import pytest

from tests.attacks.accounts.visitor import PASSWORD, Visitor, World, code_now, link_in, make_world
from tests.authenticator import Authenticator
from tests.postgres import free_port
from tests.processes import GatepassProcess, wait_until_ready

pytestmark = pytest.mark.finding(1)

MALLORYS, REAL = "mallory keeps seven keys", PASSWORD


@dataclass
class Planted:
    """What Mallory keeps of the account that he made for this address."""

    email: str
    session: Visitor
    phone: Authenticator
    seed: bytes
    recovery: list[str] = field(default_factory=list[str])


def plant(here: World, *, removed: bool) -> Planted:
    email = here.new_address()
    session = here.visitor()
    assert session.sign_up(here.mallory.invite(email), MALLORYS, name="The CEO").status_code == 303
    phone = session.add_passkey()
    seed, recovery = session.turn_codes_on()
    if removed:
        assert here.mallory.remove(email).status_code == 303
        assert session.get("home").status_code == 303, "the session has ended"
        assert session.sign_in_with_passkey(phone), "but the account is still his"
    return Planted(email, session, phone, seed, recovery)


# ---- how the real person comes in; each ends with a signed-in member of BigCo --------------------------------------


def by_claiming(here: World, planted: Planted) -> Visitor:
    """The link of BigCo alone: the account is in no organization, so it is replaced."""
    person = here.visitor()
    assert person.sign_up(here.bigco.invite(planted.email, "owner"), REAL, name="Real").status_code == 303
    return person


def by_the_operators_link(here: World, planted: Planted) -> Visitor:
    person = here.visitor()
    assert person.post(link_in(here.operator("person", "link", planted.email))).status_code == 303
    assert person.post(here.bigco.invite(planted.email, "owner") + "/join").status_code == 303
    assert person.post("/studio/account/password", password=REAL).status_code == 303
    return person


def by_a_link_that_keeps_credentials(here: World, planted: Planted) -> Visitor:
    """The operator errs. Joining still asks for a new credential, and removes the others."""
    person = here.visitor()
    link = link_in(here.operator("person", "link", planted.email, "--keep-credentials"))
    assert person.post(link).status_code == 303
    welcome = here.bigco.invite(planted.email, "owner")
    assert person.post(f"{welcome}/join").status_code == 422, "not without a new credential"
    assert person.post(f"{welcome}/join", password=REAL).status_code == 303
    return person


def by_removing_the_account(here: World, planted: Planted) -> Visitor:
    here.operator("person", "remove", planted.email)
    return by_claiming(here, planted)


STORIES: dict[str, tuple[Callable[[World, Planted], Visitor], bool]] = {
    "claimed": (by_claiming, True),
    "linked": (by_the_operators_link, True),
    "linked while in Mallory's team": (by_the_operators_link, False),
    "linked with credentials kept": (by_a_link_that_keeps_credentials, True),
    "removed": (by_removing_the_account, True),
    "removed while in Mallory's team": (by_removing_the_account, False),
}


@pytest.fixture(scope="module", params=list(STORIES), ids=list(STORIES))
def told(request: pytest.FixtureRequest, world: World) -> tuple[World, Planted, Visitor]:
    """A story until the real person is a member of BigCo."""
    come_in, removed = STORIES[request.param]
    planted = plant(world, removed=removed)
    person = come_in(world, planted)
    assert "BigCo" in person.get("home").text, "the real person works there"
    return world, planted, person


def mints_a_key_of_bigco(visitor: Visitor) -> bool:
    """Whether this visitor can make a live admin key of BigCo, and uses it."""
    fields = {"name": "Mine", "scopes": "admin", "expiry": "7d"}
    return "BigCo" in visitor.get("home").text and visitor.post("keys", **fields).status_code == 303


Attempt = Callable[[World, Planted], bool]


def with_the_password(here: World, planted: Planted) -> bool:
    visitor = here.visitor()
    return visitor.sign_in(planted.email, MALLORYS) and mints_a_key_of_bigco(visitor)


def with_the_password_and_the_app(here: World, planted: Planted) -> bool:
    visitor = here.visitor()
    signed_in = visitor.sign_in_with_code(planted.email, MALLORYS, code_now(planted.seed))
    return signed_in and mints_a_key_of_bigco(visitor)


def with_a_recovery_code(here: World, planted: Planted) -> bool:
    visitor = here.visitor()
    signed_in = visitor.sign_in_with_code(planted.email, MALLORYS, planted.recovery[0])
    return signed_in and mints_a_key_of_bigco(visitor)


def with_the_new_password_and_an_old_code(here: World, planted: Planted) -> bool:
    """The old codes are no second factor of the new password: it needs none, so there is nothing to type them into."""
    return here.visitor().sign_in_with_code(planted.email, REAL, planted.recovery[1])


def with_the_passkey(here: World, planted: Planted) -> bool:
    visitor = here.visitor()
    return visitor.sign_in_with_passkey(planted.phone) and mints_a_key_of_bigco(visitor)


def with_the_open_session(here: World, planted: Planted) -> bool:
    return mints_a_key_of_bigco(planted.session)


def by_confirming_the_open_session(here: World, planted: Planted) -> bool:
    planted.session.post("/studio/confirm", password=MALLORYS)
    return mints_a_key_of_bigco(planted.session)


def by_adding_a_passkey_in_the_open_session(here: World, planted: Planted) -> bool:
    return planted.session.post("/studio/account/passkeys/options").status_code == 200


def by_setting_a_password_in_the_open_session(here: World, planted: Planted) -> bool:
    planted.session.post("/studio/account/password", password=MALLORYS)
    return with_the_password(here, planted)


def by_inviting_again(here: World, planted: Planted) -> bool:
    """The address is in BigCo now: nobody replaces its account by another invitation."""
    if planted.email in here.mallory.get("team").text:
        here.mallory.remove(planted.email)
    link = here.mallory.invite(planted.email)
    return here.visitor().sign_up(link, MALLORYS).status_code == 303


ATTEMPTS: list[Attempt] = [
    with_the_password,
    with_the_password_and_the_app,
    with_a_recovery_code,
    with_the_new_password_and_an_old_code,
    with_the_passkey,
    with_the_open_session,
    by_confirming_the_open_session,
    by_adding_a_passkey_in_the_open_session,
    by_setting_a_password_in_the_open_session,
    by_inviting_again,
]


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.__name__)
def test_nothing_planted_reaches_the_organization(told: tuple[World, Planted, Visitor], attempt: Attempt) -> None:
    here, planted, person = told
    assert not attempt(here, planted)
    assert "BigCo" in person.get("home").text, "and the real person is still there"


# ---- what Mallory may try before the real person comes ---------------------------------------------------------------


@pytest.fixture(scope="module")
def squatted(world: World) -> Planted:
    """An account that stays in Mallory's team."""
    return plant(world, removed=False)


def test_an_account_with_a_membership_is_not_claimed(world: World, squatted: Planted) -> None:
    answer = world.visitor().sign_up(world.bigco.invite(squatted.email), REAL)
    assert answer.status_code == 422
    assert "There is an account with this address" in answer.text
    assert "ask the operator" in answer.text


def test_nor_by_a_passkey(world: World, squatted: Planted) -> None:
    visitor, link = world.visitor(), world.bigco.invite(squatted.email)
    phone = Authenticator(origin=world.server.url.replace("127.0.0.1", "localhost"), rp_id="localhost")
    options = visitor.post(f"{link}/passkey/options", name="Real").text
    answer = visitor.post(f"{link}/passkey", name="Real", answer=phone.create(options))
    assert answer.status_code == 422


@pytest.mark.parametrize("path", ["/join", "/join/passkey", "/join/passkey/options"])
def test_an_invitation_is_not_joined_without_its_account(world: World, squatted: Planted, path: str) -> None:
    link = world.bigco.invite(squatted.email)
    answer = world.visitor().post(link + path, password=REAL, answer="{}")
    assert (answer.status_code, "sign-in" in answer.headers["location"] or answer.headers["location"] == link) == (
        303,
        True,
    )


@pytest.mark.parametrize("path", ["/join", "/join/passkey", "/join/passkey/options"])
def test_an_account_does_not_join_by_anothers_invitation(world: World, squatted: Planted, path: str) -> None:
    link = world.bigco.invite(world.new_address())
    assert squatted.session.post(link + path, password=MALLORYS, answer="{}").status_code == 403


def test_an_account_with_its_credentials_does_not_join(world: World, squatted: Planted) -> None:
    """Even with the link and the session, what was there before is gone after the join."""
    link = world.bigco.invite(squatted.email)
    assert squatted.session.post(f"{link}/join").status_code == 422
    assert "BigCo" not in squatted.session.get("/studio/organizations").text


# ---- the same attack on what we had before ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def before(settings_env: dict[str, str]) -> Generator[World]:
    """The server and the command line with the mend taken out."""
    command, port = [sys.executable, "-m", "tests.attacks.mutants.unproven_accounts"], free_port()
    env = {**settings_env, "GATEPASS_PUBLIC_URL": f"http://127.0.0.1:{port}", "GATEPASS_TRUSTED_PROXIES": "127.0.0.1"}
    process = subprocess.Popen(
        [*command, "serve", "--port", str(port)],
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    server = GatepassProcess(process, port)
    wait_until_ready(server)
    yield make_world(server, command, env)
    server.stop()


@pytest.mark.parametrize("attempt", [with_the_password_and_the_app, with_the_passkey], ids=lambda one: one.__name__)
def test_without_the_mend_the_attack_succeeds(before: World, attempt: Attempt) -> None:
    planted = plant(before, removed=False)
    person = before.visitor()
    assert person.post(link_in(before.operator("person", "link", planted.email))).status_code == 303
    assert person.post(before.bigco.invite(planted.email, "owner") + "/join").status_code == 303
    assert before.mallory.remove(planted.email).status_code == 303
    assert attempt(before, planted)
