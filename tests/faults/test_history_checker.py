"""The history checker finds out what it is there to find out: for each rule, histories that break it."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from gatepass.base.clock import rfc3339
from tests.faults.history import RULES, faults
from tests.faults.records import Asked, Request, Scan, Tables, Ticket, Told

AT = datetime(2026, 11, 15, 12, tzinfo=UTC)
ORGANIZATION = UUID(int=1)
PLACE = (ORGANIZATION, UUID(int=2), "SVC 0000 0000 0000")
UNUSED = (ORGANIZATION, UUID(int=2), "SVC 1111 1111 1111")
TICKET = UUID(int=3)


def told(number: int, status: int, body: dict[str, Any], *, replayed: bool = False) -> Told:
    return Told(UUID(int=number), status, json.dumps(body).encode(), replayed)


def won(number: int, *, replayed: bool = False, ticket: UUID = TICKET) -> Told:
    return told(number, 200, {"data": {"ticket_id": str(ticket)}}, replayed=replayed)


def lost(number: int, *, replayed: bool = False, **other: str) -> Told:
    details = {"activated_at": rfc3339(AT), "gate": "north", "scanner_id": "winner", **other}
    return told(number, 409, {"code": "already_activated", "details": details}, replayed=replayed)


def reused(number: int) -> Told:
    return told(number, 422, {"code": "idempotency_key_reused"})


def asked(scanner: str, retry_key: str | None = None, gate: str = "north") -> Asked:
    return Asked(PLACE, gate, scanner, retry_key)


class Run:
    """A good history; a test spoils it. Requests are known by name."""

    def __init__(self) -> None:
        self.requests = {
            "winner": Request(asked("winner", "w"), 1.0, 2.0, won(100)),
            "retry": Request(asked("winner", "w"), 1.0, 3.0, won(101, replayed=True)),
            "loser": Request(asked("loser"), 0.5, 1.5, lost(102)),
            "keyed loser": Request(asked("keyed", "k"), 1.0, 2.0, lost(103)),
            "its retry": Request(asked("keyed", "k"), 3.0, 4.0, lost(104, replayed=True)),
            "reuse": Request(asked("other", "k"), 3.0, 4.0, reused(105)),
            "refused": Request(asked("later"), 3.0, 4.0, told(106, 503, {"code": "unavailable"})),
            "silent": Request(asked("silent"), 3.0, 4.0, None, excused=True),
        }
        self.tables = Tables(
            tickets={
                PLACE: Ticket(TICKET, AT, UUID(int=100), "north", "winner"),
                UNUSED: Ticket(uuid4()),
            },
            scans=[
                Scan(UUID(int=100), PLACE, "activated", "north", "winner"),
                Scan(UUID(int=102), PLACE, "already_activated", "north", "loser"),
                Scan(UUID(int=103), PLACE, "already_activated", "north", "keyed"),
            ],
            kept=[((ORGANIZATION, "w"), "activated"), ((ORGANIZATION, "k"), "already_activated")],
            audit=[(UUID(int=n), status) for n, status in enumerate((200, 200, 409, 409, 409, 422, 503), 100)],
        )

    def change(self, name: str, **fields: Any) -> None:
        self.requests[name] = replace(self.requests[name], **fields)

    def ticket(self, **fields: Any) -> None:
        self.tables.tickets = {**self.tables.tickets, PLACE: replace(self.tables.tickets[PLACE], **fields)}

    def scan(self, number: int, verdict: str, scanner: str) -> None:
        self.tables.scans = [*self.tables.scans, Scan(UUID(int=number), PLACE, verdict, "north", scanner)]

    def forget_scan(self, number: int) -> None:
        self.tables.scans = [scan for scan in self.tables.scans if scan.id != UUID(int=number)]

    def audit(self, number: int, status: int | None) -> None:
        others = [row for row in self.tables.audit if row[0] != UUID(int=number)]
        self.tables.audit = others if status is None else [*others, (UUID(int=number), status)]

    def faults(self) -> list[str]:
        return faults(list(self.requests.values()), self.tables)


def nothing(_: Run) -> None:
    pass


def winner_is_silent(run: Run) -> None:
    """What was killed had committed: its retry tells."""
    run.change("winner", told=None, excused=True)


def winner_was_told_503(run: Run) -> None:
    run.change("winner", told=told(100, 503, {"code": "unavailable"}))


def silent_lost(run: Run) -> None:
    run.scan(900, "already_activated", "silent")
    run.audit(900, 409)


def batch_was_run_again(run: Run) -> None:
    """The first run committed and nobody heard: the answer is a replay under the request's own id."""
    run.change("keyed loser", told=lost(103, replayed=True))


@pytest.mark.parametrize("change", [nothing, winner_is_silent, winner_was_told_503, silent_lost])
@pytest.mark.parametrize("again", [nothing, batch_was_run_again])
def test_what_can_be_explained_is_no_fault(change: Callable[[Run], None], again: Callable[[Run], None]) -> None:
    run = Run()
    change(run)
    again(run)
    assert run.faults() == []


