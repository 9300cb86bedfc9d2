"""Finding 10: a long password that is common, breached, or known from its owner is not taken, wherever one is set."""

import pytest

from bench import cpu
from tests.attacks.accounts.visitor import PASSWORD, Visitor, World, link_in
from tests.attacks.accounts.weak_passwords import COMMON, PERSONAL

pytestmark = pytest.mark.finding(10)

HELP = "Take three or four words"


@pytest.fixture(scope="module")
def invitation(world: World) -> str:
    """The link of an organization called Harbour Nights, for Ada."""
    return link_in(world.operator("organization", "create", "Harbour Nights", "--owner", "ada@example.com"))


@pytest.fixture(scope="module")
def member(world: World) -> Visitor:
    visitor = world.visitor()
    assert visitor.sign_up(world.bigco.invite("ada2@example.com"), PASSWORD, name="Ada Lovelace").status_code == 303
    return visitor


@pytest.mark.parametrize("password", [*COMMON, *PERSONAL])
def test_nobody_signs_up_with_it(world: World, invitation: str, password: str) -> None:
    answer = world.visitor().sign_up(invitation, password, name="Ada Lovelace")
    assert (answer.status_code, HELP in answer.text) == (422, True)


@pytest.mark.parametrize("password", ["password1234", "Ada Lovelace 1815", "bigco2026!!!", "ada2@example.com1"])
def test_nobody_changes_theirs_to_it(member: Visitor, password: str) -> None:
    answer = member.post("/studio/account/password", password=password)
    assert (answer.status_code, HELP in answer.text) == (422, True)


@pytest.mark.parametrize("password", ["4@8({6<3!|170$+7%2" * 50, "0123456789" * 100, "\ufdfa" * 340])
def test_none_takes_long_to_check(world: World, member: Visitor, password: str) -> None:
    before = cpu.exact_seconds(world.server.process.pid)
    answer = member.post("/studio/account/password", password=password)
    assert answer.status_code in (303, 422)
    assert cpu.exact_seconds(world.server.process.pid) - before < 3


def test_a_good_one_is_taken(member: Visitor) -> None:
    assert member.post("/studio/account/password", password="seven orange trumpets fly").status_code == 303
