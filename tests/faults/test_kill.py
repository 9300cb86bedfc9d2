"""A process is killed in the middle of 200 scans. What it answered is kept; what it did not is found out by a retry.

The victim is a process of its own each time; the retries go to one that was not touched.
"""

import asyncio
import os
import signal
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from gatepass.base.database import Database
from tests import make
from tests.faults.conftest import Pair
from tests.faults.fights import starting_line
from tests.faults.gates import Books, books, is_replayed, load, request_id, scan_body
from tests.faults.wire import Answer, Line, lines
from tests.make import House
from tests.postgres import free_port
from tests.serving import Serving, serve

pytestmark = pytest.mark.slow

SCANS = 200
# Answers come in batches: all of the last one may be out before the process dies of its first. Then it is no kill.
TRIES = 5
# The kill comes with the n-th activation: at the first, in full flow, and when only stragglers are left.
MOMENTS = (1, 10, 60, 100, 130, 160, 190)


@dataclass
class Round:
    """What the gates were told before the process died; the others heard nothing."""

    told: dict[str, Answer] = field(default_factory=dict[str, Answer])
    unanswered: set[str] = field(default_factory=set[str])


async def scan_until_killed(victim: Serving, house: House, numbers: list[str], key: str, moment: int) -> Round:
    """Scan every card at once; with the `moment`-th activation the process gets SIGKILL."""
    done = Round()

    async def one(number: str, line: Line) -> None:
        try:
            done.told[number] = await scan_as_told(line, house, number)
        except (asyncio.IncompleteReadError, ConnectionError):
            done.unanswered.add(number)
        if len(done.told) == moment:
            os.kill(victim.process.pid, signal.SIGKILL)

    async with lines((victim,), key, len(numbers)) as opened:
        await asyncio.gather(*(one(number, line) for number, line in zip(numbers, opened, strict=True)))
    victim.kill()
    return done


async def scan_as_told(line: Line, house: House, number: str) -> Answer:
    """Scan with a key of its own, and while the answer is to try again (503), do."""
    while True:
        line.send(scan_body(house, {"card_number": number}, "north"), f"retry of {number}")
        answer = await line.answer()
        if answer.status_code != 503:
            return answer
        assert answer.headers["x-svc-should-retry"] == "true"


@dataclass(frozen=True)
class Killed:
    """A round in which some were left without an answer, at a house that has seen no other."""

    house: House
    key: str
    numbers: list[str]
    round: Round


async def killed_in_time(settings_env: dict[str, str], db: Database, moment: int) -> Killed:
    for _ in range(TRIES):
        house = await make.house(db)
        numbers, key = await load(house, SCANS), (await house.key()).text
        victim = await asyncio.to_thread(serve, settings_env, free_port())
        done = await scan_until_killed(victim, house, numbers, key, moment)
        if done.unanswered:
            return Killed(house, key, numbers, done)
    raise AssertionError("the process outlived its work: kill it sooner")


@pytest.mark.parametrize("moment", MOMENTS)
async def test_what_was_answered_is_kept_and_the_rest_is_found_out(
    pair: Pair, settings_env: dict[str, str], db: Database, moment: int
) -> None:
    killed = await killed_in_time(settings_env, db, moment)
    house, numbers, before = killed.house, killed.numbers, killed.round
    assert len(before.told) + len(before.unanswered) == SCANS

    at_once = await books(house)
    for number, answer in before.told.items():
        _assert_kept(at_once, number, answer, replayed=False)

    retried = await retry(pair[1], house, numbers, killed.key)
    finally_ = await books(house)
    for number, answer in before.told.items():
        assert is_replayed(retried[number]), "an answer that was given has to come back as the same answer"
        assert retried[number].content == answer.content
        _assert_kept(finally_, number, answer, replayed=False)
    for number in before.unanswered:
        _assert_kept(finally_, number, retried[number], replayed=is_replayed(retried[number]))
    _assert_each_once(finally_, numbers)
    _assert_no_more_audit_than_calls(finally_, before, retried)

    committed_unheard = sum(is_replayed(retried[number]) for number in before.unanswered)
    print(f"killed at {moment}: told {len(before.told)}, committed but not told {committed_unheard}")


async def test_a_scan_that_commits_after_its_process_died_is_replayed(
    pair: Pair, settings_env: dict[str, str], house: House
) -> None:
    """The dead process has sent a batch: PostgreSQL goes on with it, and nobody hears of it. The rest dies with it."""
    numbers, key = await load(house, 6), (await house.key()).text
    victim = await asyncio.to_thread(serve, settings_env, free_port())
    async with lines((victim,), key, len(numbers)) as opened, starting_line(house) as are_there:
        for number, line in zip(numbers, opened, strict=True):
            line.send(scan_body(house, {"card_number": number}, "north"), f"retry of {number}")
            await are_there(1)
        victim.kill()
    retried = await retry(pair[1], house, numbers, key)
    found = await books(house)
    assert is_replayed(retried[numbers[0]]), "the first sending activated the ticket; this one only tells"
    for number in numbers:
        _assert_kept(found, number, retried[number], replayed=number == numbers[0])
    _assert_each_once(found, numbers)


async def retry(serving: Serving, house: House, numbers: list[str], key: str) -> dict[str, Answer]:
    """Send every scan once more with its key, as clients are told to."""
    async with lines((serving,), key, len(numbers)) as opened:
        sent = [scan_as_told(line, house, number) for number, line in zip(numbers, opened, strict=True)]
        return dict(zip(numbers, await asyncio.gather(*sent), strict=True))


def _assert_kept(found: Books, number: str, answer: Answer, *, replayed: bool) -> None:
    """The answer and the database agree: ticket, scan, audit and remembered answer, each there once."""
    assert answer.status_code == 200, (number, answer.content)
    ticket = found.tickets[number]
    assert answer.json()["data"]["ticket_id"] == str(ticket.id)
    assert ticket.activated_at is not None
    assert ticket.activated_by is not None
    assert (ticket.activated_by == request_id(answer)) is not replayed
    assert found.scans[ticket.activated_by] == (number, "activated")
    assert found.audit[ticket.activated_by] == 200
    assert found.audit[request_id(answer)] == 200
    assert found.remembered[ticket.id] == 1


def _assert_each_once(found: Books, numbers: list[str]) -> None:
    assert found.tickets.keys() == set(numbers)
    assert all(ticket.activated_at is not None for ticket in found.tickets.values())
    assert sorted(found.scans.values()) == sorted((number, "activated") for number in numbers)
    assert {ticket.activated_by for ticket in found.tickets.values()} == found.scans.keys()
    assert found.remembered == {ticket.id: 1 for ticket in found.tickets.values()}


def _assert_no_more_audit_than_calls(found: Books, before: Round, retried: dict[str, Answer]) -> None:
    """Each definite answer has its row, and each row its call: the first, or the retry."""
    definite: set[UUID] = {request_id(answer) for answer in (*before.told.values(), *retried.values())}
    assert definite <= found.audit.keys()
    activating = {ticket.activated_by for ticket in found.tickets.values()}
    unexplained = [id for id, status in found.audit.items() if status != 503 and id not in definite | activating]
    assert unexplained == []
