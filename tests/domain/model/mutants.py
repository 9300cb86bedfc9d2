"""Mutants of `activation.sql`: that the machine finds each of them shows that it is able to find a fault."""

from pathlib import Path
from typing import Final

import gatepass

ACTIVATION: Final = Path(gatepass.__file__).parent / "domain" / "tickets" / "activation.sql"

# Each breaks one promise by one careless edit: the text of activation.sql, and the text of the mutant.
MUTANTS: Final = {
    "an idempotency key that was answered may activate again": (
        "AND old.generation IN (this_generation, last_generation)\n                               OFFSET 0)",
        "AND false)",
    ),
    "a ticket is activated however often": (
        (
            "                                    AND x.activated_at IS NULL\n",
            "\n       AND t.activated_at IS NULL\n",
        ),
        ("", "\n"),
    ),
    "a cancelled ticket is activated": (
        (
            "AND x.cancelled_at IS NULL\n                                    AND x.activated_at IS NULL",
            "       AND t.cancelled_at IS NULL;",
        ),
        ("AND x.activated_at IS NULL", ";"),
    ),
    "concurrent retries in a batch are each sent forward": (
        "SELECT DISTINCT ON (u.organization_id, coalesce(u.idempotency_key, u.request)) u.*",
        "SELECT u.*",
    ),
    "the last to arrive wins": ("ORDER BY i.tenant_id, found.ticket_id, i.n)", "ORDER BY 1, 2, i.n DESC)"),
    "answers are forgotten at the first rotation": (
        "(g.current + 2) % 3 INTO this_generation, last_generation",
        "g.current INTO this_generation, last_generation",
    ),
    "an idempotency key answers for any request": (
        "WHEN j.known_fingerprint IS DISTINCT FROM j.fingerprint",
        "WHEN false",
    ),
    "an expired token opens the gate": ("AND NOT i.expired AND event.status", "AND event.status"),
    "a suspended card opens the gate": ("                                    AND c.status = 'active'\n", ""),
    "an event that is not published lets people in": (
        "AND NOT i.expired AND event.status = 'published'",
        "AND NOT i.expired",
    ),
    "a replay is recorded as a scan": ("FROM answer a\n         WHERE NOT a.is_replay\n", "FROM answer a\n"),
    "refusals are not stored": (
        "WHERE a.idempotency_key IS NOT NULL AND NOT a.is_replay",
        "WHERE a.idempotency_key IS NOT NULL AND NOT a.is_replay AND a.verdict = 'activated'",
    ),
    "a replay is not marked as one": (
        "a.is_replay AND a.verdict <> 'idempotency_key_reused'",
        "false",
    ),
    "a sandbox scan is recorded as a live one": ("SELECT a.tenant_id, p_at,", "SELECT a.organization_id, p_at,"),
    "the first gate is forgotten": ("           activated_gate = first.gate,\n", ""),
    "an old ticket of the card hides that it has none now": (
        "AND x.cancelled_at IS NOT NULL)\n                            THEN 'ticket_cancelled' ELSE",
        "AND x.cancelled_at IS NULL)\n                            THEN 'ticket_cancelled' ELSE",
    ),
}


def mutated(mutant: str) -> str:
    before, after = MUTANTS[mutant]
    text = ACTIVATION.read_text()
    pairs = [(before, after)] if isinstance(before, str) else zip(before, after, strict=True)
    for old, new in pairs:
        assert isinstance(new, str)
        assert text.count(old) == 1, f"the mutant does not fit activation.sql any more: {old!r}"
        text = text.replace(old, new)
    return text
