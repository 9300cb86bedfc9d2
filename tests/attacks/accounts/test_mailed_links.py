"""Finding 1 where there is mail, and what mail brings with it: squatting, enumeration, bombing, stolen and used links.

A real studio, a worker and an SMTP server. Mallory owns an organization; he reads no letters but his own.
"""

import statistics
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests import factory
from tests.attacks.accounts.mailbox import MailWorld, mail_world
from tests.attacks.accounts.test_account_takeover import MALLORYS, REAL, Planted, mints_a_key_of_bigco, plant
from tests.attacks.accounts.visitor import PASSWORD, Visitor, code_now, link_in
from tests.mail_server import wait_for
from tests.postgres import Cluster
from tests.size import NIGHT

pytestmark = pytest.mark.finding(1)

ASK = "/studio/sign-in/mail"
ADDRESS = "/studio/account/address"


@pytest.fixture(scope="module")
def here(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Generator[MailWorld]:
    url = cluster.create_migrated("gatepass_mailed_links")
    with mail_world(url, factory.KEY, tmp_path_factory.mktemp("mail")) as world:
        yield world


# ---- squatting -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[False, True], ids=["in Mallory's team", "removed from it"])
def squatted(request: pytest.FixtureRequest, here: MailWorld) -> tuple[MailWorld, Planted, Visitor]:
    """Mallory took the address before there was mail. Then BigCo invites its owner by mail, and they join."""
    planted = plant(here.before, removed=request.param)
    assert "on its way" in here.bigco.post("team/invite", email=planted.email, role="owner").text
    real = here.visitor()
    assert real.sign_up(here.link(planted.email), REAL, name="Real").status_code == 303
    assert "BigCo" in real.get("home").text
    return here, planted, real


Attempt = Callable[[MailWorld, Planted], bool]


def with_the_password(here: MailWorld, planted: Planted) -> bool:
    return here.visitor().sign_in(planted.email, MALLORYS)


def with_the_password_and_the_app(here: MailWorld, planted: Planted) -> bool:
    return here.visitor().sign_in_with_code(planted.email, MALLORYS, code_now(planted.seed))


def with_a_recovery_code(here: MailWorld, planted: Planted) -> bool:
    return here.visitor().sign_in_with_code(planted.email, MALLORYS, planted.recovery[0])


def with_the_passkey(here: MailWorld, planted: Planted) -> bool:
    """It still opens the account that Mallory made, which is not the one in BigCo."""
    visitor = here.before.visitor()
    return visitor.sign_in_with_passkey(planted.phone) and mints_a_key_of_bigco(visitor)


def with_the_open_session(here: MailWorld, planted: Planted) -> bool:
    return mints_a_key_of_bigco(planted.session)


def by_asking_for_the_address_again(here: MailWorld, planted: Planted) -> bool:
    """The link goes to the owner of the address, who is not signed in as Mallory's account."""
    planted.session.post(ADDRESS, email=planted.email)
    return mints_a_key_of_bigco(planted.session)


def by_an_invitation_of_his_own(here: MailWorld, planted: Planted) -> bool:
    page = here.mallory.post("team/invite", email=planted.email, role="viewer").text
    return "/studio/welcome/" in page


ATTEMPTS: list[Attempt] = [
    with_the_password,
    with_the_password_and_the_app,
    with_a_recovery_code,
    with_the_passkey,
    with_the_open_session,
    by_asking_for_the_address_again,
    by_an_invitation_of_his_own,
]


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.__name__)
def test_a_squatter_keeps_nobody_out_and_gets_nowhere(
    squatted: tuple[MailWorld, Planted, Visitor], attempt: Attempt
) -> None:
    here, planted, real = squatted
    assert not attempt(here, planted)
    assert "BigCo" in real.get("home").text, "and the real person is still there"


def test_with_mail_nobody_takes_an_address_that_is_not_theirs(here: MailWorld) -> None:
    email = here.new_address()
    page = here.mallory.post("team/invite", email=email, role="viewer").text
    assert "/studio/welcome/" not in page
    assert "/studio/welcome/" not in here.mallory.get("team/invitations").text
    link = here.link(email)
    assert here.visitor().get(link).status_code == 200, "a mail scanner opens it"
    real = here.visitor()
    assert real.sign_up(link, REAL).status_code == 303
    assert "Proven" in real.get("/studio/account").text


def test_a_link_from_before_makes_no_account_now(here: MailWorld) -> None:
    """Mallory made an invitation and kept its link until there was mail."""
    email = here.new_address()
    link = here.before.mallory.invite(email)
    mallory = here.visitor()
    assert mallory.sign_up(link, MALLORYS).headers["location"] == link
    assert not mallory.sign_in(email, MALLORYS)
    assert "on its way" in mallory.post(f"{link}/mail").text
    assert mallory.get(link).status_code == 404
    assert here.visitor().sign_up(here.link(email), REAL).status_code == 303


# ---- enumeration -----------------------------------------------------------------------------------------------------


def member(here: MailWorld) -> tuple[Visitor, str]:
    """Somebody with a proven account in BigCo, and their address."""
    email = here.new_address()
    here.bigco.post("team/invite", email=email, role="viewer")
    person = here.visitor()
    assert person.sign_up(here.link(email), PASSWORD).status_code == 303
    return person, email


