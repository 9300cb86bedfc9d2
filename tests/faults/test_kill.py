"""A process is killed in the middle of 200 scans. Its answers are kept; a retry finds the outcome of the other scans.

Every test kills a process of its own; the retries go to another process.
"""

import asyncio
import signal
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from gatepass.base.database import Database
from tests import factory
from tests.factory import Tenant
from tests.faults.conftest import Pair
from tests.faults.gates import DatabaseState, database_state, is_replayed, load, request_id, scan_body
from tests.faults.http_client import Answer, Connection, connections
from tests.faults.races import barrier
from tests.postgres import free_port
from tests.processes import GatepassProcess
from tests.warm.processes import serve

SCANS = 200
# Answers come in batches: all of the last batch may be sent before the process dies. Then the test tries again.
TRIES = 5
# The kill comes with the n-th activation: at the first, under full load, and near the end.
MOMENTS = (1, 10, 60, 100, 130, 160, 190)


@dataclass
class Round:
    """The answers before the process died, and the cards without an answer."""

    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    unanswered: set[str] = field(default_factory=set[str])


async def scan_until_killed(
    victim: GatepassProcess, tenant: Tenant, numbers: list[str], key: str, moment: int
) -> Round:
    """Scan every card at once; with the `moment`-th activation the process gets SIGKILL."""
    done = Round()

    async def one(number: str, connection: Connection) -> None:
        try:
            done.answers[number] = await scan_until_definite(connection, tenant, number)
        except (asyncio.IncompleteReadError, ConnectionError):
            done.unanswered.add(number)
        if len(done.answers) == moment:
            victim.process.send_signal(signal.SIGKILL)

    async with connections((victim,), key, len(numbers)) as opened:
        await asyncio.gather(*(one(number, connection) for number, connection in zip(numbers, opened, strict=True)))
    victim.kill()
    return done


async def scan_until_definite(connection: Connection, tenant: Tenant, number: str) -> Answer:
    """Scan with an idempotency key, and send it again while the answer is 503."""
    while True:
        connection.send(scan_body(tenant, {"card_number": number}, "north"), f"retry of {number}")
        answer = await connection.answer()
        if answer.status_code != 503:
            return answer
        assert answer.headers["x-svc-should-retry"] == "true"


@dataclass(frozen=True)
class Killed:
    """A round that left some scans without an answer, in an organization of its own."""

    tenant: Tenant
    key: str
    numbers: list[str]
    round: Round


async def killed_in_time(settings_env: dict[str, str], db: Database, moment: int) -> Killed:
    for _ in range(TRIES):
        tenant = await factory.tenant(db)
        numbers, key = await load(tenant, SCANS), (await tenant.key()).text
        victim = await asyncio.to_thread(serve, settings_env, free_port())
        done = await scan_until_killed(victim, tenant, numbers, key, moment)
        if done.unanswered:
            return Killed(tenant, key, numbers, done)
    raise AssertionError("the process outlived its work: kill it sooner")


@pytest.mark.parametrize("moment", MOMENTS)
async def test_answers_are_kept_and_a_retry_finds_the_rest(
    pair: Pair, settings_env: dict[str, str], db: Database, moment: int
) -> None:
    killed = await killed_in_time(settings_env, db, moment)
    tenant, numbers, before = killed.tenant, killed.numbers, killed.round
    assert len(before.answers) + len(before.unanswered) == SCANS

    at_once = await database_state(tenant)
    for number, answer in before.answers.items():
        _assert_kept(at_once, number, answer, replayed=False)

    retried = await retry(pair[1], tenant, numbers, killed.key)
    at_end = await database_state(tenant)
    for number, answer in before.answers.items():
        assert is_replayed(retried[number]), "an answer that was given has to come back as the same answer"
        assert retried[number].content == answer.content
        _assert_kept(at_end, number, answer, replayed=False)
    for number in before.unanswered:
        _assert_kept(at_end, number, retried[number], replayed=is_replayed(retried[number]))
    _assert_each_once(at_end, numbers)
    _assert_no_more_logged_than_calls(at_end, before, retried)

    committed_unheard = sum(is_replayed(retried[number]) for number in before.unanswered)
    print(f"killed at {moment}: answered {len(before.answers)}, committed but not answered {committed_unheard}")


async def test_a_scan_that_commits_after_its_process_died_is_replayed(
    pair: Pair, settings_env: dict[str, str], tenant: Tenant
) -> None:
    """The dead process has sent one batch: PostgreSQL commits it without an answer. The other scans are lost."""
    numbers, key = await load(tenant, 6), (await tenant.key()).text
    victim = await asyncio.to_thread(serve, settings_env, free_port())
    async with connections((victim,), key, len(numbers)) as opened, barrier(tenant) as wait_for_batches:
        for number, connection in zip(numbers, opened, strict=True):
            connection.send(scan_body(tenant, {"card_number": number}, "north"), f"retry of {number}")
            await wait_for_batches(1)
        victim.kill()
    retried = await retry(pair[1], tenant, numbers, key)
    found = await database_state(tenant)
    assert is_replayed(retried[numbers[0]]), "the first sending activated the ticket; this one is a replay"
    for number in numbers:
        _assert_kept(found, number, retried[number], replayed=number == numbers[0])
    _assert_each_once(found, numbers)


async def retry(server: GatepassProcess, tenant: Tenant, numbers: list[str], key: str) -> dict[str, Answer]:
    """Send every scan once more with its key, as clients should."""
    async with connections((server,), key, len(numbers)) as opened:
        sent = [
            scan_until_definite(connection, tenant, number) for number, connection in zip(numbers, opened, strict=True)
        ]
        return dict(zip(numbers, await asyncio.gather(*sent), strict=True))


def _assert_kept(found: DatabaseState, number: str, answer: Answer, *, replayed: bool) -> None:
    """The answer and the database agree: ticket, scan, request log and stored answer, each once."""
    assert answer.status_code == 200, (number, answer.content)
    ticket = found.tickets[number]
    assert answer.json()["data"]["ticket_id"] == str(ticket.id)
    assert ticket.activated_at is not None
    assert ticket.activated_by is not None
    assert (ticket.activated_by == request_id(answer)) is not replayed
    assert found.scans[ticket.activated_by] == (number, "activated")
    assert found.request_log[ticket.activated_by] == 200
    assert found.request_log[request_id(answer)] == 200
    assert found.stored_answers[ticket.id] == 1


def _assert_each_once(found: DatabaseState, numbers: list[str]) -> None:
    assert found.tickets.keys() == set(numbers)
    assert all(ticket.activated_at is not None for ticket in found.tickets.values())
    assert sorted(found.scans.values()) == sorted((number, "activated") for number in numbers)
    assert {ticket.activated_by for ticket in found.tickets.values()} == found.scans.keys()
    assert found.stored_answers == {ticket.id: 1 for ticket in found.tickets.values()}


def _assert_no_more_logged_than_calls(found: DatabaseState, before: Round, retried: dict[str, Answer]) -> None:
    """Each definite answer has its row in the request log, and each row its call: the first, or the retry."""
    definite: set[UUID] = {request_id(answer) for answer in (*before.answers.values(), *retried.values())}
    assert definite <= found.request_log.keys()
    activating = {ticket.activated_by for ticket in found.tickets.values()}
    unexplained = [id for id, status in found.request_log.items() if status != 503 and id not in definite | activating]
    assert unexplained == []
