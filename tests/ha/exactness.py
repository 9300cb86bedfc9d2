"""Is every answer to a scan true? Nothing acknowledged is lost, nobody is let in twice, every outcome gets known.

The history checker of `tests/faults` judges the answers against the rows; here its rules get the names of violations.
"""

from collections import defaultdict
from collections.abc import Iterator
from uuid import UUID

from gatepass.base.ids import request_id
from tests.faults import history_checker, records
from tests.faults.records import ACTIVATED, USED, Exchange, ScanAnswer, ScanRequest
from tests.ha.journal import Attempt, Journal, Scan
from tests.ha.tables import Rows
from tests.ha.violation import Kind, Violation
from tests.ha.world import World

NOT_NOW = ("unavailable", "overloaded")
# The violation that each rule of the history checker finds.
KINDS: dict[str, Kind] = {
    "every_answer_is_known": "wrong_verdict",
    "a_ticket_is_activated_once": "double",
    "acknowledged_activations_are_kept": "lost",
    "the_activating_scan_was_sent": "not_linearizable",
    "every_200_is_the_winners": "lost",
    "no_answer_precedes_the_winner": "not_linearizable",
    "a_conflict_has_a_winner": "not_linearizable",
    "conflicts_name_the_winner": "not_linearizable",
    "an_idempotency_key_has_one_answer": "replay_differs",
    "a_key_is_reused_by_another_body_only": "wrong_verdict",
    "stored_answers_match_the_answers": "stored_answer",
    "every_call_is_in_the_request_log": "request_log",
    "every_decision_is_recorded_once": "scan_record",
    "scans_match_the_answers": "scan_record",
    "every_scan_was_sent": "scan_record",
}


def is_definite(one: Attempt) -> bool:
    """Whether this answer ends the scan. A scan is then decided and its rows are written."""
    return _answer(one) is not None and one.status != records.UNKNOWN


def violations(journal: Journal, rows: Rows, world: World) -> Iterator[Violation]:
    yield from _unexpected(journal)
    yield from _unresolved(journal)
    yield from _unlike_the_sdk(journal, rows)
    for card in rows.missing:
        yield Violation("lost", f"{card} has no ticket any more")
    yield from dict.fromkeys(_untrue(journal, rows, world))


def _untrue(journal: Journal, rows: Rows, world: World) -> Iterator[Violation]:
    missing = set(rows.missing)
    exchanges = [
        Exchange(_request(journal.scans[one.key], world), one.begin, one.end, _answer(one), excused=True)
        for one in journal.attempts
        if one.key is not None and journal.scans[one.key].card not in missing
    ]
    for fault in history_checker.faults(exchanges, rows.tables):
        rule, _, what = fault.partition(": ")
        # An unused ticket is told by another rule already.
        if not what.endswith("but None won"):
            yield Violation(KINDS[rule], what)


def _request(scan: Scan, world: World) -> ScanRequest:
    ticket_key = (world.organization, UUID(world.event_id), scan.card)
    return ScanRequest(ticket_key, scan.gate, scan.key, scan.key, "token" if scan.by_token else "card_number")


def _answer(one: Attempt) -> ScanAnswer | None:
    """The answer, if it is one that the service gives to a scan. Any other leaves the outcome open."""
    id = request_id(one.request_id or "")
    if one.status is None or id is None or one.status == 429 or (one.status >= 500 and one.status != 503):
        return None
    answer = ScanAnswer(id, one.status, one.body.encode(), one.replayed)
    try:
        is_whole = isinstance(answer.json["data" if one.status == 200 else "code"], dict | str)
    except (ValueError, KeyError, TypeError):
        return None
    return answer if is_whole else None


def _unexpected(journal: Journal) -> Iterator[Violation]:
    """Answers that the service must not give, to whatever call."""
    for one in journal.attempts:
        if one.status is None or one.status < 400:
            continue
        what = f"{one.path} at {one.url} was answered {one.status} {one.body[:200]} ({one.request_id})"
        if one.status >= 500 and (one.status != 503 or one.code not in NOT_NOW):
            yield Violation("http_500", what)
        elif one.status == 429 or (one.key is None and one.status < 500):
            yield Violation("wrong_verdict", what)


def _unresolved(journal: Journal) -> Iterator[Violation]:
    asked = {one.key for one in journal.attempts if one.key is not None}
    resolved = {one.key for one in journal.attempts if is_definite(one)}
    for key in sorted(asked - resolved):
        yield Violation("unresolved", f"the scan {key} of {journal.scans[key].card} got no definite answer")
    if journal.ended is None:
        yield Violation("unresolved", "the load did not end by itself")


def _unlike_the_sdk(journal: Journal, rows: Rows) -> Iterator[Violation]:
    """The SDK tells the gate what the service answered, and is never certain of what is not so."""
    verdicts: defaultdict[str, set[str]] = defaultdict(set)
    begun: defaultdict[str, list[Attempt]] = defaultdict(list)
    for one in journal.attempts:
        if one.key is not None:
            begun[one.key].append(one)
            if (answer := _answer(one)) is not None and is_definite(one):
                verdicts[one.key].add(answer.verdict)
    won_by = {ticket.activated_by for ticket in rows.tables.tickets.values()} - {None}
    for told in journal.outcomes:
        is_verdict = told.verdict in {ACTIVATED, USED} or told.verdict in verdicts[told.key]
        if is_verdict and told.verdict not in verdicts[told.key]:
            yield Violation("sdk_outcome", f"the SDK said {told.verdict} of {told.key}, no answer did")
        # Of this call alone: the SDK knows nothing of an earlier one with the same key.
        since = max((one.at for one in journal.outcomes if one.key == told.key and one.at < told.at), default=0.0)
        tries = (one for one in begun[told.key] if since <= one.begin and one.end <= told.at)
        ids = {request_id(one.request_id or "") for one in tries}
        if not is_verdict and not told.unknown and ids & won_by:
            yield Violation("sdk_outcome", f"the SDK was certain that {told.key} failed ({told.verdict}); it won")