BROKEN: list[tuple[str, Callable[[Run], None]]] = [
    ("no_answer_is_lost", lambda run: run.change("silent", excused=False)),
    ("every_answer_is_known", lambda run: run.change("loser", told=told(102, 404, {"code": "ticket_not_found"}))),
    ("every_answer_is_known", lambda run: run.change("refused", told=told(106, 500, {"code": "internal_error"}))),
    ("a_ticket_is_activated_once", lambda run: run.change("loser", told=won(102))),
    ("a_ticket_is_activated_once", lambda run: run.scan(106, "activated", "later")),
    ("what_was_acknowledged_is_kept", lambda run: run.ticket(activated_at=None, activated_by=None)),
    ("what_was_acknowledged_is_kept", lambda run: run.change("winner", told=won(100, ticket=UUID(int=9)))),
    ("whoever_activated_was_sent", lambda run: run.ticket(activated_by=UUID(int=999))),
    ("whoever_activated_was_sent", lambda run: run.ticket(gate="south")),
    # One that was told 409 activated the ticket.
    ("whoever_activated_was_sent", lambda run: run.ticket(activated_by=UUID(int=102), scanner="loser")),
    ("every_200_is_the_winners", lambda run: run.change("loser", told=won(102, replayed=True))),
    ("every_200_is_the_winners", lambda run: run.change("retry", told=won(101))),
    ("every_200_is_the_winners", lambda run: run.change("retry", asked=asked("winner", "another key"))),
    ("nobody_knows_of_a_winner_before_it_was_sent", lambda run: run.change("loser", ended=0.9)),
    ("nobody_knows_of_a_winner_before_it_was_sent", lambda run: run.change("retry", started=0.1, ended=0.9)),
    ("nobody_loses_to_nobody", lambda run: run.ticket(activated_at=None, activated_by=None)),
    ("nobody_loses_to_nobody", lambda run: run.change("loser", asked=Asked(UNUSED, "north", "loser"))),
    ("losers_are_told_of_the_winner", lambda run: run.change("loser", told=lost(102, gate="south"))),
    ("losers_are_told_of_the_winner", lambda run: run.change("loser", told=lost(102, scanner_id="loser"))),
    ("losers_are_told_of_the_winner", lambda run: run.change("loser", told=lost(102, activated_at="yesterday"))),
    ("a_retry_key_has_one_answer", lambda run: run.change("its retry", told=won(104, replayed=True))),
    ("a_retry_key_has_one_answer", lambda run: run.change("its retry", told=lost(104, replayed=True, gate="south"))),
    ("a_retry_key_has_one_answer", lambda run: run.change("its retry", told=lost(104))),
    # Another body under the key was served like the first.
    ("a_retry_key_has_one_answer", lambda run: run.change("reuse", told=lost(105, replayed=True))),
    ("a_key_is_reused_by_another_body_only", lambda run: run.change("reuse", asked=asked("other", "fresh"))),
    ("a_key_is_reused_by_another_body_only", lambda run: run.change("reuse", started=0.1, ended=0.2)),
    ("a_key_is_reused_by_another_body_only", lambda run: run.change("its retry", told=reused(104))),
    ("what_is_kept_is_what_was_told", lambda run: setattr(run.tables, "kept", run.tables.kept[:1])),
    ("what_is_kept_is_what_was_told", lambda run: setattr(run.tables, "kept", [*run.tables.kept] * 2)),
    ("what_is_kept_is_what_was_told", lambda run: run.change("retry", told=None) or run.change("winner", told=lost(1))),
    (
        "what_is_kept_is_what_was_told",
        lambda run: setattr(run.tables, "kept", [*run.tables.kept, ((ORGANIZATION, "nobody's"), "activated")]),
    ),
    ("every_call_is_audited", lambda run: run.audit(102, None)),
    ("every_call_is_audited", lambda run: run.audit(102, 200)),
    ("every_call_is_audited", lambda run: setattr(run.tables, "audit", [*run.tables.audit] * 2)),
    ("every_call_is_audited", lambda run: (run.audit(998, 409), run.audit(999, 409))[0]),
    ("every_decision_is_recorded_once", lambda run: run.forget_scan(103)),
    ("every_decision_is_recorded_once", lambda run: run.scan(102, "already_activated", "loser")),
    ("every_decision_is_recorded_once", lambda run: run.scan(104, "already_activated", "keyed")),
    ("scans_say_what_was_told", lambda run: run.forget_scan(102)),
    ("scans_say_what_was_told", lambda run: (run.forget_scan(102), run.scan(102, "card_revoked", "loser"))[0]),
    ("every_scan_was_sent", lambda run: run.scan(999, "already_activated", "nobody")),
    ("every_scan_was_sent", lambda run: (run.forget_scan(102), run.scan(102, "already_activated", "keyed"))[0]),
]


@pytest.mark.parametrize(("rule", "spoil"), BROKEN, ids=[f"{n} {rule}" for n, (rule, _) in enumerate(BROKEN)])
def test_a_history_that_breaks_a_rule_is_found_out(rule: str, spoil: Callable[[Run], None]) -> None:
    run = Run()
    spoil(run)
    assert rule in {fault.partition(":")[0] for fault in run.faults()}


def test_each_rule_is_broken_by_some_history() -> None:
    assert {rule for rule, _ in BROKEN} == {rule.__name__ for rule in RULES}
