"""A race for a ticket: many gates scan one card at once, through two processes. The checks return their faults."""

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.factory import Tenant
from tests.faults.conftest import Pair
from tests.faults.gates import DatabaseState, database_state, is_replayed, request_id, scan_body, shown_card, wait_for
from tests.faults.http_client import Answer, connections

GATES = 20
# Races that may be inconclusive because the machine was busy.
MAX_INCONCLUSIVE = 2


@dataclass
class Race:
    """The answers to the gates that scanned one card, in the gates' order."""

    number: str
    answers: list[Answer]

    def statuses(self) -> Counter[int]:
        return Counter(answer.status_code for answer in self.answers)


async def race(
    pair: Pair, tenant: Tenant, numbers: list[str], *, way: str = "card_number", one_key: bool, gates: int = GATES
) -> list[Race]:
    """Scan each card at `gates` gates at once. With `one_key` all of them send the same scan.

    On a busy machine a scan may give up at the barrier before all have arrived. Such a race is inconclusive.
    """
    races, inconclusive = list[Race](), 0
    async with connections(pair, (await tenant.key()).text, gates) as opened:
        for number in numbers:
            shown = shown_card(way, tenant, number)
            async with barrier(tenant) as wait_for_batches:
                for n, connection in enumerate(opened):
                    gate = "gate" if one_key else f"gate {n}"
                    connection.send(scan_body(tenant, shown, gate), f"retry of {number}" if one_key else None)
                await wait_for_batches(min(gates, len(pair)))
            one = Race(number, [await connection.answer() for connection in opened])
            if 503 in one.statuses() and inconclusive < MAX_INCONCLUSIVE:
                inconclusive += 1
                continue
            races.append(one)
            if max(one.statuses()) >= 500:
                break
    return races


@asynccontextmanager
async def barrier(tenant: Tenant) -> AsyncGenerator[Callable[[int], Awaitable[None]]]:
    """Hold every batch of scans at its first statement until all have arrived, then release them at once."""
    async with tenant.db.transaction() as tx:

        async def wait_for_batches(batches: int) -> None:
            async def all_wait() -> bool:
                return await tx.value(WAITING) == batches

            await wait_for(all_wait)

        await tx.run("LOCK TABLE idempotency_generation IN ACCESS EXCLUSIVE MODE")
        yield wait_for_batches


WAITING = "SELECT count(*) FROM pg_locks WHERE relation = 'idempotency_generation'::regclass AND NOT granted"


async def faults_of_race(tenant: Tenant, races: list[Race]) -> list[str]:
    """Each ticket must have one winner; every conflict must name the winner's gate."""
    found = await database_state(tenant)
    return [fault for one in races for fault in _of_race(found, one)]


def _of_race(found: DatabaseState, one: Race) -> list[str]:
    if one.statuses() != {200: 1, 409: GATES - 1}:
        return [f"{one.number}: {dict(one.statuses())}"]
    (winner,) = (n for n, answer in enumerate(one.answers) if answer.status_code == 200)
    ticket = found.tickets[one.number]
    details = {
        (answer.json()["code"], *answer.json()["details"].values())
        for answer in one.answers
        if answer.status_code == 409
    }
    assert ticket.activated_at is not None
    truth = ticket.activated_at.isoformat().replace("+00:00", "Z"), f"gate {winner}", f"scanner of gate {winner}"
    checks = {
        "conflicts name another winner": details == {("already_activated", *truth)},
        "the ticket names another gate": ticket.activated_gate == f"gate {winner}",
        "the ticket names another scan": ticket.activated_by == request_id(one.answers[winner]),
        "the answer names another ticket": one.answers[winner].json()["data"]["ticket_id"] == str(ticket.id),
        "scans are missing": found.verdicts(one.number) == {"activated": 1, "already_activated": GATES - 1},
        "the request log differs": all(found.request_log.get(request_id(a)) == a.status_code for a in one.answers),
        "an answer was stored": found.stored_answers[ticket.id] == 0,
    }
    return [f"{one.number}: {what}" for what, holds in checks.items() if not holds]


async def faults_of_duplicates(tenant: Tenant, races: list[Race], *, status: int, verdict: str) -> list[str]:
    """All gates sent the same scan: they must get the same answer, from one decision."""
    found = await database_state(tenant)
    return [fault for one in races for fault in _of_duplicates(found, one, status, verdict)]


def _of_duplicates(found: DatabaseState, one: Race, status: int, verdict: str) -> list[str]:
    if one.statuses() != {status: GATES}:
        return [f"{one.number}: {dict(one.statuses())}"]
    deciding = [answer for answer in one.answers if not is_replayed(answer)]
    ticket = found.tickets[one.number]
    checks = {
        "answers differ": len({answer.content for answer in one.answers}) == 1,
        "not exactly one answer was the first": len(deciding) == 1,
        "not one decision": found.verdicts(one.number)[verdict] == 1,
        "the first answer has no scan": all(request_id(a) in found.scans for a in deciding),
        "a replay has a scan": not any(request_id(a) in found.scans for a in one.answers if is_replayed(a)),
        "the request log differs": all(found.request_log.get(request_id(a)) == status for a in one.answers),
        "not one answer is stored": found.stored_answers[ticket.id] == 1,
    }
    return [f"{one.number}: {what}" for what, holds in checks.items() if not holds]
