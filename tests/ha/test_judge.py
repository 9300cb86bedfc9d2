"""The judge finds what it is there to find: a real run is clean, and each way to spoil it is seen."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args
from uuid import UUID, uuid4

import pytest

from gatepass.base.ids import new_id, request_id
from gatepass.domain.webhooks import written_id
from tests.ha.explainable import EXPLAINABLE
from tests.ha.journal import Attempt, Ended, FeedPage, Outcome, Scan
from tests.ha.judge import Judgement, judge
from tests.ha.recorded_run import RecordedRun, record
from tests.ha.violation import Kind
from tests.postgres import Cluster

Change = Callable[[RecordedRun], None]
Judge = Callable[[Change], Awaitable[Judgement]]


@pytest.fixture(scope="module")
async def recorded(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The name of the run's database, to which nobody is connected any more, and the folder of its files."""
    folder = tmp_path_factory.mktemp("recorded")
    url = cluster.create_migrated("gatepass_recorded")
    await record(url, folder)
    return "gatepass_recorded", folder


@pytest.fixture
def judged(cluster: Cluster, recorded: tuple[str, Path], tmp_path: Path) -> Judge:
    """Judges a copy of the run after a change."""
    name, folder = recorded

    async def judge_changed(change: Change) -> Judgement:
        run = RecordedRun.read(folder)
        change(run)
        run.write(tmp_path)
        url = run.spoil_copy(cluster, name) if run.statements else cluster.url(name)
        return await judge(
            tmp_path / "journal.jsonl", folder / "world.json", tmp_path / "received.jsonl", url, fault_at=None
        )

    return judge_changed


async def test_a_true_run_is_clean(judged: Judge) -> None:
    found = await judged(lambda _: None)
    assert (found.violations, found.examples) == ({}, [])
    assert found.counts["activations"] > 50
    assert found.counts["conflicts"] > 20
    assert found.counts["replays"] > 5
    assert found.counts["told by the feed"] == found.counts["webhooks received"] == found.counts["activations"]
    assert 0 < found.gap["all"] <= max(found.gap["north"], found.gap["south"]) < 3


def id_of(one: Attempt) -> UUID:
    found = request_id(one.request_id or "")
    assert found
    return found


@pytest.mark.parametrize("change", EXPLAINABLE)
async def test_what_can_be_explained_is_no_violation(judged: Judge, change: Change) -> None:
    found = await judged(change)
    assert (found.violations, found.examples) == ({}, [])


def loses_a_ticket(run: RecordedRun) -> None:
    run.run("DELETE FROM ticket WHERE activated_by = %s", id_of(run.contested()))


def unused_again(run: RecordedRun) -> None:
    run.run(
        "UPDATE ticket SET activated_at = NULL, activated_by = NULL, activated_gate = NULL, activated_scanner_id = NULL"
        " WHERE activated_by = %s",
        id_of(run.contested()),
    )


def another_has_won(run: RecordedRun) -> None:
    one, other = run.contested(), run.answer(409)
    run.run(
        "UPDATE ticket SET activated_by = %s, activated_scanner_id = %s WHERE activated_by = %s",
        id_of(other),
        other.key,
        id_of(one),
    )


def both_were_let_in(run: RecordedRun) -> None:
    """The loser of a race was answered as the winner was."""
    cards = {scan.key: scan.card for scan in run.every(Scan)}
    one = run.contested()
    loser = next(
        other
        for other in run.every(Attempt)
        if other.key and other.status == 409 and cards[other.key] == cards[str(one.key)] and not other.replayed
    )
    run.change(loser, status=200, code=None, body=one.body)


def activated_twice(run: RecordedRun) -> None:
    run.run(
        "INSERT INTO scan (organization_id, at, id, mode, key_id, event_id, card_number, card_id, ticket_id, verdict)"
        " SELECT organization_id, at, %s, mode, key_id, event_id, card_number, card_id, ticket_id, verdict"
        " FROM scan WHERE id = %s",
        uuid4(),
        id_of(run.answer(200)),
    )


def no_answer_to_a_key(run: RecordedRun) -> None:
    one = run.answer(409)
    run.forget(*[other for other in run.every(Attempt) if other.key == one.key])
    run.records.append(replace(one, status=None, code=None, request_id=None, body="", error="timeout"))


def another_answer_the_second_time(run: RecordedRun) -> None:
    one = run.answer(200, replayed=True)
    run.change(one, body=one.body.replace('"ticket_id"', ' "ticket_id"'))


def refused_before_the_winner_came(run: RecordedRun) -> None:
    """The answer 409 ended before the winner was sent."""
    one = run.contested()
    run.change(one, begin=one.begin + 100, end=one.end + 100)


def swapped_in_the_feed(run: RecordedRun) -> None:
    page = next(page for page in run.every(FeedPage) if len(page.ids) > 1)
    run.change(page, ids=page.ids[::-1])


def told_otherwise(run: RecordedRun) -> None:
    told = next(one for one in run.every(Outcome) if one.verdict == "activated")
    run.change(told, verdict="already_activated")


