"""What PostgreSQL shows, in the terms of the model: an outcome as an answer, and the tables as a state."""

from datetime import datetime
from typing import Any, Final

from gatepass.domain import tickets
from gatepass.domain.tickets import ScanOutcome
from gatepass.domain.tickets.activation import MOMENTS
from tests.domain.model.organization import Answer


def answer_of(outcome: ScanOutcome) -> tuple[Answer, bool]:
    """An outcome as a caller of the API sees it; other fields are not compared."""
    refusal = outcome.refusal()
    if refusal is None:
        assert outcome.ticket_id is not None
        given = (outcome.ticket_id, outcome.tier or "", outcome.category_name or "")
        return Answer(outcome.verdict, given=given), outcome.replayed
    if isinstance(refusal, tickets.AlreadyActivated):
        assert outcome.first_at is not None
        first = (outcome.first_at, outcome.first_gate, outcome.first_scanner_id)
        return Answer(outcome.verdict, first=first), outcome.replayed
    rule = {name: _moment(name, value) for name, value in refusal.details.items()}
    return Answer(outcome.verdict, rule=rule or None), outcome.replayed


def _moment(name: str, value: Any) -> object:
    return datetime.fromisoformat(value) if name in MOMENTS and value else value


STATE: Final = """
    SELECT json_build_object(
        'cards', (SELECT coalesce(json_object_agg(id, status), '{}') FROM card WHERE organization_id = $1),
        'events', (SELECT coalesce(json_object_agg(id, status), '{}') FROM event WHERE organization_id = $1),
        'sold', (SELECT coalesce(json_object_agg(id, quantity_sold), '{}')
                   FROM ticket_category WHERE organization_id = $1),
        'tickets', (SELECT coalesce(json_object_agg(id, json_build_array(
                                card_id, extract(epoch FROM activated_at)::bigint, activated_by, activated_gate,
                                activated_scanner_id, cancelled_at IS NOT NULL)), '{}')
                      FROM ticket WHERE organization_id = $1),
        'scans', (SELECT coalesce(json_object_agg(verdict, n), '{}')
                    FROM (SELECT verdict, count(*) AS n FROM scan WHERE organization_id = $1 GROUP BY verdict) s))
"""

CALLS: Final = """
    SELECT coalesce(json_object_agg(status, n), '{}')
      FROM (SELECT status, count(*) AS n FROM logged_call WHERE organization_id = $1 GROUP BY status) a
"""
