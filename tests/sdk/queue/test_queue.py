"""`ScanQueue` against the real service, over networks that work, are down, or lose answers."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import psycopg
import pytest

from gatepass.domain.keys import Mode
from gatepass_sdk import (
    SANDBOX_EVENT_ID,
    APIConnectionError,
    AuthenticationError,
    Gatepass,
    NotFound,
    PermissionDenied,
    ScanQueue,
    ServerError,
    Verdict,
)
from tests import factory
from tests.postgres import free_port
from tests.sdk.stack import Stack


class TamperingTransport(httpx2.BaseTransport):
    """The network. `tamper` gets the request and its answer, and may lose the answer or replace it."""

    def __init__(self, tamper: Callable[[httpx2.Request, httpx2.Response], httpx2.Response | None]) -> None:
        self._real = httpx2.HTTPTransport()
        self._tamper = tamper
        self._lock = threading.Lock()
        self._in_flight = 0
        self.most_at_once = 0

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        with self._lock:
            self._in_flight += 1
            self.most_at_once = max(self._in_flight, self.most_at_once)
        real = self._real.handle_request(request)
        real.read()
        real.close()
        answer = self._tamper(request, real)
        with self._lock:
            self._in_flight -= 1
        if answer is None:
            raise httpx2.ReadError("The line was cut.", request=request)
        return answer

    def close(self) -> None:
        self._real.close()


@pytest.fixture
def queue(tmp_path: Path) -> Generator[ScanQueue]:
    with ScanQueue(tmp_path / "scans.db") as opened:
        yield opened


@pytest.fixture
def client(stack: Stack) -> Generator[Gatepass]:
    with Gatepass(stack.key("live"), base_url=stack.base_url) as made:
        yield made


@contextmanager
def client_over(stack: Stack, transport: TamperingTransport) -> Generator[Gatepass]:
    with httpx2.Client(transport=transport) as http:
        yield Gatepass(stack.key("live"), base_url=stack.base_url, max_retries=0, http_client=http)


def drained(queue: ScanQueue, client: Gatepass) -> list[Verdict]:
    assert queue.drain(client).stopped_by is None
    return list(queue.verdicts())


def test_a_scan_is_answered_later_as_it_would_have_been_then(stack: Stack, queue: ScanQueue, client: Gatepass) -> None:
    card, then = stack.unused(), datetime.now(UTC) - timedelta(hours=5)
    id = queue.add(stack.event_id, token=card["token"], scanner_id="s-1", gate="North", occurred_at=then)
    assert (queue.waiting, queue.settled) == (1, 0)
    (verdict,) = drained(queue, client)
    assert verdict.ticket is not None
    assert verdict.ticket.category_name == card["category_name"]
    assert (verdict.id, verdict.card, verdict.occurred_at) == (id, card["card_number"], then)
    assert (verdict.code, verdict.replayed, verdict.idempotency_key) == (None, False, verdict.ticket.idempotency_key)
    assert (queue.waiting, queue.settled, queue.unreported) == (0, 1, 0)
    with psycopg.connect(stack.database_url) as db:
        found = db.execute("SELECT occurred_at, gate, scanner_id FROM scan WHERE card_number = %s", [verdict.card])
        assert found.fetchall() == [(then, "North", "s-1")]


def test_scans_of_one_card_go_in_order_whatever_was_shown(stack: Stack, queue: ScanQueue, client: Gatepass) -> None:
    card = stack.unused()
    number = card["card_number"]
    ids = [
        queue.add(stack.event_id, card_number=number.lower().replace(" ", "-")),
        queue.add(stack.event_id, token=card["token"]),
        queue.add(stack.event_id, card_number=number),
    ]
    verdicts = drained(queue, client)
    assert [(one.id, one.code) for one in verdicts] == [
        (ids[0], None),
        (ids[1], "already_activated"),
        (ids[2], "already_activated"),
    ]
    assert {one.card for one in verdicts} == {number}
    assert not any(one.probably_ours for one in verdicts)


def test_cards_go_side_by_side(stack: Stack, queue: ScanQueue) -> None:
    """Answers are held back until there are eight: with fewer at once the test would never end."""
    together = threading.Barrier(8, timeout=60)

    def hold(_request: httpx2.Request, answer: httpx2.Response) -> httpx2.Response:
        together.wait()
        return answer

    for card in [stack.unused() for _ in range(16)]:
        queue.add(stack.event_id, token=card["token"])
    with client_over(stack, TamperingTransport(hold)) as client:
        assert queue.drain(client, workers=8).settled == 16


def test_one_card_shown_often_is_sent_one_by_one(stack: Stack, queue: ScanQueue) -> None:
    card, transport = stack.unused(), TamperingTransport(lambda _request, answer: answer)
    for _ in range(6):
        queue.add(stack.event_id, token=card["token"])
        queue.add(stack.event_id, card_number=card["card_number"])
    with client_over(stack, transport) as client:
        verdicts = drained(queue, client)
    assert [one.status for one in verdicts] == [200] + [409] * 11
    assert transport.most_at_once == 1


def test_without_a_network_scans_stay(stack: Stack, queue: ScanQueue, client: Gatepass) -> None:
    card = stack.unused()
    queue.add(stack.event_id, token=card["token"])
    with Gatepass(stack.key("live"), base_url=f"http://127.0.0.1:{free_port()}", scan_deadline=0.3) as offline:
        result = queue.drain(offline)
    assert isinstance(result.stopped_by, APIConnectionError)
    assert (result.settled, result.waiting, queue.unreported) == (0, 1, 0)
    (verdict,) = drained(queue, client)
    assert verdict.ticket is not None


@pytest.mark.parametrize(("key", "error"), [("revoked", AuthenticationError), ("events_read", PermissionDenied)])
def test_a_key_that_is_not_accepted_is_no_verdict(
    stack: Stack, queue: ScanQueue, client: Gatepass, key: str, error: type[Exception]
) -> None:
    queue.add(stack.event_id, token=stack.unused()["token"])
    with Gatepass(stack.key(key), base_url=stack.base_url) as refused, pytest.raises(error):
        queue.drain(refused)
    assert (queue.waiting, queue.unreported) == (1, 0)
    assert drained(queue, client)[0].ticket is not None


def test_a_wrong_address_is_no_verdict(stack: Stack, queue: ScanQueue) -> None:
    queue.add(stack.event_id, token=stack.unused()["token"])
    with (
        Gatepass(stack.key("live"), base_url=stack.base_url + "/elsewhere") as lost,
        pytest.raises(NotFound, match="not_found"),
    ):
        queue.drain(lost)
    assert queue.waiting == 1


def test_a_scan_that_is_too_old_gets_its_verdict(stack: Stack, queue: ScanQueue, client: Gatepass) -> None:
    then = datetime.now(UTC) - timedelta(hours=73)
    queue.add(stack.event_id, token=stack.unused()["token"], occurred_at=then)
    (verdict,) = drained(queue, client)
    assert (verdict.status, verdict.code, verdict.outcome_unknown) == (400, "invalid_request", False)
    assert verdict.message
    assert "72 hours" in verdict.message


def test_a_lost_answer_is_asked_for_again_and_is_a_replay(stack: Stack, queue: ScanQueue, client: Gatepass) -> None:
    used, fresh = stack.demo["cards"]["activated"], stack.unused()
    queue.add(stack.event_id, token=fresh["token"])
    queue.add(stack.event_id, card_number=used["card_number"])
    with client_over(stack, TamperingTransport(lambda _request, _answer: None)) as losing:
        assert queue.drain(losing).settled == 0
    activated, refused = drained(queue, client)
    assert activated.ticket is not None
    assert (activated.replayed, refused.replayed, refused.code) == (True, True, "already_activated")
    assert stack.activations()[fresh["card_number"]] == 1


def test_one_scan_without_an_answer_does_not_stop_the_others(stack: Stack, queue: ScanQueue, client: Gatepass) -> None:
    cards = [stack.unused() for _ in range(30)]
    for card in [cards[0], *cards]:
        queue.add(stack.event_id, token=card["token"])

    def faulty(request: httpx2.Request, answer: httpx2.Response) -> httpx2.Response:
        if cards[0]["token"].encode() not in request.read():
            return answer
        return httpx2.Response(500, json={"error": "A fault of ours.", "code": "internal_error"})

    with client_over(stack, TamperingTransport(faulty)) as failing:
        result = queue.drain(failing)
    assert (result.settled, result.waiting, result.stopped_by) == (29, 2, None)
    assert {one.card for one in queue.verdicts()} == {card["card_number"] for card in cards[1:]}
    first, second = drained(queue, client)
    assert (first.ticket is not None, first.replayed, second.code) == (True, True, "already_activated")


def test_a_service_that_answers_nobody_is_left_alone(stack: Stack, queue: ScanQueue) -> None:
    keys: list[str] = []

    def down(request: httpx2.Request, answer: httpx2.Response) -> httpx2.Response:
        keys.append(request.headers["Idempotency-Key"])
        return httpx2.Response(503, json={"error": "Too much to do.", "code": "overloaded"})

    for _ in range(40):
        queue.add(stack.event_id, token=stack.unused()["token"])
    with client_over(stack, TamperingTransport(down)) as client:
        result = queue.drain(client, workers=2)
    assert isinstance(result.stopped_by, ServerError)
    assert (result.settled, result.waiting) == (0, 40)
    assert len(keys) < 15


async def test_the_rate_of_a_key_is_waited_for(stack: Stack, queue: ScanQueue) -> None:
    """This key allows 20 calls at once, and then 10 per second."""
    for _ in range(15):
        queue.add(SANDBOX_EVENT_ID, card_number="TEST_VALID")
        queue.add(SANDBOX_EVENT_ID, token="SVC1.TEST_USED.0.0")
    db = factory.database(stack.database_url)
    key = await (await factory.tenant(db)).key(mode=Mode.SANDBOX, rate=10)
    await db.close()
    statuses: list[int] = []
    with httpx2.Client(event_hooks={"response": [lambda answer: statuses.append(answer.status_code)]}) as http:
        client = Gatepass(key.text, base_url=stack.base_url, http_client=http)
        verdicts = await asyncio.to_thread(drained, queue, client)
    assert 429 in statuses
    assert Counter((one.card, one.code) for one in verdicts) == {
        ("TEST_VALID", None): 15,
        ("TEST_USED", "already_activated"): 15,
    }
