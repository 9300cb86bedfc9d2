"""What somebody made, after they were removed: in the step that removes them it is taken out of use, each kind of it.

Each proof is made with the thing itself: the key of a device at a gate, the API key, the link of a card.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

import pytest
from nacl.signing import SigningKey

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain import audit_log, card_exports, cards, devices, keys, staff, webhooks
from gatepass.domain.belongings import Belonging, BelongingKind, made_by
from gatepass.domain.card_exports import ExportKind, ExportOrder, Selection
from gatepass.domain.devices.pairing import make_code
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.staff import Role
from gatepass.domain.webhooks import MessageType
from gatepass.studio.services.templates import root_of
from tests import factory
from tests.attacks.studio_client import StudioClient, member, visiting
from tests.processes import GatepassProcess

# Every column of the schema that names who made a row, and what becomes of it when they leave.
TAKEN_OUT: Final = {"device.paired_by", "pairing_code.made_by", "api_key.created_by", "webhook_endpoint.created_by",
                    "card_export.created_by"}  # fmt: skip
# They open nothing: content, and jobs that end by themselves. Invitations are withdrawn by `team.py`.
LEFT: Final = {"webhook_replay.created_by", "import.created_by", "mailing.created_by", "event_cover.created_by"}


@dataclass
class Leaver:
    """Somebody with everything that a person can make, and the secrets of it."""

    tenant: factory.Tenant
    person_id: UUID
    device_key: str
    api_key: str
    link: str

    async def belongings(self) -> list[Belonging]:
        async with self.tenant.db.autocommit() as tx:
            return await made_by(tx, self.tenant.id, self.person_id, at=factory.now())

    async def works(self, server: GatepassProcess) -> dict[str, bool]:
        """What whoever has the secrets can do with them now."""
        card = await self.tenant.card()
        async with server.client(self.device_key) as gate, server.client(self.api_key) as program:
            scan = {"event_id": str(self.tenant.event_id), "card_number": card.number}
            let_in = await gate.post("/scan", json=scan)
            manifest = await gate.get(f"/events/{self.tenant.event_id}/manifest")
            listed = await program.get("/events")
        async with visiting(server) as stranger:
            page = await stranger.get(f"/c/{self.link}")
        return {
            "scan": let_in.status_code == 200,
            "manifest": manifest.status_code == 200,
            "API key": listed.status_code == 200,
            "link": page.status_code == 200,
        }


@pytest.fixture
async def leaver(db: Database) -> Leaver:
    tenant = await factory.tenant(db)
    person, _ = await member(tenant, Role.ADMIN)
    by, card = f"person {person.id}", await tenant.card()
    async with db.transaction() as tx:
        _, device_key = await devices.pair_now(
            tx, tenant.id, Mode.LIVE, "Bob's phone", bytes(SigningKey.generate().verify_key), tenant.event_id, "North",
            cell=tenant.cell, by=by, at=factory.now(),
        )  # fmt: skip
        await make_code(tx, tenant.id, Mode.LIVE, tenant.event_id, "East", cell=tenant.cell, by=by, at=factory.now())
        key = await keys.issue(
            tx, tenant.id, "Bob's key", Mode.LIVE, [Scope.EVENTS_READ], cell=tenant.cell, by=by, at=factory.now()
        )
        await webhooks.create_endpoint(
            tx, tenant.id, Mode.LIVE, factory.VAULT, url="https://example.com/bob",
            types=[MessageType.TICKET_ACTIVATED], description=None, allow_private=True, by=by, at=factory.now(),
        )  # fmt: skip
        link = await cards.link_of(tx, tenant.id, card.id, factory.VAULT, tenant.cell, at=factory.now())
        await audit_log.record(tx, tenant.id, "card", card.id, "link shown", by=by, at=factory.now())
        until = factory.now() + timedelta(days=1)
        order = ExportOrder(tenant.event_id, ExportKind.CSV, None, Selection(), until, with_names=True)
        await card_exports.begin(tx, tenant.id, new_id(), order, by=by, at=factory.now())
    return Leaver(tenant, person.id, device_key, key.text, link)


def page_of(leaver: Leaver, act: str) -> str:
    return f"{root_of(leaver.tenant.id, 'live')}/team/{leaver.person_id}/{act}"


async def removed(client: StudioClient, leaver: Leaver, *marks: str) -> None:
    answer = await client.post(page_of(leaver, "remove"), data={"made": list(marks)})
    assert answer.status_code == 303, answer.text[:500]


async def test_all_that_a_removed_person_made_is_shown_and_revoked_in_one_step(
    server: GatepassProcess, leaver: Leaver
) -> None:
    _, token = await member(leaver.tenant)
    assert set((await leaver.works(server)).values()) == {True}
    found = await leaver.belongings()
    assert {one.kind for one in found} == set(BelongingKind), "the person has one of each kind"
    async with visiting(server, token) as client:
        page = await client.get(page_of(leaver, "remove"))
        assert [one.mark for one in found if one.mark not in page.text] == []
        await removed(client, leaver, *(one.mark for one in found))
    assert set((await leaver.works(server)).values()) == {False}
    assert await leaver.belongings() == []


async def test_what_was_not_chosen_goes_on_and_is_shown_again(server: GatepassProcess, leaver: Leaver) -> None:
    """A phone may stay at its gate, whoever paired it."""
    _, token = await member(leaver.tenant)
    key = next(one for one in await leaver.belongings() if one.kind is BelongingKind.KEY)
    async with visiting(server, token) as client:
        await removed(client, leaver, key.mark)
        page = await client.get(page_of(leaver, "made"))
    works = await leaver.works(server)
    assert works.pop("API key") is False
    assert set(works.values()) == {True}
    rest = await leaver.belongings()
    assert {one.kind for one in rest} == set(BelongingKind) - {BelongingKind.KEY}
    assert [one.mark for one in rest if one.mark not in page.text] == []


async def test_a_refused_removal_revokes_nothing(server: GatepassProcess, leaver: Leaver) -> None:
    """The last owner cannot go, and so keeps what they made."""
    async with leaver.tenant.db.transaction() as tx:
        owner = await staff.enrol(tx, f"{new_id()}@example.org", "Only owner", at=factory.now())
        await staff.join(tx, leaver.tenant.id, owner.id, Role.OWNER, by=factory.BY, at=factory.now())
        token = await staff.begin(tx, owner.id, at=factory.now(), address=None, browser="tests", second_factor=True)
        key = await keys.issue(
            tx, leaver.tenant.id, "Owner's", Mode.LIVE, [Scope.EVENTS_READ], cell="a", by=f"person {owner.id}",
            at=factory.now(),
        )  # fmt: skip
    async with visiting(server, token) as client:
        answer = await client.post(
            f"{root_of(leaver.tenant.id, 'live')}/team/{owner.id}/remove", data={"made": f"API key:{key.id}"}
        )
        assert "needs an owner" in answer.text
    async with server.client(key.text) as program:
        assert (await program.get("/events")).status_code == 200


async def test_the_belongings_of_somebody_else_are_not_revoked(server: GatepassProcess, leaver: Leaver) -> None:
    other, token = await member(leaver.tenant)
    marks = [one.mark for one in await leaver.belongings()]
    third, _ = await member(leaver.tenant, Role.VIEWER)
    async with visiting(server, token) as client:
        await client.post(f"{root_of(leaver.tenant.id, 'live')}/team/{third.id}/remove", data={"made": marks})
    assert [one.mark for one in await leaver.belongings()] == marks
    assert other.id != leaver.person_id


async def test_every_table_that_names_a_maker_is_decided(db: Database) -> None:
    async with db.autocommit() as tx:
        rows = await tx.rows(MAKERS)
    assert {row["named"] for row in rows} == TAKEN_OUT | LEFT


MAKERS: Final = """
    SELECT DISTINCT c.relname || '.' || a.attname AS named
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname IN ('made_by', 'created_by', 'paired_by', 'issued_by')
     WHERE c.relkind IN ('r', 'p')
       AND NOT c.relispartition
       AND c.relnamespace = 'public'::regnamespace
"""
