"""The page of access: a required second factor, and networks."""

import pytest

from gatepass.domain.staff import Role
from gatepass.studio.middleware import Middleware
from tests import factory
from tests.postgres import free_port
from tests.studio.browser_session import BrowserSession, sign_in


async def test_the_page_shows_what_is_set(user: BrowserSession) -> None:
    page = await user.see("settings/access")
    assert "Not required" in page
    assert "127.0.0.1" in page
    page = await user.follow(await user.send("settings/access/second-factor", required="true"))
    assert "everybody needs a second factor" in page
    page = await user.follow(await user.send("settings/access/networks", networks="127.0.0.0/8, 2001:db8::/32"))
    assert "127.0.0.0/8\n2001:db8::/32" in page
    page = await user.see("settings")
    assert "127.0.0.0/8, 2001:db8::/32" in page
    page = await user.see("audit")
    assert "organization second factor required" in page
    assert "organization studio networks chosen" in page
    page = await user.follow(await user.send("settings/access/second-factor", required="false"))
    assert "A password is enough again." in page


async def test_what_was_typed_is_shown_again_with_the_error(user: BrowserSession) -> None:
    answer = await user.send("settings/access/networks", status=422, networks="198.51.100.0/24")
    assert "Your own address, 127.0.0.1, is not in this list" in answer.text
    assert "198.51.100.0/24" in answer.text
    answer = await user.send("settings/access/networks", status=422, networks="198.51.100.7/24")
    assert "Did you mean 198.51.100.0/24?" in answer.text


async def test_saving_the_same_again_changes_nothing(user: BrowserSession) -> None:
    for _ in range(3):
        await user.send("settings/access/networks", networks="127.0.0.1")
    async with user.tenant.db.autocommit() as tx:
        count = await tx.value(
            "SELECT count(*) FROM audit_log WHERE organization_id = $1 AND action = 'studio_networks_chosen'",
            user.tenant.id,
        )
    assert count == 1


async def test_an_admin_sees_the_settings_and_no_button(studio: Middleware, tenant: factory.Tenant) -> None:
    async with await sign_in(studio, tenant, Role.ADMIN) as admin:
        assert "settings/access" not in await admin.see("settings")
        await admin.see("settings/access", status=403)


async def test_who_has_no_second_factor_is_led_to_one(studio: Middleware, tenant: factory.Tenant) -> None:
    async with await sign_in(studio, tenant) as owner:
        await owner.send("settings/access/second-factor", required="true")
    async with await sign_in(studio, tenant, second_factor=False) as user:
        answer = await user.client.get(f"{user.root()}keys?q=1")
        assert answer.headers["location"] == f"/studio/second-factor?next={user.root()}keys%3Fq%3D1"
        page = await user.see(answer.headers["location"])
        assert "Add one to your account" in page


async def test_a_refusal_stays_one_while_the_database_is_away(
    user: BrowserSession, studio: Middleware, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = factory.database(f"postgresql://postgres@127.0.0.1:{free_port()}/nowhere", deadline=1)
    monkeypatch.setattr(studio.studio, "db", away)
    answer = await user.client.post(user.url("keys"), headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403
