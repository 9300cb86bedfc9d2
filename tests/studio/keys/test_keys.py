"""API keys in the studio: created, shown once, rolled, revoked."""

import re
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from gatepass.base.ids import new_id
from gatepass.domain import keys, request_log
from gatepass.domain.keys import Key, Mode, Scope
from gatepass.domain.staff import Role
from gatepass.studio.middleware import Middleware
from gatepass.studio.web import one_time_secret
from tests import factory
from tests.factory import Tenant
from tests.studio.browser_session import BrowserSession, sign_in
from tests.studio.routes import RAW, XSS

SECRET = re.compile(r"svc_(?:live|test)_[a-z][0-9A-Za-z]{36}")
GATE = ["cards:verify", "events:read", "tickets:activate"]
NEW: dict[str, Any] = {"name": "North gate", "scopes": GATE, "expiry": "90d", "networks": ""}


async def made(user: BrowserSession, **fields: Any) -> tuple[str, UUID]:
    """A key created in the studio: its text, and its id."""
    answer = await user.send("keys", **{**NEW, **fields})
    page = await user.follow(answer)
    secret = SECRET.search(page)
    assert secret is not None
    return secret[0], UUID(answer.headers["location"].split("/")[-2])


async def found(tenant: Tenant, key_id: UUID, mode: Mode = Mode.LIVE) -> Key:
    async with tenant.db.autocommit() as tx:
        return await keys.find_key(tx, tenant.id, mode, key_id)


async def test_a_key_is_made_and_shown_once(user: BrowserSession) -> None:
    secret, key_id = await made(user, networks="203.0.113.7\n2001:db8::/32")
    key = await found(user.tenant, key_id)
    assert (key.name, key.scopes, key.last_four) == ("North gate", GATE, secret[-4:])
    assert [str(one) for one in key.allowed_networks or ()] == ["203.0.113.7/32", "2001:db8::/32"]
    assert key.created_by == f"person {user.person.id}"
    assert key.expires_at is not None
    assert timedelta(days=89) < key.expires_at - factory.now() < timedelta(days=91)
    async with user.tenant.db.autocommit() as tx:
        assert (
            await keys.authenticate(tx, secret, next(iter(key.allowed_networks or ()))[0], at=factory.now())
        ).key_id == key_id
    again = await user.client.get(user.url(f"keys/{key_id}/made"))
    assert again.status_code == 303
    assert again.headers["location"].endswith(f"/keys/{key_id}")
    for page in (f"keys/{key_id}", "keys", "audit"):
        assert secret not in await user.see(page)


async def test_the_page_after_making_helps_to_use_it(user: BrowserSession) -> None:
    page = await user.follow(await user.send("keys", **NEW))
    secret = SECRET.search(page)
    assert secret is not None
    assert f"GATEPASS_API_KEY={secret[0]}" in page
    assert "curl -s https://studio.test/api/public/v1/events" in page
    user.mode = "sandbox"
    page = await user.follow(await user.send("keys", **NEW))
    assert "TEST_VALID" in page
    assert "svc_test_" in page


async def test_the_secret_on_its_way_is_sealed_and_of_one_session(studio: Middleware, user: BrowserSession) -> None:
    answer = await user.send("keys", **NEW)
    cookie = answer.headers["set-cookie"]
    assert not SECRET.search(cookie)
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    async with await sign_in(studio, user.tenant) as other:
        other.client.cookies.set(one_time_secret.COOKIE, user.client.cookies[one_time_secret.COOKIE])
        shown = await other.client.get(answer.headers["location"])
        assert shown.status_code == 303, "somebody else cannot open it"


async def test_presets_fill_in_the_form(user: BrowserSession) -> None:
    page = await user.see("keys/new?preset=reporting")
    assert re.findall(r'value="([a-z:]+)" checked', page) == ["events:read", "webhooks:read"]
    assert 'value="90d" selected' in page
    assert "GET /events/{id}" in page
    user.mode = "sandbox"
    assert 'value="never" selected' in await user.see("keys/new")


async def test_the_preview_says_what_the_key_may_do(user: BrowserSession) -> None:
    part = await user.see("keys/preview?scopes=tickets:activate&expiry=never&networks=10.0.0.0/8")
    assert "POST /scan" in part
    assert "10.0.0.0/8" in part
    assert "Until it is revoked" in part
    assert "/events" not in part
    assert "<html" not in part
    assert "admin implies" in await user.see("keys/preview?scopes=admin")
    assert "may do nothing yet" in await user.see("keys/preview?expiry=nonsense&networks=nonsense")


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
    user: BrowserSession, fields: dict[str, Any], complaint: str
) -> None:
    typed = {**NEW, "name": "Keep me", **fields}
    page = (await user.send("keys", status=422, **typed)).text
    assert complaint in page
    assert "name" in fields or "Keep me" in page


async def test_without_showing_who_one_is_no_key_is_made(studio: Middleware, tenant: Tenant) -> None:
    async with await sign_in(studio, tenant, confirmed=False) as user:
        for path in ("keys/new", f"keys/{(await tenant.key()).id}/roll"):
            answer = await user.client.get(user.url(path))
            assert answer.headers["location"].startswith(f"/studio/confirm?next={user.root()}keys/")
        answer = await user.send("keys", **NEW)
        assert answer.headers["location"].startswith("/studio/confirm?")


