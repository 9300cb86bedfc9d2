"""The history checker: can all that the gates were told have come of one scan at a time?

A ticket takes its first scan and no other, so nothing needs to be searched for: the table names the winner, and
every answer is the winner's own, or knows of it. Pure: records in, faults out.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar
from uuid import UUID

from gatepass.base.clock import rfc3339
from tests.faults.records import ACTIVATED, REUSED, USED, Name, Place, Request, RetryKey, Tables, Ticket, Told

EXPECTED = {(200, ACTIVATED), (409, USED), (422, REUSED), (503, "unavailable"), (503, "overloaded")}

Key = TypeVar("Key")


def faults(requests: Sequence[Request], tables: Tables) -> list[str]:
    """Everything that cannot be explained, each with the rule that it breaks."""
    history = History(requests, tables)
    return [f"{rule.__name__}: {what}" for rule in RULES for what in rule(history)]


@dataclass
class History:
    requests: Sequence[Request]
    tables: Tables

    @cached_property
    def definite(self) -> list[tuple[Request, Told]]:
        return [(one, one.told) for one in self.requests if one.told is not None and one.told.is_definite()]

    def told(self, verdict: str) -> Iterator[tuple[Request, Told, Ticket]]:
        for one, told in self.definite:
            if told.verdict == verdict:
                yield one, told, self.tables.tickets[one.asked.place]

    @cached_property
    def by_id(self) -> dict[UUID, Request]:
        return {one.told.request: one for one in self.requests if one.told is not None}

    @cached_property
    def by_key(self) -> dict[RetryKey, list[Request]]:
        return _grouped((one.asked.key, one) for one in self.requests if one.asked.key is not None)

    @cached_property
    def silent(self) -> dict[Place, list[Request]]:
        """The requests that were never answered: each may have been run, or not."""
        return _grouped((one.asked.place, one) for one in self.requests if one.told is None)

    @cached_property
    def winners(self) -> dict[Place, list[Request]]:
        """Who may have activated each ticket: the request that the table names, or one that was not answered."""
        return {place: self._winners(place, ticket) for place, ticket in self.tables.tickets.items()}

    def _winners(self, place: Place, ticket: Ticket) -> list[Request]:
        if ticket.activated_by is None:
            return []
        named = self.by_id.get(ticket.activated_by)
        return [
            one
            for one in ([named] if named else self.silent.get(place, []))
            if one.asked.name == (place, ticket.gate, ticket.scanner)
            and (one.told is None or one.told.status == 200 or not one.told.is_definite())
        ]


def _grouped(pairs: Iterable[tuple[Key, Request]]) -> dict[Key, list[Request]]:
    groups: defaultdict[Key, list[Request]] = defaultdict(list)
    for key, one in pairs:
        groups[key].append(one)
    return dict(groups)


def no_answer_is_lost(history: History) -> Iterator[str]:
    for one in history.requests:
        if one.told is None and not one.excused:
            yield f"{one.asked} was not answered, and we had killed nobody"


def every_answer_is_known(history: History) -> Iterator[str]:
    for one in history.requests:
        if one.told is not None and (one.told.status, one.told.verdict) not in EXPECTED:
            yield f"{one.asked} was told {one.told.status} {one.told.body!r}"


def a_ticket_is_activated_once(history: History) -> Iterator[str]:
    recorded = Counter(scan.place for scan in history.tables.scans if scan.verdict == ACTIVATED)
    first_told = Counter(one.asked.place for one, told, _ in history.told(ACTIVATED) if not told.replayed)
    for place in history.tables.tickets:
        if recorded[place] > 1 or first_told[place] > 1:
            yield f"{place}: {recorded[place]} scans recorded, {first_told[place]} told that they were the first"


def what_was_acknowledged_is_kept(history: History) -> Iterator[str]:
    for one, told, ticket in history.told(ACTIVATED):
        if ticket.activated_by is None:
            yield f"{one.asked} was told 200, and the ticket is unused"
        elif told.json["data"]["ticket_id"] != str(ticket.id):
            yield f"{one.asked} was told of another ticket"


def whoever_activated_was_sent(history: History) -> Iterator[str]:
    for place, ticket in history.tables.tickets.items():
        if ticket.activated_by is not None and not history.winners[place]:
            yield f"{place}: no request that was sent can be {ticket.activated_by}"


def every_200_is_the_winners(history: History) -> Iterator[str]:
    for one, told, ticket in history.told(ACTIVATED):
        is_winner = told.request == ticket.activated_by
        is_retry = told.replayed and any(one.asked == first.asked for first in history.winners[one.asked.place])
        if not is_winner and not (is_retry and one.asked.retry_key is not None):
            yield f"{one.asked} was told 200, but {ticket.activated_by} won"


def nobody_knows_of_a_winner_before_it_was_sent(history: History) -> Iterator[str]:
    for verdict in (USED, ACTIVATED):
        for one, told, _ in history.told(verdict):
            sent = min((first.started for first in history.winners[one.asked.place]), default=one.ended)
            if one.ended < sent:
                yield f"{one.asked} was told {told.status} {sent - one.ended:.6f} s before the winner was sent"


def nobody_loses_to_nobody(history: History) -> Iterator[str]:
    for one, _, ticket in history.told(USED):
        if ticket.activated_by is None:
            yield f"{one.asked} was told 409, and the ticket is unused"


def losers_are_told_of_the_winner(history: History) -> Iterator[str]:
    for one, told, ticket in history.told(USED):
        at = rfc3339(ticket.activated_at) if ticket.activated_at else None
        truth = {"activated_at": at, "gate": ticket.gate, "scanner_id": ticket.scanner}
        if told.json["details"] != truth:
            yield f"{one.asked} was told {told.json['details']}, true is {truth}"


def a_retry_key_has_one_answer(history: History) -> Iterator[str]:
    for key, group in history.by_key.items():
        heard = [(one, one.told) for one in group if one.told is not None and one.told.is_definite()]
        served = [(one, told) for one, told in heard if told.verdict != REUSED]
        if len({(one.asked, told.status, told.body) for one, told in served}) > 1:
            yield f"{key}: {[(told.status, told.body) for _, told in served]}"
        if sum(not told.replayed for _, told in served) > 1:
            yield f"{key}: was decided more than once"


def a_key_is_reused_by_another_body_only(history: History) -> Iterator[str]:
    for one, _, _ in history.told(REUSED):
        group = history.by_key.get(one.asked.key, []) if one.asked.key else []
        others = [other for other in group if other.asked != one.asked and not _is_reuse(other)]
        if not any(other.started <= one.ended for other in others):
            yield f"{one.asked} was told that its key was used before, and it was not"
        if any(other.asked == one.asked and other.is_definite() and not _is_reuse(other) for other in group):
            yield f"{one.asked} was told both that its key was used before, and not"


def _is_reuse(one: Request) -> bool:
    return one.told is not None and one.told.verdict == REUSED


def what_is_kept_is_what_was_told(history: History) -> Iterator[str]:
    kept = dict(history.tables.kept)
    told = {one.asked.key: told.verdict for one, told in history.definite if one.asked.key and told.verdict != REUSED}
    if len(kept) != len(history.tables.kept):
        yield "a retry key is kept twice"
    for key in told.keys() | kept.keys():
        if key not in history.by_key:
            yield f"{key} is kept, and was never sent"
        elif key in told and kept.get(key) != told[key]:
            yield f"{key} was told {told[key]}, kept is {kept.get(key)}"


def every_call_is_audited(history: History) -> Iterator[str]:
    audit = dict(history.tables.audit)
    if len(audit) != len(history.tables.audit):
        yield "a call is audited twice"
    for one, told in history.definite:
        if audit.get(told.request) != told.status:
            yield f"{one.asked} was told {told.status}, the audit says {audit.get(told.request)}"
    nobodys, silent = audit.keys() - history.by_id.keys(), sum(map(len, history.silent.values()))
    if len(nobodys) > silent:
        yield f"{len(nobodys)} rows of the audit belong to nobody; {silent} calls were not answered"


def every_decision_is_recorded_once(history: History) -> Iterator[str]:
    """A scan without a key is a decision; so are all requests with one key together."""
    sure, possible = Counter[Name](), Counter[Name]()
    for group in history.by_key.values():
        served = [one for one in group if one.is_definite() and not _is_reuse(one)]
        sure.update({one.asked.name for one in served})
        possible.update({one.asked.name for one in group if not _is_reuse(one)})
    for one in history.requests:
        if one.asked.key is None:
            sure[one.asked.name] += one.is_definite()
            possible[one.asked.name] += 1
    rows = Counter(scan.name for scan in history.tables.scans)
    for name in rows.keys() | sure.keys():
        if not sure[name] <= rows[name] <= possible[name]:
            yield f"{name}: {rows[name]} scans recorded, {sure[name]} to {possible[name]} were sent"


def scans_say_what_was_told(history: History) -> Iterator[str]:
    verdicts = {scan.id: scan.verdict for scan in history.tables.scans}
    for one, told in history.definite:
        recorded = verdicts.get(told.request)
        # A batch whose connection was lost is run again: its scan is then both recorded and a replay.
        if recorded != told.verdict and not (recorded is None and (told.replayed or told.verdict == REUSED)):
            yield f"{one.asked} was told {told.verdict}, recorded is {recorded}"


def every_scan_was_sent(history: History) -> Iterator[str]:
    for scan in history.tables.scans:
        named = history.by_id.get(scan.id)
        if not any(one.asked.name == scan.name for one in ([named] if named else history.silent.get(scan.place, []))):
            yield f"{scan} is recorded, and nobody sent it"


Rule = Callable[[History], Iterator[str]]
RULES: tuple[Rule, ...] = (
    no_answer_is_lost,
    every_answer_is_known,
    a_ticket_is_activated_once,
    what_was_acknowledged_is_kept,
    whoever_activated_was_sent,
    every_200_is_the_winners,
    nobody_knows_of_a_winner_before_it_was_sent,
    nobody_loses_to_nobody,
    losers_are_told_of_the_winner,
    a_retry_key_has_one_answer,
    a_key_is_reused_by_another_body_only,
    what_is_kept_is_what_was_told,
    every_call_is_audited,
    every_decision_is_recorded_once,
    scans_say_what_was_told,
    every_scan_was_sent,
)
