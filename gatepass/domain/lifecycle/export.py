"""Exporting an organization: everything that it owns, as JSON, one line for each row.

All files show one moment: they are read in one transaction. Rows are streamed, so that memory does not grow with them.
Left out is what only this service can use, or nobody should have: hashes of keys and links, sealed secrets, the queue
of messages, and answers that are kept for a day or two. `docs/operate/organizations.md` describes the files.
"""

from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any, Final, LiteralString
from uuid import UUID

from gatepass.base.database import Tx
from gatepass.domain import security_log
from gatepass.domain.lifecycle.exported_gate import GATE_FILES
from gatepass.domain.organizations import SUBJECT


async def record_export(tx: Tx, organization_id: UUID, *, by: str, at: datetime) -> None:
    """Before the first byte: the audit log has it even if the export breaks off."""
    await security_log.record(
        tx, [organization_id], SUBJECT, organization_id, "exported", by=by, at=at,
        becomes="everything, with personal data",
    )  # fmt: skip


async def begin(tx: Tx) -> None:
    """The first statement of the transaction: everything after it sees the same moment, with times in UTC."""
    await tx.run(ONE_MOMENT)
    await tx.run(IN_UTC)


async def stream(
    tx: Tx, organization_id: UUID, name: str, output: Callable[[bytes], Coroutine[Any, Any, None]]
) -> None:
    """Write the rows of this file."""
    await tx.copy_out(FILES[name], organization_id, output=output)


ONE_MOMENT: Final = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
IN_UTC: Final = "SET LOCAL timezone = 'UTC'"

# The tables that are left out. A test finds every other tenant table below.
LEFT_OUT: Final = frozenset((
    "card_export_part", "card_link", "card_phone_code", "ended_card_link", "event_manifest", "idempotency",
    "import_key", "pairing_code", "pairing_request", "wallet_pass", "wallet_registration", "webhook_queue",
    "webhook_feed",
))  # fmt: skip

# What a sandbox has too: the rest belongs to the organization in both modes.
OF_A_SANDBOX: Final = (
    "signing_keys", "events", "event_covers", "ticket_categories", "cards", "card_holders", "card_external_ids",
    "holder_emails", "card_phones", "tickets", "undone_activations", "ticket_references", "imports", "import_rows",
    "card_exports",
    "journal_entries", "incidents", "scans", "audit_log",
)  # fmt: skip

