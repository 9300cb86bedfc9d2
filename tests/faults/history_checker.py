"""The history checker: can all answers to the gates be explained by one scan at a time?

A ticket takes its first scan and no other, so no search is needed: the table names the winner, and every answer
is the winner's own, or names it. Pure: records in, faults out.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar
from uuid import UUID

from gatepass.base.clock import rfc3339
from tests.faults.records import (
    ACTIVATED,
    REUSED,
    USED,
    Exchange,
    IdempotencyKey,
    Name,
    ScanAnswer,
    Tables,
    Ticket,
    TicketKey,
)

EXPECTED = {(200, ACTIVATED), (409, USED), (422, REUSED), (503, "unavailable"), (503, "overloaded")}

Key = TypeVar("Key")


def faults(exchanges: Sequence[Exchange], tables: Tables) -> list[str]:
    """Every contradiction, with the rule that it breaks."""
    history = History(exchanges, tables)
    return [f"{rule.__name__}: {what}" for rule in RULES for what in rule(history)]


@dataclass
class History:
    exchanges: Sequence[Exchange]
    tables: Tables

    @cached_property
    def definite(self) -> list[tuple[Exchange, ScanAnswer]]:
        return [(one, one.answer) for one in self.exchanges if one.answer is not None and one.answer.is_definite()]

    def answers_with(self, verdict: str) -> Iterator[tuple[Exchange, ScanAnswer, Ticket]]:
        for one, answer in self.definite:
            if answer.verdict == verdict:
                yield one, answer, self.tables.tickets[one.request.ticket_key]

    @cached_property
    def by_id(self) -> dict[UUID, Exchange]:
        return {one.answer.request_id: one for one in self.exchanges if one.answer is not None}

    @cached_property
    def by_key(self) -> dict[IdempotencyKey, list[Exchange]]:
        return _grouped((one.request.key, one) for one in self.exchanges if one.request.key is not None)

    @cached_property
    def silent(self) -> dict[TicketKey, list[Exchange]]:
        """Requests without an answer: each may have been run, or not."""
        return _grouped((one.request.ticket_key, one) for one in self.exchanges if one.answer is None)

    @cached_property
    def winners(self) -> dict[TicketKey, list[Exchange]]:
        """The requests that can have activated each ticket: the one that the table names, or one without an answer."""
        return {ticket_key: self._winners(ticket_key, ticket) for ticket_key, ticket in self.tables.tickets.items()}

    def _winners(self, ticket_key: TicketKey, ticket: Ticket) -> list[Exchange]:
        if ticket.activated_by is None:
            return []
        named = self.by_id.get(ticket.activated_by)
        return [
            one
            for one in ([named] if named else self.silent.get(ticket_key, []))
            if one.request.name == (ticket_key, ticket.gate, ticket.scanner)
            and (one.answer is None or one.answer.status == 200 or not one.answer.is_definite())
        ]


def _grouped(pairs: Iterable[tuple[Key, Exchange]]) -> dict[Key, list[Exchange]]:
    groups: defaultdict[Key, list[Exchange]] = defaultdict(list)
    for key, one in pairs:
        groups[key].append(one)
    return dict(groups)


def no_answer_is_lost(history: History) -> Iterator[str]:
    for one in history.exchanges:
        if one.answer is None and not one.excused:
            yield f"{one.request} was not answered, and we had killed no process"


def every_answer_is_known(history: History) -> Iterator[str]:
    for one in history.exchanges:
        if one.answer is not None and (one.answer.status, one.answer.verdict) not in EXPECTED:
            yield f"{one.request} was answered {one.answer.status} {one.answer.body!r}"


def a_ticket_is_activated_once(history: History) -> Iterator[str]:
    recorded = Counter(scan.ticket_key for scan in history.tables.scans if scan.verdict == ACTIVATED)
    first_answers = Counter(
        one.request.ticket_key for one, answer, _ in history.answers_with(ACTIVATED) if not answer.replayed
    )
    for ticket_key in history.tables.tickets:
        if recorded[ticket_key] > 1 or first_answers[ticket_key] > 1:
            yield f"{ticket_key}: {recorded[ticket_key]} scans recorded, {first_answers[ticket_key]} first answers"


def acknowledged_activations_are_kept(history: History) -> Iterator[str]:
    for one, answer, ticket in history.answers_with(ACTIVATED):
        if ticket.activated_by is None:
            yield f"{one.request} was answered 200, and the ticket is unused"
        elif answer.json["data"]["ticket_id"] != str(ticket.id):
            yield f"{one.request} was answered with another ticket"


def the_activating_scan_was_sent(history: History) -> Iterator[str]:
    for ticket_key, ticket in history.tables.tickets.items():
        if ticket.activated_by is not None and not history.winners[ticket_key]:
            yield f"{ticket_key}: no request that was sent can be {ticket.activated_by}"


def every_200_is_the_winners(history: History) -> Iterator[str]:
    for one, answer, ticket in history.answers_with(ACTIVATED):
        is_winner = answer.request_id == ticket.activated_by
        is_retry = answer.replayed and any(
            one.request == first.request for first in history.winners[one.request.ticket_key]
        )
        if not is_winner and not (is_retry and one.request.idempotency_key is not None):
            yield f"{one.request} was answered 200, but {ticket.activated_by} won"


def no_answer_precedes_the_winner(history: History) -> Iterator[str]:
    for verdict in (USED, ACTIVATED):
        for one, answer, _ in history.answers_with(verdict):
            sent = min((first.started for first in history.winners[one.request.ticket_key]), default=one.ended)
            if one.ended < sent:
                yield f"{one.request} was answered {answer.status} {sent - one.ended:.6f} s before the winner was sent"


def a_conflict_has_a_winner(history: History) -> Iterator[str]:
    for one, _, ticket in history.answers_with(USED):
        if ticket.activated_by is None:
            yield f"{one.request} was answered 409, and the ticket is unused"


def conflicts_name_the_winner(history: History) -> Iterator[str]:
    for one, answer, ticket in history.answers_with(USED):
        at = rfc3339(ticket.activated_at) if ticket.activated_at else None
        truth = {"activated_at": at, "gate": ticket.gate, "scanner_id": ticket.scanner}
        if answer.json["details"] != truth:
            yield f"{one.request} was answered {answer.json['details']}, true is {truth}"


def an_idempotency_key_has_one_answer(history: History) -> Iterator[str]:
    for key, group in history.by_key.items():
        heard = [(one, one.answer) for one in group if one.answer is not None and one.answer.is_definite()]
        served = [(one, answer) for one, answer in heard if answer.verdict != REUSED]
        if len({(one.request, answer.status, answer.body) for one, answer in served}) > 1:
            yield f"{key}: {[(answer.status, answer.body) for _, answer in served]}"
        if sum(not answer.replayed for _, answer in served) > 1:
            yield f"{key}: was decided more than once"


def a_key_is_reused_by_another_body_only(history: History) -> Iterator[str]:
    for one, _, _ in history.answers_with(REUSED):
        group = history.by_key.get(one.request.key, []) if one.request.key else []
        others = [other for other in group if other.request != one.request and not _is_reuse(other)]
        if not any(other.started <= one.ended for other in others):
            yield f"{one.request} was answered that its key was used before, and it was not"
        if any(other.request == one.request and other.is_definite() and not _is_reuse(other) for other in group):
            yield f"{one.request} was answered both that its key was used before, and not"


def _is_reuse(one: Exchange) -> bool:
    return one.answer is not None and one.answer.verdict == REUSED


def stored_answers_match_the_answers(history: History) -> Iterator[str]:
    stored = dict(history.tables.stored)
    answered = {
        one.request.key: answer.verdict
        for one, answer in history.definite
        if one.request.key and answer.verdict != REUSED
    }
    if len(stored) != len(history.tables.stored):
        yield "an idempotency key is stored twice"
    for key in answered.keys() | stored.keys():
        if key not in history.by_key:
            yield f"{key} is stored, and was never sent"
        elif key in answered and stored.get(key) != answered[key]:
            yield f"{key} was answered {answered[key]}, stored is {stored.get(key)}"


def every_call_is_in_the_request_log(history: History) -> Iterator[str]:
    request_log = dict(history.tables.request_log)
    if len(request_log) != len(history.tables.request_log):
        yield "a call is in the request log twice"
    for one, answer in history.definite:
        if request_log.get(answer.request_id) != answer.status:
            logged = request_log.get(answer.request_id)
            yield f"{one.request} was answered {answer.status}, the request log has {logged}"
    unknown, silent = request_log.keys() - history.by_id.keys(), sum(map(len, history.silent.values()))
    if len(unknown) > silent:
        yield f"{len(unknown)} rows of the request log belong to no call; {silent} calls were not answered"


def every_decision_is_recorded_once(history: History) -> Iterator[str]:
    """A scan without a key is one decision; all requests with the same key are one decision."""
    sure, possible = Counter[Name](), Counter[Name]()
    for group in history.by_key.values():
        served = [one for one in group if one.is_definite() and not _is_reuse(one)]
        sure.update({one.request.name for one in served})
        possible.update({one.request.name for one in group if not _is_reuse(one)})
    for one in history.exchanges:
        if one.request.key is None:
            sure[one.request.name] += one.is_definite()
            possible[one.request.name] += 1
    rows = Counter(scan.name for scan in history.tables.scans)
    for name in rows.keys() | sure.keys():
        if not sure[name] <= rows[name] <= possible[name]:
            yield f"{name}: {rows[name]} scans recorded, {sure[name]} to {possible[name]} were sent"


def scans_match_the_answers(history: History) -> Iterator[str]:
    verdicts = {scan.id: scan.verdict for scan in history.tables.scans}
    for one, answer in history.definite:
        recorded = verdicts.get(answer.request_id)
        # A batch whose connection was lost is run again: its scan is then both recorded and a replay.
        if recorded != answer.verdict and not (recorded is None and (answer.replayed or answer.verdict == REUSED)):
            yield f"{one.request} was answered {answer.verdict}, recorded is {recorded}"


def every_scan_was_sent(history: History) -> Iterator[str]:
    for scan in history.tables.scans:
        named = history.by_id.get(scan.id)
        if not any(
            one.request.name == scan.name for one in ([named] if named else history.silent.get(scan.ticket_key, []))
        ):
            yield f"{scan} is recorded, and was never sent"


Rule = Callable[[History], Iterator[str]]
RULES: tuple[Rule, ...] = (
    no_answer_is_lost,
    every_answer_is_known,
    a_ticket_is_activated_once,
    acknowledged_activations_are_kept,
    the_activating_scan_was_sent,
    every_200_is_the_winners,
    no_answer_precedes_the_winner,
    a_conflict_has_a_winner,
    conflicts_name_the_winner,
    an_idempotency_key_has_one_answer,
    a_key_is_reused_by_another_body_only,
    stored_answers_match_the_answers,
    every_call_is_in_the_request_log,
    every_decision_is_recorded_once,
    scans_match_the_answers,
    every_scan_was_sent,
)
