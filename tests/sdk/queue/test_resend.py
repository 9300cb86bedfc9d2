"""`resend_scans` against the real service, after rows were taken out of its database as a restore would."""

import itertools
import multiprocessing
import random
import signal
import sqlite3
from collections.abc import Callable, Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from gatepass_sdk import (
    APIConnectionError,
    AuthenticationError,
    Gatepass,
    QueueError,
    QueueInUse,
    Resent,
    ScanQueue,
    resend_scans,
)
from gatepass_sdk.testing import FakeGatepass
from tests.postgres import free_port
from tests.sdk.queue.crash_points import Failpoint, resend
from tests.sdk.stack import Stack

GATES = ("North", "South", "West")
KILLED_WITHIN = 60
FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(["tests.sdk.queue.crash_points"])


@pytest.fixture
def client(stack: Stack) -> Generator[Gatepass]:
    with Gatepass(stack.key("live"), base_url=stack.base_url) as made:
        yield made


@pytest.fixture
def since() -> datetime:
    """A time before all scans of the test."""
    return datetime.now(UTC)


class Venue:
    """Gates with a queue each; all of them scan all cards, so that each ticket has one winner and two losers."""

    def __init__(self, stack: Stack, folder: Path, client: Gatepass, number: int = 1) -> None:
        self.cards = [stack.unused() for _ in range(number)]
        self.numbers = [card["card_number"] for card in self.cards]
        self.paths = [folder / f"{gate}.db" for gate in GATES]
        self.stack = stack
        orders = itertools.cycle(itertools.permutations(zip(GATES, self.paths, strict=True)))
        for card, order in zip(self.cards, orders, strict=False):
            for place, (gate, path) in enumerate(order):
                scan(path, stack, client, gate, card, by_token=place % 2 == 0)
        self.winners = self.activations()
        assert len(self.winners) == number

    def activations(self) -> dict[str, tuple[str, datetime]]:
        """Who activated the ticket of each card, and when the card was shown."""
        with psycopg.connect(self.stack.database_url) as db:
            found = db.execute(ACTIVATIONS, [self.numbers]).fetchall()
        assert len({number for number, *_ in found}) == len(found), "a ticket was activated twice"
        return {number: (scanner, occurred_at) for number, scanner, occurred_at in found}

    def lose(self, *statements: str) -> None:
        with psycopg.connect(self.stack.database_url) as db:
            for statement in statements:
                db.execute(statement.encode(), [self.numbers])


def scan(
    path: Path, stack: Stack, client: Gatepass, gate: str, card: dict[str, str], *, by_token: bool = False
) -> None:
    with ScanQueue(path) as queue:
        queue.add(
            stack.event_id,
            gate=gate,
            scanner_id=f"scanner {gate}",
            token=card["token"] if by_token else None,
            card_number=None if by_token else card["card_number"].lower(),
        )
        assert queue.drain(client).stopped_by is None


def counts(result: Resent) -> dict[str, int]:
    kinds = {"conflicts": result.conflicts, "refused": result.refused, "missing": result.missing}
    found = {"restored": result.restored, "present": result.present, "unanswered": result.unanswered}
    return {
        name: number for name, number in (found | {name: len(all) for name, all in kinds.items()}).items() if number
    }


def test_what_was_lost_is_there_again_with_the_same_winner(
    stack: Stack, tmp_path: Path, client: Gatepass, since: datetime
) -> None:
    venue = Venue(stack, tmp_path, client, 12)
    venue.numbers, kept = venue.numbers[3:], venue.numbers
    venue.lose(*LOST)
    assert venue.activations() == {}
    venue.numbers = kept
    paths = random.Random(7).sample(venue.paths, 3)
    first = resend_scans(paths, client, since=since)
    assert counts(first) == {"restored": 9, "present": 3}
    assert first.is_complete
    assert venue.activations() == venue.winners
    again = resend_scans(venue.paths, client, since=since)
    assert counts(again) == {"present": 12}
    assert venue.activations() == venue.winners


