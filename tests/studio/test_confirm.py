"""Showing again who one is: it is asked for before secrets, it gives another cookie, and it lasts ten minutes."""

from datetime import timedelta

import pytest

from gatepass.domain import staff
from gatepass.studio import cookies
from gatepass.studio.reception import Reception
from tests import make
from tests.studio.desk import Desk, browser, sit_down
from tests.studio.people import GOOD, Known, somebody, with_passkey

BACK = "/studio/live/team/invite"


async def seated(studio: Reception, house: make.House, known: Known) -> Desk:
    """At a desk, in a session that was confirmed long ago."""
    async with house.db.transaction() as tx:
        token = await staff.begin(tx, known.person.id, at=make.now(), address=None, browser="tests", confirmed=False)
    client = browser(studio)
    client.cookies.set(cookies.SESSION, token, domain="studio.test")
    from gatepass.domain.staff import Role

    return Desk(house, known.person, Role.OWNER, client)


async def invites(desk: Desk) -> bool:
    answer = await desk.client.post("/studio/live/team/invite", data={"email": "a@example.org", "role": "viewer"})
    if answer.status_code == 303:
        assert answer.headers["location"].startswith("/studio/confirm?next=")
    return answer.status_code == 200


async def test_a_password_confirms_and_changes_the_cookie(studio: Reception, house: make.House) -> None:
    async with await seated(studio, house, await somebody(house)) as desk:
        assert not await invites(desk)
        before = desk.client.cookies[cookies.SESSION]
        await desk.send("/studio/confirm", status=422, password="a wrong password")
        answer = await desk.send("/studio/confirm", password=GOOD, next=BACK)
        assert answer.headers["location"] == BACK
        assert desk.client.cookies[cookies.SESSION] != before
        assert await invites(desk)
        async with house.db.reading() as tx:
            assert await staff.find(tx, before, at=make.now()) is None
            session = await staff.find(tx, desk.client.cookies[cookies.SESSION], at=make.now())
        assert session is not None
        assert not session.is_confirmed(make.now() + timedelta(minutes=10))


async def test_with_codes_on_a_code_is_wanted_too(studio: Reception, house: make.House) -> None:
    grace = await somebody(house, codes=True)
    async with await seated(studio, house, grace) as desk:
        assert 'name="code"' in await desk.see("/studio/confirm")
        await desk.send("/studio/confirm", status=422, password=GOOD)
        await desk.send("/studio/confirm", status=422, password=GOOD, code="000000")
        assert not await invites(desk)
        await desk.send("/studio/confirm", password=GOOD, code=grace.code())
        assert await invites(desk)


async def test_a_recovery_code_will_do(studio: Reception, house: make.House) -> None:
    grace = await somebody(house, codes=True)
    async with await seated(studio, house, grace) as desk:
        await desk.send("/studio/confirm", password=GOOD, code=grace.recovery[3])
        assert await invites(desk)


async def test_a_passkey_confirms(studio: Reception, house: make.House) -> None:
    grace = await somebody(house)
    device = await with_passkey(house, grace.person)
    async with await seated(studio, house, grace) as desk:
        options = await desk.send("/studio/confirm/passkey/options", status=200)
        answer = device.get(options.text)
        await desk.send("/studio/confirm/passkey", answer=answer, next=BACK)
        assert await invites(desk)
        await desk.send("/studio/confirm/passkey", status=422, answer=answer)


async def test_anothers_passkey_does_not(studio: Reception, house: make.House) -> None:
    device = await with_passkey(house, (await somebody(house)).person)
    async with await seated(studio, house, await somebody(house)) as desk:
        options = await desk.send("/studio/confirm/passkey/options", status=200)
        await desk.send("/studio/confirm/passkey", status=422, answer=device.get(options.text))
        assert not await invites(desk)


async def test_guessing_waits(studio: Reception, house: make.House) -> None:
    async with await seated(studio, house, await somebody(house)) as desk:
        statuses = [
            (await desk.client.post("/studio/confirm", data={"password": "wrong"})).status_code for _ in range(6)
        ]
        assert statuses == [422] * 5 + [429]


async def test_who_has_nothing_to_confirm_with_is_shown_the_way(studio: Reception, house: make.House) -> None:
    async with await sit_down(studio, house, confirmed=False) as desk:
        assert "neither a passkey nor a password" in await desk.see("/studio/confirm")
        await desk.send("/studio/confirm", status=422, password="")


@pytest.mark.parametrize("path", ["name", "password", "passkeys", "codes/begin", "sessions/end-others"])
async def test_the_account_is_for_those_who_are_signed_in(studio: Reception, path: str) -> None:
    async with browser(studio) as client:
        answer = await client.post(f"/studio/account/{path}")
    assert answer.headers["location"].startswith("/studio/sign-in?next=")