async def test_the_list_tells_keys_apart(user: BrowserSession) -> None:
    key = await user.tenant.key(Scope.EVENTS_READ)
    old = factory.now() - timedelta(days=100)
    async with user.tenant.db.transaction() as tx:
        idle = await keys.issue(tx, user.tenant.id, "Idle", Mode.LIVE, [Scope.ADMIN], cell="a", by="x", at=old)
        gone = await keys.issue(tx, user.tenant.id, "Gone", Mode.LIVE, [Scope.ADMIN], cell="a", by="x", at=old)
        await keys.revoke(tx, user.tenant.id, gone.id, by="x", at=factory.now())
    page = await user.see("keys")
    assert f"svc_live_…{key.text[-4:]}" in page
    assert str(gone.id) not in page
    assert str(idle.id) in await user.see("keys?show=unused")
    assert str(key.id) not in await user.see("keys?show=unused")
    assert str(gone.id) in await user.see("keys?show=ended")
    user.mode = "sandbox"
    assert "No key yet" in await user.see("keys")


async def test_the_list_is_read_page_by_page(user: BrowserSession) -> None:
    async with user.tenant.db.transaction() as tx:
        for n in range(60):
            await keys.issue(
                tx, user.tenant.id, f"Key {n:02}", Mode.LIVE, [Scope.ADMIN], cell="a", by="x", at=factory.now()
            )
    first = await user.see("keys?show=all")
    onward = re.search(r'href="(/studio/o/[^/]+/live/keys\?show=all&amp;after=[^"]+)"', first)
    assert onward is not None
    second = await user.see(onward[1].replace("&amp;", "&"))
    names = re.findall(r">(Key \d\d)<", first) + re.findall(r">(Key \d\d)<", second)
    assert names == [f"Key {n:02}" for n in range(59, -1, -1)]
    assert "Key 59" in await user.see("keys?show=all&after=nonsense"), "a list begins at its beginning"


async def test_a_key_is_rolled_and_both_work(user: BrowserSession) -> None:
    secret, key_id = await made(user)
    page = await user.see(f"keys/{key_id}/roll")
    assert 'value="24h" checked' in page
    answer = await user.send(f"keys/{key_id}/roll", overlap="1h", expiry="never")
    new = SECRET.search(await user.follow(answer))
    assert new is not None
    async with user.tenant.db.autocommit() as tx:
        for text in (secret, new[0]):
            await keys.authenticate(tx, text, None, at=factory.now())
    page = await user.see(f"keys/{key_id}")
    assert "rolled" in page
    assert "expiring" in page
    assert "overlap" in (await user.send(f"keys/{key_id}/roll", status=422, overlap="2y", expiry="never")).text


async def test_revoking_says_who_used_it_last(user: BrowserSession) -> None:
    key = await user.tenant.key()
    at = factory.now() - timedelta(minutes=5)
    from ipaddress import ip_address

    here = ip_address("203.0.113.9")
    async with user.tenant.db.transaction() as tx:
        await keys.mark_used(tx, {(user.tenant.id, key.id): (at, here)})
        call = request_log.CallRecord(
            user.tenant.id, at, new_id(), "live", key.id, "GET", "/events", 200, None, here, 900
        )
        await request_log.write(tx, [call])
    page = await user.see(f"keys/{key.id}/revoke")
    assert "5 minutes ago" in page
    assert page.count("203.0.113.9") == 2
    page = await user.follow(await user.send(f"keys/{key.id}/revoke"))
    assert "is revoked" in page
    async with user.tenant.db.autocommit() as tx:
        with pytest.raises(keys.DeadKey):
            await keys.authenticate(tx, key.text, None, at=factory.now())
    assert "has ended already" in await user.see(f"keys/{key.id}/revoke", status=409)
    assert "has ended already" in await user.see(f"keys/{key.id}/roll", status=409)


async def test_a_key_of_the_other_mode_is_not_here(user: BrowserSession) -> None:
    key = await user.tenant.key(mode=Mode.SANDBOX)
    await user.see(f"keys/{key.id}", status=404)
    await user.send(f"keys/{key.id}/revoke", status=404)
    await user.send(f"keys/{key.id}/name", status=404, name="x")
    assert (await found(user.tenant, key.id, Mode.SANDBOX)).revoked_at is None


async def test_a_key_is_renamed(user: BrowserSession) -> None:
    key = await user.tenant.key()
    page = await user.follow(await user.send(f"keys/{key.id}/name", name=XSS))
    assert RAW not in page
    assert "has a new name" in page
    page = (await user.send(f"keys/{key.id}/name", status=422, name="")).text
    assert "This is needed." in page


async def test_who_may_only_look_sees_no_button(studio: Middleware, tenant: Tenant) -> None:
    key = await tenant.key()
    async with await sign_in(studio, tenant, Role.VIEWER) as user:
        await user.see("keys", status=403)
    async with await sign_in(studio, tenant, Role.DEVELOPER) as user:
        assert "Revoke" in await user.see(f"keys/{key.id}")
