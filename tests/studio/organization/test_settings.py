"""Settings in the studio: the organization, its signing keys, and people who want to be forgotten."""

import re
from base64 import urlsafe_b64decode

import pytest

from gatepass.domain import cards, changes, organizations
from gatepass.domain.staff import Role
from gatepass.studio.reception import Reception
from tests import make
from tests.make import House
from tests.studio.desk import Desk, sit_down


async def test_the_organization_is_changed_and_noted(desk: Desk) -> None:
    await desk.send("settings/organization", name="North Hall", card_prefix="hall")
    async with desk.house.db.reading() as tx:
        found = await organizations.find(tx, desk.house.id)
        noted = await changes.of_subject(tx, desk.house.id, desk.house.id)
    assert found is not None
    assert (found.name, found.card_prefix) == ("North Hall", "HALL")
    assert {change.action for change in noted} == {"renamed", "card prefix chosen"}
    assert 'value="HALL"' in await desk.see("settings")


@pytest.mark.parametrize("prefix", ["A", "TOOLONG", "A1", "É É", "", "A B", "ßß"])
async def test_a_bad_prefix_is_said_beside_its_field(desk: Desk, prefix: str) -> None:
    page = (await desk.send("settings/organization", status=422, name="Kept", card_prefix=prefix)).text
    assert 'id="e-card_prefix"' in page
    assert 'value="Kept"' in page


async def test_signing_keys_are_rotated_and_retired(desk: Desk) -> None:
    page = await desk.see("settings")
    assert "retire" not in page.lower().replace("retired", ""), "the last one stays"
    assert "1 key" in await desk.see("settings/signing-keys/new") or "The key of before goes on" in await desk.see(
        "settings/signing-keys/new"
    )
    page = await desk.follow(await desk.send("settings/signing-keys"))
    halves = set(re.findall(r"[A-Za-z0-9_-]{43}(?=<)", page))
    assert {len(urlsafe_b64decode(half + "=")) for half in halves} == {32}
    async with desk.house.db.reading() as tx:
        newer, older = await cards.signing_keys_of(tx, desk.house.id)
    question = await desk.see(f"settings/signing-keys/{older.id}/retire")
    assert "This key signs at present" not in question
    assert "This key signs at present" in await desk.see(f"settings/signing-keys/{newer.id}/retire")
    refused = await desk.send(f"settings/signing-keys/{older.id}/retire", status=422, reason=" ")
    assert 'id="e-reason"' in refused.text
    await desk.send(f"settings/signing-keys/{older.id}/retire", reason="leaked")
    assert "last signing key" in await desk.see(f"settings/signing-keys/{newer.id}/retire")
    assert (
        "last signing key" in (await desk.send(f"settings/signing-keys/{newer.id}/retire", status=409, reason="x")).text
    )
    await desk.see(f"settings/signing-keys/{older.id}/retire", status=404)


async def test_what_is_kept_and_what_is_granted_is_said(desk: Desk) -> None:
    page = await desk.see("settings")
    assert "Audit of changes" in page
    assert "2,555" in page
    assert "Each sandbox key" in page


async def held(house: House, name: str, email: str) -> cards.Card:
    async with house.db.transaction() as tx:
        return await cards.issue(tx, house.id, by=make.BY, at=make.now(), holder_name=name, holder_email=email)


async def names(house: House, email: str) -> list[str]:
    async with house.db.reading() as tx:
        return [holder.name for holder in await cards.holders_found(tx, house.id, email)]


async def test_a_holder_is_found_and_erased(desk: Desk) -> None:
    card = await held(desk.house, "Grace Hopper", "grace@example.org")
    await held(desk.house, "Alan Turing", "alan@example.org")
    page = (await desk.send("settings/erasure/found", status=200, asked="GRACE@example.org")).text
    assert "Grace Hopper" in page
    assert card.number in page
    page = await desk.follow(await desk.send("settings/erasure", asked="grace@example.org", seen="1"))
    assert "is erased" in page
    assert await names(desk.house, "grace@example.org") == []
    assert await names(desk.house, "alan@example.org") == ["Alan Turing"]
    page = (await desk.send("settings/erasure/found", status=200, asked=card.number)).text
    assert "Nobody is kept under this" in page
    audit = await desk.see("audit")
    assert "holder erased" in audit
    assert "grace" not in audit.lower()


async def test_who_was_not_seen_is_not_erased(desk: Desk) -> None:
    await held(desk.house, "Grace", "grace@example.org")
    await held(desk.house, "Grace the second", "grace@example.org")
    page = (await desk.send("settings/erasure", status=422, asked="grace@example.org", seen="1")).text
    assert "Look again" in page
    assert len(await names(desk.house, "grace@example.org")) == 2
    for bad in ({"asked": "", "seen": "1"}, {"asked": "x@example.org", "seen": "0"}, {"asked": "x", "seen": "many"}):
        await desk.send("settings/erasure", status=422, **bad)


async def test_another_organizations_holder_is_not_erased(desk: Desk) -> None:
    other = await make.house(desk.house.db)
    await held(other, "Grace", "grace@example.org")
    await desk.send("settings/erasure", status=422, asked="grace@example.org", seen="1")
    assert await names(other, "grace@example.org") == ["Grace"]


async def test_a_developer_looks_and_changes_nothing(studio: Reception, house: House) -> None:
    async with await sit_down(studio, house, Role.DEVELOPER) as desk:
        page = await desk.see("settings")
        assert "Save" not in page
        assert "Erase a holder" not in page
