"""Passwords that somebody would guess are refused, random ones never, and the check has a bound."""

import random
import string
import time
from collections.abc import Iterator

import pytest
from zxcvbn.frequency_lists import FREQUENCY_LISTS

from gatepass.domain.staff.strength import breached, is_guessable
from tests.attacks.accounts.weak_passwords import ABOUT, COMMON, PERSONAL
from tests.size import sized


@pytest.mark.parametrize("password", [*COMMON, *PERSONAL])
def test_what_is_common_is_refused(password: str) -> None:
    assert is_guessable(password, ABOUT)


@pytest.mark.parametrize(
    "password", ["leavemealone", "Leave-Me-Alone!", "l3avem3alon3", "leavemealone2026", "Hd764nW5d7E1vb1"]
)
def test_what_was_breached_is_refused_however_it_is_written(password: str) -> None:
    assert is_guessable(password, ())


@pytest.mark.parametrize("suffix", ["1", "12", "2026", "!", "123!", "2026!!"])
@pytest.mark.parametrize("stem", ["ada@example.com", "Ada Lovelace", "adalovelace", "HarbourNights", "Gatepass"])
def test_what_others_know_is_refused_with_a_number_or_a_sign(stem: str, suffix: str) -> None:
    password = stem + suffix
    assert len(password) < 12 or is_guessable(password, ABOUT)


def random_passwords(count: int) -> Iterator[str]:
    """What password managers and dice make."""
    chosen = random.Random(1_843)
    words = [word for word in FREQUENCY_LISTS["english_wikipedia"] if len(word) > 3][:7_776]
    for number in range(count):
        match number % 5:
            case 0:
                yield " ".join(chosen.choices(words, k=4))
            case 1:
                yield "-".join(chosen.choices(words, k=4)).capitalize() + str(chosen.randrange(100))
            case 2:
                yield "".join(chosen.choices(string.ascii_letters + string.digits, k=16))
            case 3:
                yield "".join(chosen.choices(string.ascii_letters + string.digits + string.punctuation, k=14))
            case _:
                yield "-".join("".join(chosen.choices(string.ascii_lowercase + string.digits, k=6)) for _ in range(3))


@pytest.mark.parametrize("count", [500, pytest.param(sized(short=2_000, full=10_000), marks=pytest.mark.processes)])
def test_no_random_password_is_refused(count: int) -> None:
    assert [password for password in random_passwords(count) if is_guessable(password, ABOUT)] == []


@pytest.mark.parametrize(
    "hostile",
    ["a" * 1024, "ab" * 512, "0123456789" * 100, "4@8({6<3!|170$+7%2" * 50, "aA1!" * 256, "p@$$w0rd" * 128,
     "20202020" * 128, "i1!l|" * 200, "\ufdfa" * 340, "b7!114b78787bb9{19878$9!917{9b9$"],
    ids=lambda text: ascii(text[:12]),
)  # fmt: skip
def test_no_text_takes_long(hostile: str) -> None:
    """CPU time of this thread: 70 ms at most here, where one without bounds took 1.7 s."""
    is_guessable("load the lists", ())
    began = time.thread_time()
    is_guessable(hostile, ABOUT)
    assert time.thread_time() - began < 0.5


def test_the_list_is_long_enough_to_be_useful() -> None:
    """That it is the one on record is tested for every vendored file."""
    assert len(breached()) == 11_464
    assert min(map(len, breached())) == 12