def test_words_and_time_say_nothing(here: MailWorld) -> None:
    """Also the time of the next request on the same connection: what happens after the answer must not show there."""
    known = [member(here)[1] for _ in range(8)]
    times: dict[bool, list[float]] = {True: [], False: []}
    pages: set[str] = set()
    for email in known:
        for asked, exists in ((email, True), (here.new_address(), False)):
            visitor = here.visitor()
            began = time.perf_counter()
            answer = visitor.post(ASK, email=asked)
            visitor.get("/studio/sign-in")
            times[exists].append(time.perf_counter() - began)
            pages.add(answer.text.replace(asked, "").replace(answer.headers["x-request-id"], ""))
            assert answer.status_code == 200
    assert len(pages) == 1
    medians = statistics.median(times[True]), statistics.median(times[False])
    if NIGHT:
        assert max(medians) - min(medians) < 0.02, medians


# ---- bombing ---------------------------------------------------------------------------------------------------------


def test_nobody_fills_a_mailbox(here: MailWorld) -> None:
    """Forty requests at once, from forty networks, in several spellings."""
    _, email = member(here)
    already = len(here.letters(email))

    def ask(n: int) -> int:
        return here.visitor().post(ASK, email=email if n % 2 else email.upper()).status_code

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(40)))
    assert (answers.count(200), answers.count(429)) == (3, 37)
    wait_for(lambda: len(here.letters(email)) == already + 3)


def test_nobody_mails_strangers_from_one_network(here: MailWorld) -> None:
    bot = here.visitor()
    answers = [bot.post(ASK, email=here.new_address()).status_code for _ in range(25)]
    assert (answers.count(200), answers.count(429)) == (20, 5)


def test_a_person_proves_few_addresses_a_day(here: MailWorld) -> None:
    person, _ = member(here)
    answers = [person.post(ADDRESS, email=here.new_address()).status_code for _ in range(15)]
    assert (answers.count(200), answers.count(422)) == (10, 5)


# ---- links that were used, stolen or raced ---------------------------------------------------------------------------


def test_of_twenty_who_press_the_button_at_once_one_is_signed_in(here: MailWorld) -> None:
    _, email = member(here)
    here.visitor().post(ASK, email=email)
    link = here.link(email, nth=2)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: here.visitor().post(link).status_code, range(20)))
    assert (answers.count(303), answers.count(404)) == (1, 19)


def test_of_ten_who_accept_an_invitation_at_once_one_does(here: MailWorld) -> None:
    email = here.new_address()
    here.bigco.post("team/invite", email=email, role="viewer")
    link = here.link(email)
    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(lambda _: here.visitor().sign_up(link, PASSWORD).status_code, range(10)))
    assert answers.count(303) == 1
    assert all(status in (303, 404, 422) for status in answers)


def test_a_stolen_proof_gives_nobody_an_account(here: MailWorld) -> None:
    """Mallory reads the letter that Ada sent to an address by mistake: his. He can only sign in as himself."""
    ada, email = member(here)
    mistyped = here.new_address()
    ada.post(ADDRESS, email=mistyped)
    link = here.link(mistyped)
    for thief in (here.mallory, here.visitor()):
        for path in (link, f"{link}/passkey", f"{link}/passkey/options"):
            assert thief.post(path, password=MALLORYS).status_code in (303, 404)
    assert email in ada.get("/studio/account").text
    assert ada.post(link).status_code == 303, "it is still Ada's to use"
    assert ada.post(link).status_code == 404, "once"
    assert mistyped in ada.get("/studio/account").text
    assert wait_for(lambda: here.letters(email, "Your address on Gatepass was changed")), "the old address is told"


def test_two_who_prove_one_address_at_once(here: MailWorld) -> None:
    (ada, _), (bob, _) = member(here), member(here)
    wanted = here.new_address()
    ada.post(ADDRESS, email=wanted)
    first = here.link(wanted)
    bob.post(ADDRESS, email=wanted)
    second = here.link(wanted, nth=2)
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda one: one[0].post(one[1]).status_code, ((ada, first), (bob, second))))
    assert sorted(answers) == [303, 422]


def test_a_link_is_worth_no_more_than_the_password(here: MailWorld) -> None:
    """Who reads somebody's letters, and has not their phone, is asked for a code."""
    person, email = member(here)
    person.turn_codes_on()
    thief = here.visitor()
    thief.post(ASK, email=email)
    page = thief.post(here.link(email, nth=2))
    assert page.status_code == 200
    assert "One-time code" in page.text
    assert thief.get("home").status_code == 303


def test_the_operators_link_works_as_before(here: MailWorld) -> None:
    _, email = member(here)
    visitor = here.visitor()
    assert visitor.post(link_in(here.before.operator("person", "link", email))).status_code == 303


def test_a_new_passkey_is_told_by_mail(here: MailWorld) -> None:
    person, email = member(here)
    person.add_passkey()
    (letter,) = wait_for(lambda: here.letters(email, "A change of how you sign in"))
    assert "A passkey was added" in letter