# By the name of the file, with no ending.
FILES: Final[dict[str, LiteralString]] = {
    "organization": """
        SELECT row_to_json(x)
          FROM (SELECT id, name, card_prefix, created_at, requires_second_factor, studio_networks, suspended_at,
                       suspended_reason, closed_at, erase_at
                  FROM organization
                 WHERE id = $1) x
    """,
    "members": """
        SELECT row_to_json(x)
          FROM (SELECT m.person_id, p.email, p.name, m.role, m.joined_at
                  FROM member m
                  JOIN person p ON p.id = m.person_id
                 WHERE m.organization_id = $1
                 ORDER BY m.person_id) x
    """,
    "invitations": """
        SELECT row_to_json(x)
          FROM (SELECT id, email, role, invited_by, invited_at, expires_at, accepted_at, accepted_by, revoked_at
                  FROM invitation
                 WHERE organization_id = $1
                 ORDER BY id) x
    """,
    "api_keys": """
        SELECT row_to_json(x)
          FROM (SELECT id, mode, name, last_four, scopes, allowed_networks, rate_per_second, burst, created_at,
                       created_by, nullif(coalesce(resumed_expires_at, expires_at), 'infinity') AS expires_at,
                       revoked_at, revoked_by, last_used_at, last_used_from, device_id, event_id, gate
                  FROM api_key
                 WHERE organization_id = $1
                 ORDER BY id) x
    """,
    **GATE_FILES,
    "signing_keys": """
        SELECT row_to_json(x)
          FROM (SELECT id, translate(encode(public_key, 'base64'), E'\\n', '') AS public_key, created_at, retired_at
                  FROM signing_key
                 WHERE organization_id = $1
                 ORDER BY id) x
    """,
    "events": """
        SELECT row_to_json(x)
          FROM (SELECT id, title, description, venue, city, country, starts_at, ends_at, time_zone, cover_url, status,
                       cancel_reason, codes, doors_open_at, offline, ended_at, created_at
                  FROM event
                 WHERE organization_id = $1
                 ORDER BY id) x
    """,
    "event_covers": """
        SELECT row_to_json(x)
          FROM (SELECT id, kind, width, height, translate(encode(content, 'base64'), E'\\n', '') AS content,
                       created_at, created_by
                  FROM event_cover
                 WHERE organization_id = $1
                 ORDER BY id) x
    """,
    "card_look": """
        SELECT row_to_json(x)
          FROM (SELECT shows_name, colour, line, logo_kind, translate(encode(logo, 'base64'), E'\\n', '') AS logo,
                       changed_at
                  FROM card_look
                 WHERE organization_id = $1) x
    """,
    "ticket_categories": """
        SELECT row_to_json(x)
          FROM (SELECT id, event_id, name, tier, price_minor, currency, quantity_total, quantity_sold, removed_at,
                       valid_from, valid_until, gates
                  FROM ticket_category
                 WHERE organization_id = $1
                 ORDER BY id) x
    """,
    "cards": """
        SELECT row_to_json(x)
          FROM (SELECT id, number, status, issued_at
                  FROM card
                 WHERE organization_id = $1
                 ORDER BY id) x
    """,
    "card_holders": """
        SELECT row_to_json(x)
          FROM (SELECT card_id, name, email, locale
                  FROM card_holder
                 WHERE organization_id = $1
                 ORDER BY card_id) x
    """,
    "card_external_ids": """
        SELECT row_to_json(x)
          FROM (SELECT card_id, external_id
                  FROM card_external_id
                 WHERE organization_id = $1
                 ORDER BY card_id) x
    """,
    "holder_emails": """
        SELECT row_to_json(x)
          FROM (SELECT card_id, email, current, companion
                  FROM holder_email
                 WHERE organization_id = $1
                 ORDER BY card_id) x
    """,
    "card_phones": """
        SELECT row_to_json(x)
          FROM (SELECT card_id, enrolment, translate(encode(public_key, 'base64'), E'\\n', '') AS public_key,
                       enrolled_at, ended_at, ended_by
                  FROM card_phone
                 WHERE organization_id = $1
                 ORDER BY card_id, enrolment) x
    """,
    "tickets": """
        SELECT row_to_json(x)
          FROM (SELECT id, event_id, category_id, card_id, issued_at, activated_at, activated_by, activated_gate,
                       activated_scanner_id, activation_key, admitted_at, cancelled_at, cancel_reason
                  FROM ticket
                 WHERE organization_id = $1
                 ORDER BY id) x
    """,
    "undone_activations": """
        SELECT row_to_json(x)
          FROM (SELECT ticket_id, scan_at, scan_id, activation_key
                  FROM undone_activation
                 WHERE organization_id = $1
                 ORDER BY ticket_id, scan_at, scan_id) x
    """,
    "ticket_references": """
        SELECT row_to_json(x)
          FROM (SELECT ticket_id, event_id, reference
                  FROM ticket_reference
                 WHERE organization_id = $1
                 ORDER BY ticket_id) x
    """,
    "imports": """
        SELECT row_to_json(x)
          FROM (SELECT id, event_id, file_name, state, problem, header, columns, category_id, row_count, faulty,
                       tickets_made, cards_made, tickets_removed, tickets_kept, created_at, created_by, ended_at
                  FROM import
                 WHERE organization_id = $1
                 ORDER BY id) x
    """,
    "import_rows": """
        SELECT row_to_json(x)
          FROM (SELECT import_id, line, cells, fault
                  FROM import_row
                 WHERE organization_id = $1
                 ORDER BY import_id, line) x
    """,
    "announcements": """
        SELECT row_to_json(x)
          FROM (SELECT id, event_id, kind, state, holders, written, begun_at, begun_by, ended_at
                  FROM announcement
                 WHERE organization_id = $1
                 ORDER BY id) x
    """,
    "mailings": """
        SELECT row_to_json(x)
          FROM (SELECT id, event_id, ticket_ids, state, wanted, written, without_address, created_at, created_by,
                       ended_at
                  FROM mailing
                 WHERE organization_id = $1
                 ORDER BY id) x
    """,
    "letters": """
        SELECT row_to_json(x)
          FROM (SELECT id, kind, language, address, card_id, event_id, person_id, mailing_id, state, written_at, tries,
                       doubtful, answer, ended_at
                  FROM letter
                 WHERE organization_id = $1
                 ORDER BY id) x
    """,
    "card_exports": """
        SELECT row_to_json(x)
          FROM (SELECT id, event_id, kind, layout, with_names, category_id, token_until, state, problem, total, done,
                       pages, size, downloads, created_at, created_by, ended_at, expires_at
                  FROM card_export
                 WHERE organization_id = $1
                 ORDER BY id) x
    """,
    "scans": """
        SELECT row_to_json(x)
          FROM (SELECT at, id, mode, key_id, event_id, card_number, card_id, ticket_id, verdict, gate, scanner_id,
                       occurred_at
                  FROM scan
                 WHERE organization_id = $1
                 ORDER BY at, id) x
    """,
    "webhook_endpoints": """
        SELECT row_to_json(x)
          FROM (SELECT id, mode, url, types, description, status, paused_reason, created_at, created_by, deleted_at
                  FROM webhook_endpoint
                 WHERE organization_id = $1
                 ORDER BY id) x
    """,
    "webhook_messages": """
        SELECT row_to_json(x)
          FROM (SELECT at, id, mode, type, convert_from(body, 'UTF8')::json AS body
                  FROM webhook_event
                 WHERE organization_id = $1
                 ORDER BY mode, txid, id) x
    """,
    "webhook_deliveries": """
        SELECT row_to_json(x)
          FROM (SELECT at, id, endpoint_id, event_id, type, state, attempts, next_at, ended_at, last_status, last_error,
                       replay_id
                  FROM webhook_delivery
                 WHERE organization_id = $1
                 ORDER BY endpoint_id, at, id) x
    """,
    "webhook_attempts": """
        SELECT row_to_json(x)
          FROM (SELECT at, delivery_id, n, status, error, address, dns_ms, connect_ms, answer_ms, total_ms, answer_head
                  FROM webhook_attempt
                 WHERE organization_id = $1
                 ORDER BY delivery_id, n, at) x
    """,
    "webhook_replays": """
        SELECT row_to_json(x)
          FROM (SELECT id, endpoint_id, since, until, types, states, total, done, created_at, created_by, ended_at
                  FROM webhook_replay
                 WHERE organization_id = $1
                 ORDER BY id) x
    """,
    "request_log": """
        SELECT row_to_json(x)
          FROM (SELECT at, id, mode, key_id, method, path, status, code, address, duration_us, event_id, card_id
                  FROM logged_call
                 WHERE organization_id = $1
                 ORDER BY at, id) x
    """,
    "audit_log": """
        SELECT row_to_json(x)
          FROM (SELECT at, id, actor, subject, subject_id, action, was, becomes, reason, address
                  FROM audit_log
                 WHERE organization_id = $1
                 ORDER BY at, id) x
    """,
}
