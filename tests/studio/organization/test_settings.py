"""Settings in the studio: the organization, its signing keys, and erasing holders."""

import re
from base64 import urlsafe_b64decode

import pytest

from gatepass.domain import audit_log, cards, maintenance, organizations
from gatepass.domain.staff import Role
from gatepass.studio.middleware import Middleware
from tests import factory
from tests.factory import Tenant
from tests.studio.browser_session import BrowserSession, sign_in


async def test_the_organization_is_changed_and_noted(user: BrowserSession) -> None:
    await user.send("settings/organization", name="North Hall", time_zone="brussels", card_prefix="hall")
    async with user.tenant.db.autocommit() as tx:
        found = await organizations.find(tx, user.tenant.id)
        noted = await audit_log.of_subject(tx, user.tenant.id, user.tenant.id)
    assert found is not None
    assert (found.name, found.time_zone, found.card_prefix) == ("North Hall", "Europe/Brussels", "HALL")
    assert {change.action for change in noted} == {"renamed", "time zone chosen", "card prefix chosen"}
    assert 'value="HALL"' in await user.see("settings")


@pytest.mark.parametrize("prefix", ["A", "TOOLONG", "A1", "É É", "", "A B", "ßß"])
async def test_a_bad_prefix_is_said_beside_its_field(user: BrowserSession, prefix: str) -> None:
    page = (await user.send("settings/organization", status=422, name="Kept", time_zone="UTC", card_prefix=prefix)).text
    assert 'id="e-card_prefix"' in page
    assert 'value="Kept"' in page


async def test_a_time_zone_that_is_none_is_said_beside_its_field(user: BrowserSession) -> None:
    page = (await user.send("settings/organization", status=422, name="N", time_zone="Nowhere", card_prefix="N")).text
    assert "Type its largest city" in page


async def test_signing_keys_are_rotated_and_retired(user: BrowserSession) -> None:
    page = await user.see("settings")
    assert "retire" not in page.lower().replace("retired", ""), "the last one stays"
    assert "1 key" in await user.see("settings/signing-keys/new") or "The key of before goes on" in await user.see(
        "settings/signing-keys/new"
    )
    page = await user.follow(await user.send("settings/signing-keys"))
    halves = set(re.findall(r"[A-Za-z0-9_-]{43}(?=<)", page))
    assert {len(urlsafe_b64decode(half + "=")) for half in halves} == {32}
    async with user.tenant.db.autocommit() as tx:
        newer, older = await cards.signing_keys_of(tx, user.tenant.id)
    question = await user.see(f"settings/signing-keys/{older.id}/retire")
    assert "This key signs at present" not in question
    assert "This key signs at present" in await user.see(f"settings/signing-keys/{newer.id}/retire")
    refused = await user.send(f"settings/signing-keys/{older.id}/retire", status=422, reason=" ")
    assert 'id="e-reason"' in refused.text
    await user.send(f"settings/signing-keys/{older.id}/retire", reason="leaked")
    assert "last signing key" in await user.see(f"settings/signing-keys/{newer.id}/retire")
    assert (
        "last signing key" in (await user.send(f"settings/signing-keys/{newer.id}/retire", status=409, reason="x")).text
    )
    await user.see(f"settings/signing-keys/{older.id}/retire", status=404)


async def test_the_sandbox_is_emptied_and_noted(user: BrowserSession) -> None:
    there = await factory.sandbox_twin(user.tenant)
    await there.card()
    assert "Empty the sandbox" in await user.see("settings")
    assert "being emptied" in await user.follow(await user.send("settings/sandbox/empty"))
    async with user.tenant.db.autocommit() as tx:
        noted = await audit_log.of_subject(tx, user.tenant.id, user.tenant.id)
    assert [change.action for change in noted] == ["sandbox emptied"]
    await maintenance.follow_up(user.tenant.db, at=factory.now())
    assert "The sandbox is empty" in await user.follow(await user.send("settings/sandbox/empty"))


async def test_who_only_reads_the_settings_does_not_empty_the_sandbox(studio: Middleware, tenant: Tenant) -> None:
    async with await sign_in(studio, tenant, Role.DEVELOPER) as developer:
        assert "Empty the sandbox" not in await developer.see("settings")
        await developer.send("settings/sandbox/empty", status=403)


async def test_what_is_kept_and_what_is_granted_is_said(user: BrowserSession) -> None:
    page = await user.see("settings")
    assert "<td>Audit log</td>" in page
    assert "2,555" in page
    assert "Each sandbox key" in page


async def held(tenant: Tenant, name: str, email: str) -> cards.Card:
    async with tenant.db.transaction() as tx:
        return await cards.issue(tx, tenant.id, by=factory.BY, at=factory.now(), holder_name=name, holder_email=email)


async def names(tenant: Tenant, email: str) -> list[str]:
    async with tenant.db.autocommit() as tx:
        return [holder.name for holder in await cards.find_holders(tx, tenant.id, email)]


async def test_a_holder_is_found_and_erased(user: BrowserSession) -> None:
    card = await held(user.tenant, "Grace Hopper", "grace@example.org")
    await held(user.tenant, "Alan Turing", "alan@example.org")
    page = (await user.send("settings/erasure/found", status=200, asked="GRACE@example.org")).text
    assert "Grace Hopper" in page
    assert card.number in page
    page = await user.follow(await user.send("settings/erasure", asked="grace@example.org", seen="1"))
    assert "is erased" in page
    assert await names(user.tenant, "grace@example.org") == []
    assert await names(user.tenant, "alan@example.org") == ["Alan Turing"]
    page = (await user.send("settings/erasure/found", status=200, asked=card.number)).text
    assert "Nobody is kept under this" in page
    audit = await user.see("audit")
    assert "holder erased" in audit
    assert "grace" not in audit.lower()


async def test_who_was_not_seen_is_not_erased(user: BrowserSession) -> None:
    await held(user.tenant, "Grace", "grace@example.org")
    await held(user.tenant, "Grace the second", "grace@example.org")
    page = (await user.send("settings/erasure", status=422, asked="grace@example.org", seen="1")).text
    assert "Look again" in page
    assert len(await names(user.tenant, "grace@example.org")) == 2
    for bad in ({"asked": "", "seen": "1"}, {"asked": "x@example.org", "seen": "0"}, {"asked": "x", "seen": "many"}):
        await user.send("settings/erasure", status=422, **bad)


async def test_another_organizations_holder_is_not_erased(user: BrowserSession) -> None:
    other = await factory.tenant(user.tenant.db)
    await held(other, "Grace", "grace@example.org")
    await user.send("settings/erasure", status=422, asked="grace@example.org", seen="1")
    assert await names(other, "grace@example.org") == ["Grace"]


async def test_a_developer_looks_and_changes_nothing(studio: Middleware, tenant: Tenant) -> None:
    async with await sign_in(studio, tenant, Role.DEVELOPER) as user:
        page = await user.see("settings")
        assert "Save" not in page
        assert "Erase a holder" not in page