def test_one_gate_may_send_its_own(stack: Stack, tmp_path: Path, client: Gatepass, since: datetime) -> None:
    venue = Venue(stack, tmp_path, client, 6)
    venue.lose(*LOST)
    for path in reversed(venue.paths):
        with ScanQueue(path) as queue:
            assert queue.resend(client, since=since).restored == 2
    assert venue.activations() == venue.winners


def test_another_winner_since_then_is_a_conflict(
    stack: Stack, tmp_path: Path, client: Gatepass, since: datetime
) -> None:
    venue = Venue(stack, tmp_path, client)
    venue.lose(*LOST)
    client.scans.create(stack.event_id, card_number=venue.numbers[0], gate="East", scanner_id="scanner East")
    for _ in range(2):
        result = resend_scans(venue.paths, client, since=since)
        assert counts(result) == {"conflicts": 1}
        assert not result.is_complete
        (conflict,) = result.conflicts
        assert (conflict.card, conflict.gate, conflict.details["gate"]) == (venue.numbers[0], "North", "East")


def test_a_ticket_that_was_lost_too_is_refused_until_it_is_back(
    stack: Stack, tmp_path: Path, client: Gatepass, since: datetime
) -> None:
    venue = Venue(stack, tmp_path, client)
    venue.lose(*LOST, SUSPEND)
    for _ in range(3):
        result = resend_scans(venue.paths, client, since=since)
        assert counts(result) == {"refused": 1}
        assert result.refused[0].code == "card_suspended"
    venue.lose(RESUME)
    assert counts(resend_scans(venue.paths, client, since=since)) == {"restored": 1}
    assert counts(resend_scans(venue.paths, client, since=since)) == {"present": 1}
    assert venue.activations() == venue.winners


def test_an_activation_whose_file_is_missing_is_named(
    stack: Stack, tmp_path: Path, client: Gatepass, since: datetime
) -> None:
    venue = Venue(stack, tmp_path, client)
    venue.lose(*LOST)
    result = resend_scans(venue.paths[1:], client, since=since)
    assert counts(result) == {"missing": 1}
    assert (result.missing[0].card, result.missing[0].details["gate"]) == (venue.numbers[0], "North")
    assert venue.activations() == {}


def test_only_what_was_acknowledged_after_the_moment_is_sent(
    stack: Stack, tmp_path: Path, client: Gatepass, since: datetime
) -> None:
    venue = Venue(stack, tmp_path, client)
    assert counts(resend_scans(venue.paths, client, since=since + timedelta(minutes=3))) == {}


@pytest.mark.parametrize(("hours", "found"), [(25, "present"), (1, "conflicts")])
def test_an_activation_whose_key_is_forgotten_is_known_by_its_scanner(
    stack: Stack, tmp_path: Path, client: Gatepass, since: datetime, hours: int, found: str
) -> None:
    """The service keeps keys for 24 hours at least; earlier, an unknown key means that another scan won."""
    venue = Venue(stack, tmp_path, client)
    venue.lose(FORGET)
    with sqlite3.connect(venue.paths[0]) as db:
        db.execute("UPDATE scan SET sent_at = ?", [(datetime.now(UTC) - timedelta(hours=hours)).isoformat()])
    db.close()
    assert counts(resend_scans(venue.paths, client, since=since)) == {found: 1}


def test_without_a_service_nothing_is_lost(stack: Stack, tmp_path: Path, client: Gatepass, since: datetime) -> None:
    venue = Venue(stack, tmp_path, client, 6)
    venue.lose(*LOST)
    with Gatepass(stack.key("live"), base_url=f"http://127.0.0.1:{free_port()}", scan_deadline=0.3) as offline:
        result = resend_scans(venue.paths, offline, since=since, workers=1)
    assert isinstance(result.stopped_by, APIConnectionError)
    assert counts(result) == {"unanswered": 6}
    with Gatepass(stack.key("revoked"), base_url=stack.base_url) as refused, pytest.raises(AuthenticationError):
        resend_scans(venue.paths, refused, since=since)
    assert counts(resend_scans(venue.paths, client, since=since)) == {"restored": 6}


