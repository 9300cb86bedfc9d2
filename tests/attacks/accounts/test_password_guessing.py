"""Finding 9: no spelling of an address buys free tries, and none reaches an account that the throttle misses."""

import pytest

from tests.attacks.accounts.visitor import PASSWORD, World
from tests.domain.staff.test_person import LOOKALIKES

pytestmark = pytest.mark.finding(9)

FREE = 5
CASES = {
    "upper": str.upper,
    "title": str.title,
    "swapped": str.swapcase,
    "blanks around": lambda email: f"  {email}\t",
    "no-break space": lambda email: f"\u00a0{email}\u2003",
    "upper host": lambda email: email.replace("bigco", "BIGCO"),
}


@pytest.fixture(scope="module")
def account(world: World) -> str:
    """An address with every letter that somebody folds."""
    email = f"kiesel.{world.new_address()}"
    assert world.visitor().sign_up(world.bigco.invite(email), PASSWORD).status_code == 303
    return email


@pytest.mark.parametrize(("plain", "lookalike"), LOOKALIKES.values(), ids=LOOKALIKES.keys())
def test_a_lookalike_does_not_find_the_account(world: World, account: str, plain: str, lookalike: str) -> None:
    """With the right password: if it found the account, each lookalike would be free tries more."""
    assert not world.visitor().sign_in(account.replace(plain, lookalike, 1), PASSWORD)


def tried(world: World, spellings: list[str]) -> list[int]:
    """The answers to wrong passwords. A wait of a second may pass on a busy machine; the next is longer."""
    return [
        world.visitor().post("/studio/sign-in", email=spelling, password="wrong").status_code for spelling in spellings
    ]


@pytest.mark.parametrize("spell", CASES.values(), ids=CASES.keys())
def test_another_case_is_counted_as_the_same(world: World, spell) -> None:
    """Ten tries in turn: counted apart, none of them would have to wait."""
    email = f"kiesel.{world.new_address()}"
    codes = tried(world, [email, spell(email)] * FREE)
    assert codes[:FREE] == [422] * FREE
    assert 429 in codes


def test_many_spellings_are_no_more_tries(world: World) -> None:
    email = f"kiesel.{world.new_address()}"
    spellings = ["".join(c.upper() if bits >> at & 1 else c for at, c in enumerate("kiesel")) for bits in range(12)]
    codes = tried(world, [email.replace("kiesel", spelling) for spelling in spellings])
    assert codes[:FREE] == [422] * FREE
    assert 429 in codes


@pytest.mark.parametrize(("plain", "lookalike"), LOOKALIKES.values(), ids=LOOKALIKES.keys())
def test_nobody_is_invited_by_a_lookalike(world: World, account: str, plain: str, lookalike: str) -> None:
    """It would be a second account that reads like the first."""
    answer = world.mallory.post("team/invite", email=account.replace(plain, lookalike, 1), role="viewer")
    assert answer.status_code == 422
    assert "letters A to Z" in answer.text