def certain_of_a_failure(run: RecordedRun) -> None:
    """The SDK said that nothing had happened, and the scan of that answer had won."""
    one = run.answer(200)
    run.change(one, status=503, code="unavailable", body='{"code": "unavailable"}')
    run.records.append(replace(one, begin=one.end + 1, end=one.end + 2, replayed=True, request_id="req_" + "0" * 32))
    run.records.append(Outcome(one.end, str(one.key), "unavailable", unknown=False))


def green_in_an_outage(run: RecordedRun) -> None:
    run.scans(1, 8, succeed=False)


def green_again_in_an_outage(run: RecordedRun) -> None:
    run.scans(1, 8, succeed=False)
    run.readyz((2, 503), (4, 200))


def red_after_an_outage(run: RecordedRun) -> None:
    run.scans(1, 2, succeed=False)
    run.scans(3, 4, succeed=True)
    run.readyz((1.5, 503))


def late_503(run: RecordedRun) -> None:
    begin = run.ends + 1
    run.records.append(Attempt("north", "/webhook-events", begin, begin + 3.3, status=503, code="unavailable"))


def hung_up_on(run: RecordedRun) -> None:
    """The SDK waits for 3.5 seconds; the process was alive."""
    run.records.append(Attempt("north", "/webhook-events", run.ends, run.ends + 3.5, error="timeout"))


def gone_from(table: str, run: RecordedRun, status: int = 200) -> None:
    run.run(f"DELETE FROM {table} WHERE id = %s", id_of(run.answer(status)))


def unlogged(run: RecordedRun) -> None:
    run.run("UPDATE scan SET status = NULL WHERE id = %s", id_of(run.answer(409)))


def changed(run: RecordedRun, **fields: object) -> None:
    run.change(run.answer(409), **fields)


SPOILED: list[tuple[Kind, Change]] = [
    ("lost", unused_again),
    ("lost", loses_a_ticket),
    ("lost", another_has_won),
    ("double", both_were_let_in),
    ("double", activated_twice),
    ("wrong_verdict", lambda run: changed(run, status=404, code="card_not_found", body='{"code": "card_not_found"}')),
    ("wrong_verdict", lambda run: changed(run, status=429, code="rate_limited", body='{"code": "rate_limited"}')),
    ("wrong_verdict", lambda run: run.records.append(Attempt("north", "/webhook-events", 1, 1, status=401))),
    ("http_500", lambda run: changed(run, status=500, code="internal_error", body='{"code": "internal_error"}')),
    ("http_500", lambda run: run.records.append(Attempt("north", "/webhook-events", 1, 1, status=502))),
    ("http_500", lambda run: run.records.append(Attempt("north", "/webhook-events", 1, 1, status=503))),
    ("unresolved", no_answer_to_a_key),
    ("unresolved", lambda run: run.forget(*run.every(Ended))),
    ("replay_differs", another_answer_the_second_time),
    ("not_linearizable", unused_again),
    ("not_linearizable", refused_before_the_winner_came),
    (
        "not_linearizable",
        lambda run: run.run(
            "UPDATE ticket SET activated_gate = 'elsewhere' WHERE activated_by = %s", id_of(run.contested())
        ),
    ),
    (
        "stored_answer",
        lambda run: run.run(
            "DELETE FROM idempotency WHERE ticket_id = (SELECT id FROM ticket WHERE activated_by = %s)",
            id_of(run.answer(200)),
        ),
    ),
    ("scan_record", lambda run: gone_from("scan", run, 409)),
    ("request_log", unlogged),
    ("sdk_outcome", told_otherwise),
    ("sdk_outcome", certain_of_a_failure),
    ("outbox", lambda run: gone_from("webhook_event", run)),
    ("missing_webhook", lambda run: run.received.__delitem__(0)),
    ("missing_feed", lambda run: run.change(run.every(FeedPage)[0], ids=[])),
    ("untrue_message", lambda run: gone_from("webhook_event", run)),
    ("untrue_message", lambda run: run.received.append({**run.received[0], "id": written_id(new_id())})),
    ("untrue_message", lambda run: run.records.append(FeedPage(1, "north", [written_id(new_id())], None))),
    ("feed_order", swapped_in_the_feed),
    ("bad_signature", lambda run: run.received.append({**run.received[0], "verified": False})),
    ("late_answer", late_503),
    ("late_answer", hung_up_on),
    ("not_ready_late", green_in_an_outage),
    ("not_ready_late", green_again_in_an_outage),
    ("ready_late", red_after_an_outage),
]


@pytest.mark.parametrize(("kind", "spoil"), SPOILED, ids=[f"{n} {kind}" for n, (kind, _) in enumerate(SPOILED)])
async def test_what_is_spoiled_is_found(judged: Judge, kind: Kind, spoil: Change) -> None:
    found = await judged(spoil)
    assert found.violations.get(kind), found.as_json()
    assert any(example.startswith(f"{kind}: ") for example in found.examples)


def test_each_kind_is_spoiled_in_some_way() -> None:
    assert {kind for kind, _ in SPOILED} == set(get_args(Kind))
