"""A mailing whose workers are killed: nobody has no letter, and two has only who was in flight at a kill."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Final

from gatepass.base.ids import new_id
from gatepass.domain import mailings
from tests import factory
from tests.factory import Tenant
from tests.faults.mail.guests import guests
from tests.mail_server import MailServer, mail_server
from tests.size import dice, sized
from tests.warm.processes import launch_worker

CARDS: Final = sized(short=1_000, full=20_000)
KILLS: Final = sized(short=5, full=50)
CONNECTIONS: Final = 4
# Claimed letters for each connection, as in `worker/mail/sender.py`.
IN_HAND: Final = 12 * CONNECTIONS
# Of twenty guests one is greylisted, one refused, one cut off.
KINDS: Final = {0: "greylist", 1: "refuse", 2: "drop"}


async def test_everybody_has_a_letter_and_two_only_who_was_in_flight(own: Tenant, tmp_path: Path) -> None:
    expected = await guests(own, CARDS, lambda n: KINDS.get(n % 20, "guest"))
    mailing_id = new_id()
    async with own.db.transaction() as tx:
        await mailings.begin(tx, own.id, mailing_id, own.event_id, None, by="test", at=factory.now())
    environment = {**factory.environment(own.db.url), "GATEPASS_ENCRYPTION_KEYS": factory.KEY}
    chance = dice()
    with mail_server(tmp_path, keep=False) as server:
        environment |= server.environment(CONNECTIONS)
        for kill in range(KILLS):
            worker = launch_worker(environment)
            wanted = (kill + 1) * CARDS * 8 // 10 // KILLS
            await until(own, server, wanted)
            await asyncio.sleep(chance.random() / 20)
            worker.kill()
        worker = launch_worker(environment)
        await ended(own, mailing_id)
        assert worker.stop() == 0
        arrived = server.taken()
    taken = Counter(one["to"] for one in arrived)
    async with own.db.autocommit() as tx:
        rows = {row["address"]: row for row in await tx.rows(LETTERS, own.id)}
    assert set(rows) == set(expected)
    refused = {address for address in expected if address.startswith("refuse-")}
    assert {address for address, row in rows.items() if row["state"] == "refused"} == refused
    assert set(taken) == set(expected) - refused, "nobody has none"
    twice = {address: count for address, count in taken.items() if count > 1}
    assert all(count - 1 <= rows[address]["doubtful"] for address, count in twice.items())
    assert len({(one["to"], one["id"]) for one in arrived}) == len(taken), "the same Message-ID"
    of_kills = sum(row["doubtful"] for address, row in rows.items() if not address.startswith("drop-"))
    print(f"{CARDS} cards, {KILLS} kills: {len(twice)} twice, {of_kills} in doubt")
    assert 0 < of_kills <= KILLS * IN_HAND
    assert sum(count - 1 for count in taken.values()) <= KILLS * IN_HAND


async def until(own: Tenant, server: MailServer, wanted: int) -> None:
    """Wait until the server has taken so many letters."""
    async with asyncio.timeout(300):
        while server.path.read_bytes().count(b"\n") < wanted:
            await bring_forward(own)
            await asyncio.sleep(0.05)


async def ended(own: Tenant, mailing_id: object) -> None:
    async with asyncio.timeout(600):
        while True:
            await bring_forward(own)
            async with own.db.autocommit() as tx:
                if await tx.value("SELECT ended_at FROM mailing WHERE id = $1", mailing_id) is not None:
                    return
            await asyncio.sleep(0.2)


async def bring_forward(own: Tenant) -> None:
    """The minute that a greylisting server wants passes at once."""
    async with own.db.autocommit() as tx:
        await tx.run(BRING_FORWARD, own.id)


LETTERS: Final = "SELECT address, state, doubtful FROM letter WHERE organization_id = $1"
BRING_FORWARD: Final = """
    UPDATE letter SET next_at = now()
     WHERE organization_id = $1 AND state = 'waiting' AND tries > 0 AND next_at > now()
"""
