"""The account: name, password, passkeys, one-time codes and sessions."""

import json
from base64 import b32decode

import pytest

from gatepass.base.ids import new_id
from gatepass.domain import changes, staff
from gatepass.domain.staff import one_time_code, passkey
from gatepass.studio import cookies
from gatepass.studio.browsers import browser_name
from gatepass.studio.reception import Reception
from tests import make
from tests.authenticator import Authenticator
from tests.studio.desk import ORIGIN, Desk, browser, sit_down
from tests.studio.people import GOOD, somebody, typed, with_passkey
from tests.studio.test_confirm import seated

ACCOUNT = "/studio/account"


async def actions(desk: Desk) -> list[str]:
    async with desk.house.db.reading() as tx:
        return [change.action for change in await changes.of_subject(tx, desk.house.id, desk.person.id)]


async def test_a_new_name(desk: Desk) -> None:
    assert "Your name is changed." in await desk.follow(await desk.send(f"{ACCOUNT}/name", name="Ada <b>Lovelace"))
    page = await desk.see(ACCOUNT)
    assert "Ada &lt;b&gt;Lovelace" in page
    refused = await desk.send(f"{ACCOUNT}/name", status=422, name="x" * 201)
    assert "longer than 200 characters" in refused.text
    assert "renamed" in await actions(desk)


async def test_a_password_ends_every_other_session(studio: Reception, house: make.House, desk: Desk) -> None:
    async with house.db.transaction() as tx:
        other = await staff.begin(tx, desk.person.id, at=make.now(), address=None, browser="another")
    answer = await desk.send(f"{ACCOUNT}/password", password=GOOD)
    assert "Everywhere else you are signed out." in await desk.follow(answer)
    async with house.db.reading() as tx:
        assert await staff.find(tx, other, at=make.now()) is None
    async with browser(studio) as client:
        assert (await typed(client, desk.person.email)).status_code == 303
    assert {"password_set", "sessions_ended"} <= set(await actions(desk))


@pytest.mark.parametrize("weak", ["short", "gatepass2026", ""])
async def test_a_weak_password_is_refused_beside_its_field(desk: Desk, weak: str) -> None:
    answer = await desk.send(f"{ACCOUNT}/password", status=422, password=weak)
    assert 'id="e-password"' in answer.text


async def test_changing_what_one_signs_in_with_wants_a_confirmed_session(studio: Reception, house: make.House) -> None:
    async with await seated(studio, house, await somebody(house)) as desk:
        for path in ("password", "passkeys", "passkeys/options", f"passkeys/{new_id()}/remove", "codes/begin",
                     "codes", "codes/off", "recovery"):  # fmt: skip
            answer = await desk.send(f"{ACCOUNT}/{path}", password="another good password")
            assert answer.headers["location"].startswith("/studio/confirm?next="), path


async def test_the_first_password_of_somebody_who_came_by_link_needs_none(studio: Reception, house: make.House) -> None:
    async with await sit_down(studio, house, confirmed=False) as desk:
        assert "You came by a one-time link." in await desk.see(ACCOUNT)
        answer = await desk.send(f"{ACCOUNT}/password", password=GOOD)
        assert answer.headers["location"] == ACCOUNT
        answer = await desk.send(f"{ACCOUNT}/password", password="another good password")
        assert answer.headers["location"].startswith("/studio/confirm?next="), "the second one does"


async def test_passkeys_are_added_named_and_removed(desk: Desk) -> None:
    device = Authenticator(origin=ORIGIN, rp_id="studio.test")
    options = await desk.send(f"{ACCOUNT}/passkeys/options", status=200)
    assert json.loads(options.text)["user"]["name"] == desk.person.email
    await desk.send(f"{ACCOUNT}/passkeys", answer=device.create(options.text), name="Work <i>laptop")
    assert "Work &lt;i&gt;laptop" in await desk.see(ACCOUNT)
    async with desk.house.db.reading() as tx:
        (kept,) = await passkey.passkeys_of(tx, desk.person.id)
    refused = await desk.send(f"{ACCOUNT}/passkeys/{kept.id}/remove", status=409)
    assert "all that you can sign in with" in refused.text
    await desk.send(f"{ACCOUNT}/passkeys/{kept.id}/rename", name="Old")
    await desk.send(f"{ACCOUNT}/password", password=GOOD)
    await desk.send(f"{ACCOUNT}/passkeys/{kept.id}/remove")
    await desk.send(f"{ACCOUNT}/passkeys/{kept.id}/remove", status=404)
    assert {"passkey_added", "passkey_renamed", "passkey_removed"} <= set(await actions(desk))


