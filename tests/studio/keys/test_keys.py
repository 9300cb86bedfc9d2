"""API keys in the studio: made, shown once, rolled, revoked."""

import re
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from gatepass.base.ids import new_id
from gatepass.domain import audit, keys
from gatepass.domain.keys import Key, Mode, Scope
from gatepass.domain.staff import Role
from gatepass.studio import showing_once
from gatepass.studio.reception import Reception
from tests import make
from tests.make import House
from tests.studio.desk import Desk, sit_down
from tests.studio.walk import RAW, XSS

SECRET = re.compile(r"svc_(?:live|test)_[a-z][0-9A-Za-z]{36}")
GATE = ["cards:verify", "events:read", "tickets:activate"]
NEW: dict[str, Any] = {"name": "North gate", "scopes": GATE, "expiry": "90d", "networks": ""}


async def made(desk: Desk, **fields: Any) -> tuple[str, UUID]:
    """A key made in the studio: what was shown, and its id."""
    answer = await desk.send("keys", **{**NEW, **fields})
    page = await desk.follow(answer)
    secret = SECRET.search(page)
    assert secret is not None
    return secret[0], UUID(answer.headers["location"].split("/")[-2])


async def found(house: House, key_id: UUID, mode: Mode = Mode.LIVE) -> Key:
    async with house.db.reading() as tx:
        return await keys.find_key(tx, house.id, mode, key_id)


async def test_a_key_is_made_and_shown_once(desk: Desk) -> None:
    secret, key_id = await made(desk, networks="203.0.113.7\n2001:db8::/32")
    key = await found(desk.house, key_id)
    assert (key.name, key.scopes, key.last_four) == ("North gate", GATE, secret[-4:])
    assert [str(one) for one in key.allowed_networks or ()] == ["203.0.113.7/32", "2001:db8::/32"]
    assert key.created_by == f"person {desk.person.id}"
    assert key.expires_at is not None
    assert timedelta(days=89) < key.expires_at - make.now() < timedelta(days=91)
    async with desk.house.db.reading() as tx:
        assert (
            await keys.authenticate(tx, secret, next(iter(key.allowed_networks or ()))[0], at=make.now())
        ).key_id == key_id
    again = await desk.client.get(desk.url(f"keys/{key_id}/made"))
    assert again.status_code == 303
    assert again.headers["location"].endswith(f"/keys/{key_id}")
    for page in (f"keys/{key_id}", "keys", "audit"):
        assert secret not in await desk.see(page)


async def test_the_page_after_making_helps_to_use_it(desk: Desk) -> None:
    page = await desk.follow(await desk.send("keys", **NEW))
    secret = SECRET.search(page)
    assert secret is not None
    assert f"GATEPASS_API_KEY={secret[0]}" in page
    assert "curl -s https://studio.test/api/public/v1/events" in page
    desk.mode = "sandbox"
    page = await desk.follow(await desk.send("keys", **NEW))
    assert "TEST_VALID" in page
    assert "svc_test_" in page


async def test_the_secret_on_its_way_is_sealed_and_of_one_session(studio: Reception, desk: Desk) -> None:
    answer = await desk.send("keys", **NEW)
    cookie = answer.headers["set-cookie"]
    assert not SECRET.search(cookie)
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    async with await sit_down(studio, desk.house) as other:
        other.client.cookies.set(showing_once.COOKIE, desk.client.cookies[showing_once.COOKIE])
        shown = await other.client.get(answer.headers["location"])
        assert shown.status_code == 303, "somebody else cannot open it"


async def test_presets_fill_in_the_form(desk: Desk) -> None:
    page = await desk.see("keys/new?preset=reporting")
    assert re.findall(r'value="([a-z:]+)" checked', page) == ["events:read", "webhooks:read"]
    assert 'value="90d" selected' in page
    assert "GET /events/{id}" in page
    desk.mode = "sandbox"
    assert 'value="never" selected' in await desk.see("keys/new")


async def test_the_preview_says_what_the_key_may_do(desk: Desk) -> None:
    part = await desk.see("keys/preview?scopes=tickets:activate&expiry=never&networks=10.0.0.0/8")
    assert "POST /scan" in part
    assert "10.0.0.0/8" in part
    assert "Until it is revoked" in part
    assert "/events" not in part
    assert "<html" not in part
    assert "admin implies" in await desk.see("keys/preview?scopes=admin")
    assert "may do nothing yet" in await desk.see("keys/preview?expiry=nonsense&networks=nonsense")


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"name": " "}, "This is needed."),
        ({"name": "x" * 101}, "longer than 100"),
        ({"scopes": []}, "Choose at least one scope"),
        ({"scopes": ["nonsense"]}, "Choose one of these."),
        ({"expiry": "1d"}, "Choose one of these."),
        ({"networks": "10.0.0.5/8"}, "Did you mean 10.0.0.0/8?"),
        ({"networks": "here"}, "here is no IP address"),
        ({"networks": "fe80::1%eth0"}, "is no IP address"),
        ({"networks": "10.0.0.1 " * 51}, "At most 50"),
        ({"name": "a\x00b"}, "cannot be stored"),
    ],
    ids=str,
)
async def test_a_bad_form_is_shown_again_with_what_was_typed(
    desk: Desk, fields: dict[str, Any], complaint: str
) -> None:
    typed = {**NEW, "name": "Keep me", **fields}
    page = (await desk.send("keys", status=422, **typed)).text
    assert complaint in page
    assert "name" in fields or "Keep me" in page


