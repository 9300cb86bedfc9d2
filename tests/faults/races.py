"""A fight for a ticket: many gates scan one card at once, through two processes. `complaints` says what went wrong."""

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.faults.conftest import Pair
from tests.faults.gates import Books, books, by, is_replayed, request_id, scan_body, wait_for
from tests.faults.wire import Answer, lines
from tests.make import House

GATES = 20
# Rounds that may come to nothing because the machine was busy.
SPOILT = 2


@dataclass
class Fight:
    """The answers to the gates that scanned one card, in the gates' order."""

    number: str
    answers: list[Answer]

    def statuses(self) -> Counter[int]:
        return Counter(answer.status_code for answer in self.answers)


async def fight(
    pair: Pair, house: House, numbers: list[str], *, way: str = "card_number", one_key: bool, gates: int = GATES
) -> list[Fight]:
    """Scan each card at `gates` gates at once. With `one_key` that is one scan, sent over and over.

    A busy machine may take longer to bring all to the line than a scan waits there. Such a round is no fight.
    """
    fights, spoilt = list[Fight](), 0
    async with lines(pair, (await house.key()).text, gates) as opened:
        for number in numbers:
            shown = by(way, house, number)
            async with starting_line(house) as are_there:
                for n, line in enumerate(opened):
                    gate = "gate" if one_key else f"gate {n}"
                    line.send(scan_body(house, shown, gate), f"retry of {number}" if one_key else None)
                await are_there(min(gates, len(pair)))
            one = Fight(number, [await line.answer() for line in opened])
            if 503 in one.statuses() and spoilt < SPOILT:
                spoilt += 1
                continue
            fights.append(one)
            if max(one.statuses()) >= 500:
                break
    return fights


@asynccontextmanager
async def starting_line(house: House) -> AsyncGenerator[Callable[[int], Awaitable[None]]]:
    """Hold every batch of scans at its first statement until all are there, then let them go at the same instant."""
    async with house.db.transaction() as tx:

        async def are_there(batches: int) -> None:
            async def wait_at_the_line() -> bool:
                return await tx.value(WAITING) == batches

            await wait_for(wait_at_the_line)

        await tx.run("LOCK TABLE idempotency_generation IN ACCESS EXCLUSIVE MODE")
        yield are_there


WAITING = "SELECT count(*) FROM pg_locks WHERE relation = 'idempotency_generation'::regclass AND NOT granted"


async def complaints_of_race(house: House, fights: list[Fight]) -> list[str]:
    """Each ticket must have one winner; every loser must be told the winner's gate."""
    found = await books(house)
    return [complaint for one in fights for complaint in _of_race(found, one)]


def _of_race(found: Books, one: Fight) -> list[str]:
    if one.statuses() != {200: 1, 409: GATES - 1}:
        return [f"{one.number}: {dict(one.statuses())}"]
    (winner,) = (n for n, answer in enumerate(one.answers) if answer.status_code == 200)
    ticket = found.tickets[one.number]
    told = {
        (answer.json()["code"], *answer.json()["details"].values())
        for answer in one.answers
        if answer.status_code == 409
    }
    assert ticket.activated_at is not None
    truth = ticket.activated_at.isoformat().replace("+00:00", "Z"), f"gate {winner}", f"scanner of gate {winner}"
    checks = {
        "losers are told of another winner": told == {("already_activated", *truth)},
        "the ticket names another gate": ticket.activated_gate == f"gate {winner}",
        "the ticket names another scan": ticket.activated_by == request_id(one.answers[winner]),
        "the answer names another ticket": one.answers[winner].json()["data"]["ticket_id"] == str(ticket.id),
        "scans are missing": found.verdicts(one.number) == {"activated": 1, "already_activated": GATES - 1},
        "audit differs": all(found.audit.get(request_id(a)) == a.status_code for a in one.answers),
        "something was remembered": found.remembered[ticket.id] == 0,
    }
    return [f"{one.number}: {what}" for what, holds in checks.items() if not holds]


async def complaints_of_twins(house: House, fights: list[Fight], *, status: int, verdict: str) -> list[str]:
    """All gates sent one and the same scan: they must get one and the same answer, from one decision."""
    found = await books(house)
    return [complaint for one in fights for complaint in _of_twins(found, one, status, verdict)]


def _of_twins(found: Books, one: Fight, status: int, verdict: str) -> list[str]:
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
        "audit differs": all(found.audit.get(request_id(a)) == status for a in one.answers),
        "not one answer is remembered": found.remembered[ticket.id] == 1,
    }
    return [f"{one.number}: {what}" for what, holds in checks.items() if not holds]
