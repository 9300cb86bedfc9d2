"""The history checker finds every broken rule: for each rule, histories that break it."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from gatepass.base.clock import rfc3339
from tests.faults.history_checker import RULES, faults
from tests.faults.records import Exchange, Scan, ScanAnswer, ScanRequest, Tables, Ticket

AT = datetime(2026, 11, 15, 12, tzinfo=UTC)
ORGANIZATION = UUID(int=1)
TICKET_KEY = (ORGANIZATION, UUID(int=2), "SVC 0000 0000 0000")
UNUSED = (ORGANIZATION, UUID(int=2), "SVC 1111 1111 1111")
TICKET = UUID(int=3)


def answer(number: int, status: int, body: dict[str, Any], *, replayed: bool = False) -> ScanAnswer:
    return ScanAnswer(UUID(int=number), status, json.dumps(body).encode(), replayed)


def won(number: int, *, replayed: bool = False, ticket: UUID = TICKET) -> ScanAnswer:
    return answer(number, 200, {"data": {"ticket_id": str(ticket)}}, replayed=replayed)


def lost(number: int, *, replayed: bool = False, **other: str) -> ScanAnswer:
    details = {"activated_at": rfc3339(AT), "gate": "north", "scanner_id": "winner", **other}
    return answer(number, 409, {"code": "already_activated", "details": details}, replayed=replayed)


def reused(number: int) -> ScanAnswer:
    return answer(number, 422, {"code": "idempotency_key_reused"})


def request(scanner: str, idempotency_key: str | None = None, gate: str = "north") -> ScanRequest:
    return ScanRequest(TICKET_KEY, gate, scanner, idempotency_key)


class Run:
    """A history without faults, which a test then breaks. Exchanges have names."""

    def __init__(self) -> None:
        self.exchanges = {
            "winner": Exchange(request("winner", "w"), 1.0, 2.0, won(100)),
            "retry": Exchange(request("winner", "w"), 1.0, 3.0, won(101, replayed=True)),
            "loser": Exchange(request("loser"), 0.5, 1.5, lost(102)),
            "keyed loser": Exchange(request("keyed", "k"), 1.0, 2.0, lost(103)),
            "its retry": Exchange(request("keyed", "k"), 3.0, 4.0, lost(104, replayed=True)),
            "reuse": Exchange(request("other", "k"), 3.0, 4.0, reused(105)),
            "refused": Exchange(request("later"), 3.0, 4.0, answer(106, 503, {"code": "unavailable"})),
            "silent": Exchange(request("silent"), 3.0, 4.0, None, excused=True),
        }
        self.tables = Tables(
            tickets={
                TICKET_KEY: Ticket(TICKET, AT, UUID(int=100), "north", "winner"),
                UNUSED: Ticket(uuid4()),
            },
            scans=[
                Scan(UUID(int=100), TICKET_KEY, "activated", "north", "winner"),
                Scan(UUID(int=102), TICKET_KEY, "already_activated", "north", "loser"),
                Scan(UUID(int=103), TICKET_KEY, "already_activated", "north", "keyed"),
            ],
            stored=[((ORGANIZATION, "w"), "activated"), ((ORGANIZATION, "k"), "already_activated")],
            request_log=[(UUID(int=n), status) for n, status in enumerate((200, 200, 409, 409, 409, 422, 503), 100)],
        )

    def change(self, name: str, **fields: Any) -> None:
        self.exchanges[name] = replace(self.exchanges[name], **fields)

    def ticket(self, **fields: Any) -> None:
        self.tables.tickets = {**self.tables.tickets, TICKET_KEY: replace(self.tables.tickets[TICKET_KEY], **fields)}

    def scan(self, number: int, verdict: str, scanner: str) -> None:
        self.tables.scans = [*self.tables.scans, Scan(UUID(int=number), TICKET_KEY, verdict, "north", scanner)]

    def forget_scan(self, number: int) -> None:
        self.tables.scans = [scan for scan in self.tables.scans if scan.id != UUID(int=number)]

    def request_log(self, number: int, status: int | None) -> None:
        others = [row for row in self.tables.request_log if row[0] != UUID(int=number)]
        self.tables.request_log = others if status is None else [*others, (UUID(int=number), status)]

    def faults(self) -> list[str]:
        return faults(list(self.exchanges.values()), self.tables)


def nothing(_: Run) -> None:
    pass


def winner_is_silent(run: Run) -> None:
    """The killed process had committed: the retry shows it."""
    run.change("winner", answer=None, excused=True)


def winner_was_answered_503(run: Run) -> None:
    run.change("winner", answer=answer(100, 503, {"code": "unavailable"}))


def silent_lost(run: Run) -> None:
    run.scan(900, "already_activated", "silent")
    run.request_log(900, 409)


def batch_was_run_again(run: Run) -> None:
    """The first run committed and its answer was lost: the retry's answer is a replay under the request's own id."""
    run.change("keyed loser", answer=lost(103, replayed=True))


@pytest.mark.parametrize("change", [nothing, winner_is_silent, winner_was_answered_503, silent_lost])
@pytest.mark.parametrize("again", [nothing, batch_was_run_again])
def test_what_can_be_explained_is_no_fault(change: Callable[[Run], None], again: Callable[[Run], None]) -> None:
    run = Run()
    change(run)
    again(run)
    assert run.faults() == []


BROKEN: list[tuple[str, Callable[[Run], None]]] = [
    ("no_answer_is_lost", lambda run: run.change("silent", excused=False)),
    ("every_answer_is_known", lambda run: run.change("loser", answer=answer(102, 404, {"code": "ticket_not_found"}))),
    ("every_answer_is_known", lambda run: run.change("refused", answer=answer(106, 500, {"code": "internal_error"}))),
    ("a_ticket_is_activated_once", lambda run: run.change("loser", answer=won(102))),
    ("a_ticket_is_activated_once", lambda run: run.scan(106, "activated", "later")),
    ("acknowledged_activations_are_kept", lambda run: run.ticket(activated_at=None, activated_by=None)),
    ("acknowledged_activations_are_kept", lambda run: run.change("winner", answer=won(100, ticket=UUID(int=9)))),
    ("the_activating_scan_was_sent", lambda run: run.ticket(activated_by=UUID(int=999))),
    ("the_activating_scan_was_sent", lambda run: run.ticket(gate="south")),
    # A scan that was answered 409 activated the ticket.
    ("the_activating_scan_was_sent", lambda run: run.ticket(activated_by=UUID(int=102), scanner="loser")),
    ("every_200_is_the_winners", lambda run: run.change("loser", answer=won(102, replayed=True))),
    ("every_200_is_the_winners", lambda run: run.change("retry", answer=won(101))),
    ("every_200_is_the_winners", lambda run: run.change("retry", request=request("winner", "another key"))),
    ("no_answer_precedes_the_winner", lambda run: run.change("loser", ended=0.9)),
    ("no_answer_precedes_the_winner", lambda run: run.change("retry", started=0.1, ended=0.9)),
    ("a_conflict_has_a_winner", lambda run: run.ticket(activated_at=None, activated_by=None)),
    ("a_conflict_has_a_winner", lambda run: run.change("loser", request=ScanRequest(UNUSED, "north", "loser"))),
    ("conflicts_name_the_winner", lambda run: run.change("loser", answer=lost(102, gate="south"))),
    ("conflicts_name_the_winner", lambda run: run.change("loser", answer=lost(102, scanner_id="loser"))),
    ("conflicts_name_the_winner", lambda run: run.change("loser", answer=lost(102, activated_at="yesterday"))),
    ("an_idempotency_key_has_one_answer", lambda run: run.change("its retry", answer=won(104, replayed=True))),
    (
        "an_idempotency_key_has_one_answer",
        lambda run: run.change("its retry", answer=lost(104, replayed=True, gate="south")),
    ),
    ("an_idempotency_key_has_one_answer", lambda run: run.change("its retry", answer=lost(104))),
    # Another body under the key was served like the first.
    ("an_idempotency_key_has_one_answer", lambda run: run.change("reuse", answer=lost(105, replayed=True))),
    ("a_key_is_reused_by_another_body_only", lambda run: run.change("reuse", request=request("other", "fresh"))),
    ("a_key_is_reused_by_another_body_only", lambda run: run.change("reuse", started=0.1, ended=0.2)),
    ("a_key_is_reused_by_another_body_only", lambda run: run.change("its retry", answer=reused(104))),
    ("stored_answers_match_the_answers", lambda run: setattr(run.tables, "stored", run.tables.stored[:1])),
    ("stored_answers_match_the_answers", lambda run: setattr(run.tables, "stored", [*run.tables.stored] * 2)),
    (
        "stored_answers_match_the_answers",
        lambda run: run.change("retry", answer=None) or run.change("winner", answer=lost(1)),
    ),
    (
        "stored_answers_match_the_answers",
        lambda run: setattr(run.tables, "stored", [*run.tables.stored, ((ORGANIZATION, "nobody's"), "activated")]),
    ),
    ("every_call_is_in_the_request_log", lambda run: run.request_log(102, None)),
    ("every_call_is_in_the_request_log", lambda run: run.request_log(102, 200)),
    ("every_call_is_in_the_request_log", lambda run: setattr(run.tables, "request_log", [*run.tables.request_log] * 2)),
    ("every_call_is_in_the_request_log", lambda run: (run.request_log(998, 409), run.request_log(999, 409))[0]),
    ("every_decision_is_recorded_once", lambda run: run.forget_scan(103)),
    ("every_decision_is_recorded_once", lambda run: run.scan(102, "already_activated", "loser")),
    ("every_decision_is_recorded_once", lambda run: run.scan(104, "already_activated", "keyed")),
    ("scans_match_the_answers", lambda run: run.forget_scan(102)),
    ("scans_match_the_answers", lambda run: (run.forget_scan(102), run.scan(102, "card_revoked", "loser"))[0]),
    ("every_scan_was_sent", lambda run: run.scan(999, "already_activated", "nobody")),
    ("every_scan_was_sent", lambda run: (run.forget_scan(102), run.scan(102, "already_activated", "keyed"))[0]),
]


@pytest.mark.parametrize(("rule", "spoil"), BROKEN, ids=[f"{n} {rule}" for n, (rule, _) in enumerate(BROKEN)])
def test_a_history_that_breaks_a_rule_is_found(rule: str, spoil: Callable[[Run], None]) -> None:
    run = Run()
    spoil(run)
    assert rule in {fault.partition(":")[0] for fault in run.faults()}


def test_each_rule_is_broken_by_some_history() -> None:
    assert {rule for rule, _ in BROKEN} == {rule.__name__ for rule in RULES}