async def test_without_showing_who_one_is_no_key_is_made(studio: Reception, house: House) -> None:
    async with await sit_down(studio, house, confirmed=False) as desk:
        for path in ("keys/new", f"keys/{(await house.key()).id}/roll"):
            answer = await desk.client.get(desk.url(path))
            assert answer.headers["location"].startswith("/studio/confirm?next=/studio/live/keys/")
        answer = await desk.send("keys", **NEW)
        assert answer.headers["location"].startswith("/studio/confirm?")


async def test_the_list_tells_keys_apart(desk: Desk) -> None:
    key = await desk.house.key(Scope.EVENTS_READ)
    old = make.now() - timedelta(days=100)
    async with desk.house.db.transaction() as tx:
        idle = await keys.issue(tx, desk.house.id, "Idle", Mode.LIVE, [Scope.ADMIN], cell="a", by="x", at=old)
        gone = await keys.issue(tx, desk.house.id, "Gone", Mode.LIVE, [Scope.ADMIN], cell="a", by="x", at=old)
        await keys.revoke(tx, desk.house.id, gone.id, by="x", at=make.now())
    page = await desk.see("keys")
    assert f"svc_live_…{key.text[-4:]}" in page
    assert str(gone.id) not in page
    assert str(idle.id) in await desk.see("keys?show=unused")
    assert str(key.id) not in await desk.see("keys?show=unused")
    assert str(gone.id) in await desk.see("keys?show=ended")
    desk.mode = "sandbox"
    assert "No key yet" in await desk.see("keys")


async def test_the_list_is_read_page_by_page(desk: Desk) -> None:
    async with desk.house.db.transaction() as tx:
        for n in range(60):
            await keys.issue(
                tx, desk.house.id, f"Key {n:02}", Mode.LIVE, [Scope.ADMIN], cell="a", by="x", at=make.now()
            )
    first = await desk.see("keys?show=all")
    onward = re.search(r'href="(/studio/live/keys\?show=all&amp;after=[^"]+)"', first)
    assert onward is not None
    second = await desk.see(onward[1].replace("&amp;", "&"))
    names = re.findall(r">(Key \d\d)<", first) + re.findall(r">(Key \d\d)<", second)
    assert names == [f"Key {n:02}" for n in range(59, -1, -1)]
    assert "Key 59" in await desk.see("keys?show=all&after=nonsense"), "a list begins at its beginning"


async def test_a_key_is_rolled_and_both_work(desk: Desk) -> None:
    secret, key_id = await made(desk)
    page = await desk.see(f"keys/{key_id}/roll")
    assert 'value="24h" checked' in page
    answer = await desk.send(f"keys/{key_id}/roll", overlap="1h", expiry="never")
    new = SECRET.search(await desk.follow(answer))
    assert new is not None
    async with desk.house.db.reading() as tx:
        for text in (secret, new[0]):
            await keys.authenticate(tx, text, None, at=make.now())
    page = await desk.see(f"keys/{key_id}")
    assert "rolled" in page
    assert "expiring" in page
    assert "overlap" in (await desk.send(f"keys/{key_id}/roll", status=422, overlap="2y", expiry="never")).text


async def test_revoking_says_who_used_it_last(desk: Desk) -> None:
    key = await desk.house.key()
    at = make.now() - timedelta(minutes=5)
    from ipaddress import ip_address

    here = ip_address("203.0.113.9")
    async with desk.house.db.transaction() as tx:
        await keys.mark_used(tx, {(desk.house.id, key.id): (at, here)})
        call = audit.Call(desk.house.id, at, new_id(), "live", key.id, "GET", "/events", 200, None, here, 900)
        await audit.write(tx, [call])
    page = await desk.see(f"keys/{key.id}/revoke")
    assert "5 minutes ago" in page
    assert page.count("203.0.113.9") == 2
    page = await desk.follow(await desk.send(f"keys/{key.id}/revoke"))
    assert "is revoked" in page
    async with desk.house.db.reading() as tx:
        with pytest.raises(keys.DeadKey):
            await keys.authenticate(tx, key.text, None, at=make.now())
    assert "has ended already" in await desk.see(f"keys/{key.id}/revoke", status=409)
    assert "has ended already" in await desk.see(f"keys/{key.id}/roll", status=409)


async def test_a_key_of_the_other_mode_is_not_here(desk: Desk) -> None:
    key = await desk.house.key(mode=Mode.SANDBOX)
    await desk.see(f"keys/{key.id}", status=404)
    await desk.send(f"keys/{key.id}/revoke", status=404)
    await desk.send(f"keys/{key.id}/name", status=404, name="x")
    assert (await found(desk.house, key.id, Mode.SANDBOX)).revoked_at is None


async def test_a_key_is_renamed(desk: Desk) -> None:
    key = await desk.house.key()
    page = await desk.follow(await desk.send(f"keys/{key.id}/name", name=XSS))
    assert RAW not in page
    assert "has a new name" in page
    page = (await desk.send(f"keys/{key.id}/name", status=422, name="")).text
    assert "This is needed." in page


async def test_who_may_only_look_sees_no_button(studio: Reception, house: House) -> None:
    key = await house.key()
    async with await sit_down(studio, house, Role.VIEWER) as desk:
        await desk.see("keys", status=403)
    async with await sit_down(studio, house, Role.DEVELOPER) as desk:
        assert "Revoke" in await desk.see(f"keys/{key.id}")
