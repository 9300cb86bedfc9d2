"""A subscriber that applies every message holds the same state as the database, whatever happens.

`history.py` makes random changes, `mirror.py` is the subscriber. Here they are compared, and no type of message can be
left out.
"""

import json
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import pytest

from gatepass.base.database import Database
from gatepass.base.ids import new_id
from gatepass.domain import maintenance, webhooks
from gatepass.domain.cards import messages as card_messages
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import SUBSCRIBABLE, FeedCursor, MessageType
from tests import factory
from tests.contract.openapi_reader import faults, message_schema
from tests.domain.tenancy.statements import DOMAIN, constants
from tests.domain.webhooks.mirror.history import TRIED, History
from tests.domain.webhooks.mirror.mirror import Mirror, stored
from tests.domain.webhooks.mirror.picks import NAME
from tests.factory import Tenant
from tests.postgres import Cluster
from tests.size import sized

PAGE: Final = 500


@pytest.fixture(scope="module")
async def own(cluster: Cluster) -> AsyncGenerator[Database]:
    """A database of its own, because maintenance ends and cancels in all organizations."""
    url = cluster.create_migrated(f"gatepass_mirror_{new_id().hex[-8:]}")
    database = factory.database(url, connections=4)
    await maintenance.run_due(database, at=factory.now())
    yield database
    await database.close()


@dataclass
class Subscriber:
    """Reads the feed, keeps the mirror, and remembers how it came about: the mirror after so many messages."""

    tenant: Tenant
    mirror: Mirror
    cursor: FeedCursor | None = None
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    mirrors: dict[int, Mirror] = field(default_factory=dict[int, Mirror])

    async def follow(self) -> None:
        async with self.tenant.db.autocommit() as tx:
            while True:
                page = await webhooks.read_feed(tx, self.tenant.id, Mode.LIVE, after=self.cursor, limit=PAGE)
                self.cursor = page.cursor
                for body in page.bodies:
                    self.messages.append(json.loads(body))
                    self.mirror.apply(self.messages[-1])
                if not page.has_more:
                    return

    async def compare(self) -> None:
        found, sold = await stored(self.tenant.db, self.tenant.id)
        assert self.mirror.differences(found) == []
        assert self.mirror.sold() == sold
        self.mirrors[len(self.messages)] = self.mirror.copy()


async def subscriber(db: Database) -> tuple[Subscriber, History]:
    """A new organization, with a subscriber who has read what is there."""
    tenant = await factory.tenant(db, places=500)
    async with db.transaction() as tx:
        await webhooks.open_feed(tx, tenant.id, Mode.LIVE, at=factory.now())
    mirror, _ = await stored(db, tenant.id)
    history = History(tenant, (await tenant.key()).id, Random(16))
    await history.load()
    return Subscriber(tenant, mirror), history


async def followed(db: Database, count: int) -> tuple[Subscriber, History]:
    """A subscriber after so many changes, compared after every hundred of them."""
    one, history = await subscriber(db)
    await one.compare()
    for _ in range(count // 100):
        await history.make(100)
        await one.follow()
        await one.compare()
    return one, history


async def test_the_mirror_is_the_database(own: Database) -> None:
    one, history = await followed(own, 600)
    assert {change.__name__ for change in TRIED} == set(history.done), "every change was made"
    told = {message["type"]: message for message in one.messages}
    assert set(told) == SUBSCRIBABLE - {MessageType.SCAN_DENIED}, "every type was sent"
    for type, message in told.items():
        assert faults(message_schema(type), message) == []
        assert type == MessageType.SCAN_CONFLICT or is_another(one, type), f"the mirror does not need {type}"
    assert not any(NAME.lower() in json.dumps(message).lower() for message in one.messages), "a holder was told"


def is_another(one: Subscriber, type: str) -> bool:
    """Whether a mirror that never hears of this type becomes another one, or fails."""
    deaf = one.mirrors[0].copy()
    try:
        for count, message in enumerate(one.messages, 1):
            if message["type"] != type:
                deaf.apply(message)
            if deaf != one.mirrors.get(count, deaf):
                return True
    except KeyError:
        return True
    return False


@pytest.mark.processes
async def test_the_mirror_is_the_database_for_long(own: Database) -> None:
    await followed(own, sized(short=1_000, full=10_000))


async def test_nothing_is_written_while_nobody_listens(own: Database) -> None:
    tenant = await factory.tenant(own, places=500)
    history = History(tenant, (await tenant.key()).id, Random(16))
    await history.load()
    await history.make(60)
    async with own.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM webhook_event WHERE organization_id = $1", tenant.id) == 0


async def test_a_verb_that_forgets_its_message_is_found(own: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    async def forget(*_: object, **__: object) -> None:
        """The mutant: whoever corrects or erases a holder tells nobody."""

    monkeypatch.setattr(card_messages, "tell_updated", forget)
    with pytest.raises(AssertionError, match=r"cards .* updated_at"):
        await followed(own, 300)


def test_the_mirror_knows_every_statement_that_changes_what_it_holds() -> None:
    """A new one has to be told, and to be among the random changes."""
    found = {
        statement.name
        for path in DOMAIN.rglob("*.py")
        if path.relative_to(DOMAIN).as_posix() not in UNTOLD and CHANGES_STATE.search(path.read_text())
        for statement in constants(path)
        if CHANGES_STATE.search(statement.text)
    }
    assert found == TOLD


CHANGES_STATE: Final = re.compile(
    r"\b(INSERT INTO|UPDATE|DELETE FROM)\s+(card|card_holder|card_external_id|ticket|ticket_reference|event)\b"
    r"|\bUPDATE\s+ticket_category\s+(\w+\s+)?SET (?!quantity_sold)|\b(INSERT INTO|DELETE FROM) ticket_category\b"
)
# A whole organization goes, or the demo's begins, before anybody can listen. And no message tells of a holder's phone.
UNTOLD: Final = {"cards/phones.py", "demo.py", "lifecycle/erased_tables.py", "tickets/bulk_load.py"}
TOLD: Final = {
    "cards/issuance.ERASE", "cards/issuance.HOLD", "cards/issuance.ISSUE", "cards/issuance.TOUCH",
    "cards/registration.HOLD", "cards/registration.NAME", "cards/status.CHANGE_STATUS",
    "events/categories.ADD", "events/categories.EDIT", "events/categories.REMOVE",
    "events/deletion.DELETE", "events/deletion.DELETE_CATEGORIES",
    "events/editing.CHANGE_STATUS", "events/editing.CREATE", "events/editing.EDIT", "events/editing.REOPEN",
    "imports/undo.REMOVE_CARDS", "imports/undo.REMOVE_HOLDERS", "imports/undo.REMOVE_REFERENCES",
    "imports/undo.REMOVE_TICKETS",
    "incidents/letting_in.ACTIVATE", "incidents/letting_in.ADMIT",
    "tickets/cancellation.CANCEL", "tickets/cancellation.UNDO",
    "tickets/issuance.ISSUE", "tickets/issuance.NAME", "tickets/transfer.MOVE",
    "tickets/replacement.MOVE_EXTERNAL_ID", "tickets/replacement.MOVE_HOLDER", "tickets/replacement.MOVE_TICKETS",
}  # fmt: skip
