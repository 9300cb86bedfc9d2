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
    "an expired token opens the gate": ("               AND NOT i.expired\n", ""),
    "a suspended card opens the gate": ("                                    AND c.status = 'active'\n", ""),
    "an event that is not published lets people in": (
        "AND (event.status = 'published'\n                    OR event.status = 'ended' AND",
        "AND (event.status = 'published'\n                    OR event.status = 'draft' OR event.status = 'ended' AND",
    ),
    "closed doors let people in": (
        "               AND (event.doors_open_at IS NULL OR event.doors_open_at <= i.shown_at)\n",
        "",
    ),
    "doors open a moment late": (
        ("event.doors_open_at <= i.shown_at)", "e.doors_open_at > i.shown_at THEN"),
        ("event.doors_open_at < i.shown_at)", "e.doors_open_at >= i.shown_at THEN"),
    ),
    "doors are judged by when a scan is sent": (
        ("event.doors_open_at <= i.shown_at)", "e.doors_open_at > i.shown_at THEN"),
        ("event.doors_open_at <= p_at)", "e.doors_open_at > p_at THEN"),
    ),
    "a ticket is good before its time": (
        "               AND (category.valid_from IS NULL OR category.valid_from <= i.shown_at)\n",
        "",
    ),
    "a ticket is good at the moment at which its time ends": (
        "category.valid_until > i.shown_at)",
        "category.valid_until >= i.shown_at)",
    ),
    "a ticket opens every gate": (
        "               AND (category.gates IS NULL OR i.gate = ANY (category.gates))\n",
        "",
    ),
    "a scan without a gate opens every gate": (
        "(category.gates IS NULL OR i.gate",
        "(category.gates IS NULL OR i.gate IS NULL OR i.gate",
    ),
    "the gate is told before the time": (
        ("WHEN k.valid_from > i.shown_at OR", "k.valid_until <= i.shown_at THEN"),
        (
            "WHEN (k.gates IS NULL OR i.gate = ANY (k.gates)) AND (k.valid_from > i.shown_at OR",
            "k.valid_until <= i.shown_at) THEN",
        ),
    ),
    "an ended event takes scans for ever": (
        "i.occurred_at < event.ended_at AND p_at < event.ended_at + late)",
        "i.occurred_at < event.ended_at)",
    ),
    "an ended event takes scans from after its end": (
        "i.occurred_at < event.ended_at AND p_at <",
        "p_at <",
    ),
    "an event that has ended refuses scans from before": (
        ("OR event.status = 'ended' AND i.occurred_at", "e.status = 'ended' AND i.occurred_at"),
        ("OR false AND i.occurred_at", "false AND i.occurred_at"),
    ),
    "whoever reuses a key is told the rule": (
        "CASE WHEN a.verdict <> 'idempotency_key_reused' THEN a.details END",
        "a.details",
    ),
    "a retry is not told the rule": ("coalesce(j.old_details, CASE", "coalesce(NULL, CASE"),
    "a replay is recorded as a scan": (
        "         WHERE NOT a.is_replay\n           AND (a.verdict = 'activated' OR",
        "         WHERE (a.verdict = 'activated' OR",
    ),
    "refusals are not stored": (
        "WHERE a.idempotency_key IS NOT NULL AND NOT a.is_replay",
        "WHERE a.idempotency_key IS NOT NULL AND NOT a.is_replay AND a.verdict = 'activated'",
    ),
    "a replay is not marked as one": (
        "a.is_replay AND a.verdict <> 'idempotency_key_reused'",
        "false",
    ),
    "a sandbox scan is recorded as a live one": ("SELECT a.tenant_id, p_at,", "SELECT a.organization_id, p_at,"),
    "the first gate is forgotten": ("activated_gate = first.gate, ", ""),
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
