"""Arriving: links that work once, sessions that end, organizations to choose from."""

from datetime import timedelta

import httpx2

from gatepass.domain import staff
from gatepass.domain.staff import Role
from gatepass.studio import cookies
from gatepass.studio.reception import Reception
from tests import make
from tests.studio.desk import Desk, browser


async def test_who_is_not_signed_in_goes_to_sign_in_and_back(stranger: httpx2.AsyncClient) -> None:
    answer = await stranger.get("/studio/live/home")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/studio/sign-in?next=/studio/live/home"


async def test_a_link_signs_in_once(studio: Reception, desk: Desk, stranger: httpx2.AsyncClient) -> None:
    async with desk.house.db.transaction() as tx:
        token = await staff.make_link(tx, desk.person.id, at=make.now())
    assert (await stranger.get(f"/studio/link/{token}")).status_code == 200, "looking does not use it up"
    answer = await stranger.post(f"/studio/link/{token}")
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(cookies.SESSION + "=")
    assert "Secure" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert (await stranger.get("/studio/live/home")).status_code == 200
    async with browser(studio) as other:
        assert (await other.post(f"/studio/link/{token}")).status_code == 404


async def test_a_link_is_too_old_after_a_quarter_of_an_hour(desk: Desk, stranger: httpx2.AsyncClient) -> None:
    async with desk.house.db.transaction() as tx:
        token = await staff.make_link(tx, desk.person.id, at=make.now() - timedelta(minutes=16))
    assert (await stranger.post(f"/studio/link/{token}")).status_code == 404


async def test_a_session_ends_when_it_is_idle_old_or_ended(desk: Desk) -> None:
    token = desk.client.cookies[cookies.SESSION]
    async with desk.house.db.transaction() as tx:
        session = await staff.find(tx, token, at=make.now())
        assert session is not None
        assert await staff.find(tx, token, at=make.now() + timedelta(hours=25)) is None
        assert await staff.find(tx, token, at=make.now() + timedelta(days=15)) is None
        await staff.end(tx, session.id, at=make.now())
        assert await staff.find(tx, token, at=make.now()) is None


async def test_one_goes_to_another_organization_only_if_one_works_there(studio: Reception, desk: Desk) -> None:
    other = await make.house(desk.house.db)
    page = "/studio/organizations"
    answer = await desk.client.post(page, data={"organization_id": str(other.id)})
    assert answer.status_code == 404
    async with desk.house.db.transaction() as tx:
        await staff.join(tx, other.id, desk.person.id, Role.VIEWER, by=make.BY, at=make.now())
    answer = await desk.client.post(page, data={"organization_id": str(other.id)})
    assert answer.status_code == 303
    async with desk.house.db.reading() as tx:
        session = await staff.find(tx, desk.client.cookies[cookies.SESSION], at=make.now())
    assert session is not None
    assert (session.organization_id, session.role) == (other.id, Role.VIEWER)


async def test_who_belongs_nowhere_is_told_so(studio: Reception, desk: Desk) -> None:
    async with desk.house.db.transaction() as tx:
        person = await staff.enrol(tx, f"alone-{desk.person.id}@example.org", "Alone", at=make.now())
        token = await staff.begin(tx, person.id, at=make.now(), address=None, browser="")
    async with browser(studio) as client:
        client.cookies.set(cookies.SESSION, token)
        assert (await client.get("/studio/live/home")).headers["location"] == "/studio/organizations"
        assert "belong to no organization" in (await client.get("/studio/organizations")).text