async def test_a_passkey_that_answers_nothing_is_not_kept(desk: Desk) -> None:
    for answer in ("", "{}", Authenticator().create('{"challenge": "AAAA", "user": {"id": "AAAA"}}')):
        refused = await desk.send(f"{ACCOUNT}/passkeys", status=422, answer=answer)
        assert "The passkey could not be made." in refused.text


async def test_nobody_names_or_removes_anothers_passkey(studio: Reception, house: make.House, desk: Desk) -> None:
    grace = await somebody(house)
    await with_passkey(house, grace.person)
    async with house.db.reading() as tx:
        (kept,) = await passkey.passkeys_of(tx, grace.person.id)
    await desk.send(f"{ACCOUNT}/password", password=GOOD)
    await desk.send(f"{ACCOUNT}/passkeys/{kept.id}/rename", status=404, name="mine")
    await desk.send(f"{ACCOUNT}/passkeys/{kept.id}/remove", status=404)


async def test_codes_are_turned_on_renewed_and_off(desk: Desk) -> None:
    await desk.send(f"{ACCOUNT}/password", password=GOOD)
    assert (await desk.client.get(f"{ACCOUNT}/codes")).headers["location"] == ACCOUNT, "nothing was begun"
    page = await desk.follow(await desk.send(f"{ACCOUNT}/codes/begin"))
    assert "data:image/svg+xml;base64," in page
    seed = page.partition('<span class="mono">')[2].partition("<")[0]
    wrong = await desk.send(f"{ACCOUNT}/codes", status=422, code="000000")
    assert seed in wrong.text, "the same picture again"
    code = one_time_code.code_of(b32decode(seed), one_time_code.step_of(make.now()))
    shown = await desk.send(f"{ACCOUNT}/codes", status=200, code=code)
    assert "They are shown this once." in shown.text
    assert "10 recovery codes" in await desk.see(ACCOUNT)
    renewed = await desk.send(f"{ACCOUNT}/recovery", status=200)
    assert renewed.text.partition("<pre")[2].partition("</pre")[0] not in shown.text
    await desk.send(f"{ACCOUNT}/codes/begin", status=409)
    await desk.send(f"{ACCOUNT}/codes/off")
    assert "One-time codes are off." in await desk.see(ACCOUNT)
    assert {"one_time_codes_on", "recovery_codes_made", "one_time_codes_off"} <= set(await actions(desk))


async def test_sessions_are_listed_and_ended(desk: Desk) -> None:
    agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1 Version/19.0 Safari/604.1"
    async with desk.house.db.transaction() as tx:
        tokens = [await staff.begin(tx, desk.person.id, at=make.now(), address=None, browser=agent) for _ in range(3)]
        other = await staff.find(tx, tokens[0], at=make.now())
    assert other is not None
    page = await desk.see(ACCOUNT)
    assert page.count("Safari on iPhone") == 3
    await desk.send(f"{ACCOUNT}/sessions/{other.id}/end")
    await desk.send(f"{ACCOUNT}/sessions/{other.id}/end", status=404)
    assert (await desk.see(ACCOUNT)).count("Safari on iPhone") == 2
    await desk.send(f"{ACCOUNT}/sessions/end-others")
    assert "Safari on iPhone" not in await desk.see(ACCOUNT)
    assert cookies.SESSION in desk.client.cookies


async def test_nobody_ends_anothers_session(studio: Reception, house: make.House, desk: Desk) -> None:
    async with await sit_down(studio, house) as bob:
        async with house.db.reading() as tx:
            session = await staff.find(tx, bob.client.cookies[cookies.SESSION], at=make.now())
        assert session is not None
        await desk.send(f"{ACCOUNT}/sessions/{session.id}/end", status=404)
        await bob.see("home")


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Windows"),
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36", "Chrome on Linux"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 15_0) AppleWebKit/537.36 Chrome/140 Edg/140.0", "Edge on Mac"),
        ("", "Unknown browser"),
        (None, "Unknown browser"),
    ],
)
def test_a_browser_in_words(agent: str | None, name: str) -> None:
    assert browser_name(agent) == name
