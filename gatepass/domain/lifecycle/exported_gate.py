"""The files of an export about the gates: devices, assignments, journals and incidents. See `export.py`."""

from typing import Final, LiteralString

GATE_FILES: Final[dict[str, LiteralString]] = {
    "devices": """
        SELECT row_to_json(x)
          FROM (SELECT id, mode, name, translate(encode(public_key, 'base64'), E'\\n', '') AS public_key, status,
                       paired_at, paired_by, ended_at, ended_by, distrusted_until, last_seen_at, queued,
                       clock_offset_ms, app, refused_entries, refused_at
                  FROM device
                 WHERE organization_id = $1
                 ORDER BY id) x
    """,
    "device_assignments": """
        SELECT row_to_json(x)
          FROM (SELECT device_id, since, until, event_id, gate, assigned_by
                  FROM device_assignment
                 WHERE organization_id = $1
                 ORDER BY device_id, since) x
    """,
    "journal_entries": """
        SELECT row_to_json(x)
          FROM (SELECT device_id, sequence, id, event_id, card_id, ticket_id, typed, admitted, gate, scanner_id,
                       occurred_at, clock_offset_ms, corrected_at, received_at, outcome, code
                  FROM journal_entry
                 WHERE organization_id = $1
                 ORDER BY device_id, sequence) x
    """,
    "incidents": """
        SELECT row_to_json(x)
          FROM (SELECT id, event_id, kind, ticket_id, card_id, card_number, gate, device_id, sequence, scanner_id,
                       occurred_at, corrected_at, received_at, first_gate, first_device_id, first_scanner_id,
                       first_occurred_at, first_received_at, reason, opened_by, closed_at, closed_by, note
                  FROM incident
                 WHERE organization_id = $1
                 ORDER BY received_at, id) x
    """,
}
