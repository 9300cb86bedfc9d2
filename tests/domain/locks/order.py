"""The locks that a verb takes, statement by statement, as another connection sees them in PostgreSQL."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from gatepass.base.database import Database
from gatepass.base.errors import Refusal
from tests.domain.locks.held import PID, HeldTx
from tests.domain.locks.verbs import Verb
from tests.domain.locks.world import World

# As in ARCHITECTURE.md. `turn` is the advisory lock of a person's address or an external id.
ORDER: Final = ("event", "turn", "card", "card_holder", "ticket_category", "ticket")

TURNS: Final = """
    SELECT (l.classid::bigint << 32 | l.objid::bigint)::text AS id
      FROM pg_locks l
     WHERE l.locktype = 'advisory'
       AND l.granted
       AND l.pid = $1
"""
ALL: Final = {
    table: f"SELECT {'card_id' if table == 'card_holder' else 'id'}::text AS id FROM {table} WHERE organization_id = $1"
    for table in ORDER
    if table != "turn"
}
# A row that is locked in any way, if only by a reference to it, is skipped.
FREE: Final = {table: f"{text} FOR UPDATE SKIP LOCKED" for table, text in ALL.items()}

Lock = tuple[str, str]


@dataclass
class Watch:
    """What is locked after each statement. Rows that the transaction itself has made are not seen, and nobody waits."""

    db: Database
    organization_id: UUID
    steps: list[set[Lock]] = field(default_factory=list[set[Lock]])
    pid: int = 0

    async def before(self, _number: int) -> None:
        self.steps.append(await self.locked())

    async def locked(self) -> set[Lock]:
        async with self.db.autocommit() as tx:
            found: set[Lock] = {("turn", row["id"]) for row in await tx.rows(TURNS, self.pid)}
            for table, text in ALL.items():
                every = {row["id"] for row in await tx.rows(text, self.organization_id)}  # pyright: ignore[reportArgumentType]
                free = {row["id"] for row in await tx.rows(FREE[table], self.organization_id)}  # pyright: ignore[reportArgumentType]
                found |= {(table, id) for id in every - free}
        return found

    def out_of_order(self) -> list[str]:
        """Each lock that was taken after one that comes later, or, within a table, after one of a later row."""
        found: list[str] = []
        for was, becomes in zip(self.steps, self.steps[1:], strict=False):
            for table, id in sorted(becomes - was):
                later = [one for one in was if _place(one) > _place((table, id)) and one in becomes]
                found += [f"{table} after {other}" for other in sorted({other for other, _ in later})]
        return found

    def order(self) -> list[str]:
        """The tables in the order in which they were first locked."""
        return list(dict.fromkeys(table for step in self.steps for table, _ in sorted(step, key=_place)))


def _place(lock: Lock) -> tuple[int, str]:
    table, id = lock
    return ORDER.index(table), "" if table == "turn" else id


async def watched(db: Database, verb: Verb, world: World) -> Watch:
    watch = Watch(db, world.id)
    async with db.transaction() as tx:
        watch.pid = await tx.value(PID)
        held = HeldTx(tx, watch.before)
        with suppress(Refusal):
            await verb.act(held, world)
        await watch.before(held.statements)
    return watch