def test_killed_in_the_middle_and_run_again(stack: Stack, tmp_path: Path, client: Gatepass, since: datetime) -> None:
    venue = Venue(stack, tmp_path, client, 40)
    venue.lose(*LOST)
    before = 0
    for n, point in enumerate([Failpoint.SENT, Failpoint.ANSWERED, Failpoint.SENT, Failpoint.ANSWERED], 1):
        exit_code, in_flight = resend_process(venue, stack, since, point, 5 * n)
        assert (exit_code, in_flight > 0) == (-signal.SIGKILL, True)
        done = venue.activations()
        assert before <= len(done) < 40
        assert done.items() <= venue.winners.items()
        before = len(done)
    assert before > 0
    result = resend_scans(venue.paths, client, since=since)
    assert result.is_complete
    assert result.restored + result.present == 40
    assert venue.activations() == venue.winners


def resend_process(
    venue: Venue, stack: Stack, since: datetime, failpoint: Failpoint, countdown: int
) -> tuple[int | None, int]:
    in_flight, (ours, theirs) = FORKING.RawValue("i", 0), FORKING.Pipe(duplex=False)
    server = (stack.base_url, stack.key("live"))
    arguments = ([str(path) for path in venue.paths], since, server, (failpoint, countdown), in_flight, theirs)
    process = FORKING.Process(target=resend, args=arguments, daemon=True)
    process.start()
    theirs.close()
    process.join(KILLED_WITHIN)
    ours.close()
    return process.exitcode, in_flight.value


def test_a_queue_in_use_or_not_there_is_an_error(tmp_path: Path, client: Gatepass, since: datetime) -> None:
    path = tmp_path / "scans.db"
    with pytest.raises(QueueError, match="no such file"):
        resend_scans([path], client, since=since)
    assert not path.exists()
    ScanQueue(path).close()
    with pytest.raises(QueueInUse):
        resend_scans([path, path], client, since=since)


WRONG: list[Callable[[Path, Gatepass], object]] = [
    lambda path, client: resend_scans([path], client, since=datetime.now(UTC).replace(tzinfo=None)),
    lambda path, client: resend_scans([path], client, since=datetime.now(UTC), workers=0),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_arguments_are_errors(
    tmp_path: Path, client: Gatepass, wrong: Callable[[Path, Gatepass], object]
) -> None:
    path = tmp_path / "scans.db"
    ScanQueue(path).close()
    with pytest.raises(ValueError, match=r"zone|worker"):
        wrong(path, client)


def test_the_fake_takes_them_as_the_service_does(tmp_path: Path, since: datetime) -> None:
    with FakeGatepass() as fake, ScanQueue(tmp_path / "scans.db") as queue:
        client = fake.client(live=True)
        lost, lost_with_its_card = fake.issue(), fake.issue()
        for card in (lost, lost_with_its_card):
            queue.add(card.event_id, token=card.token, gate="North")
        queue.drain(client)
    with FakeGatepass() as restored, ScanQueue(tmp_path / "scans.db") as queue:
        assert restored.issue().card_number == lost.card_number
        result = queue.resend(restored.client(live=True), since=since)
        assert counts(result) == {"restored": 1, "refused": 1}
        assert result.refused[0].code == "card_not_found"


ACTIVATIONS = """
    SELECT c.number, t.activated_scanner_id, s.occurred_at
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id
      JOIN scan s ON s.organization_id = t.organization_id AND s.ticket_id = t.id AND s.verdict = 'activated'
     WHERE c.number = ANY (%s)
       AND t.activated_at IS NOT NULL
"""
FORGET = """
    DELETE FROM idempotency WHERE ticket_id IN (SELECT t.id FROM ticket t JOIN card c ON c.id = t.card_id
                                                 WHERE c.number = ANY (%s))
"""
LOST = (
    FORGET,
    "DELETE FROM scan WHERE card_number = ANY (%s)",
    """
    UPDATE ticket SET activated_at = NULL, activated_by = NULL, activated_gate = NULL, activated_scanner_id = NULL
     WHERE card_id IN (SELECT id FROM card WHERE number = ANY (%s))
    """,
)
SUSPEND = "UPDATE card SET status = 'suspended' WHERE number = ANY (%s)"
RESUME = "UPDATE card SET status = 'active' WHERE number = ANY (%s)"
