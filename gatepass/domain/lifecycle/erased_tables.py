"""The statements that erase a piece of each tenant table. A test compares the tables with the schema.

A piece is at most $3 rows in the order of an index, from $2 on; `reached` is where the next one begins. Three tables
hold little when an organization is erased, and begin at their first row each time.
"""

from typing import Final, LiteralString

from gatepass.domain.lifecycle.erased_records import ERASE_RECORDS

# Referencing tables first. Before all: people, keys and imports, so that nothing is added meanwhile. The logs are last.
ERASE: Final[dict[str, LiteralString]] = {
    "member": """
        WITH batch AS (SELECT person_id FROM member
                        WHERE organization_id = $1 AND person_id >= $2 ORDER BY person_id LIMIT $3),
             gone AS (DELETE FROM member t USING batch b
                       WHERE t.organization_id = $1 AND t.person_id = b.person_id)
        SELECT person_id AS reached, count(*) OVER () AS count FROM batch ORDER BY person_id DESC LIMIT 1
    """,
    "invitation": """
        WITH batch AS (SELECT id FROM invitation
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM invitation t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "api_key": """
        WITH batch AS (SELECT id FROM api_key
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM api_key t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "pairing_request": """
        WITH batch AS (SELECT code_id, request FROM pairing_request
                        WHERE organization_id = $1 AND code_id >= $2 ORDER BY code_id, request LIMIT $3),
             gone AS (DELETE FROM pairing_request t USING batch b
                       WHERE t.organization_id = $1 AND (t.code_id, t.request) = (b.code_id, b.request))
        SELECT code_id AS reached, count(*) OVER () AS count FROM batch ORDER BY code_id DESC LIMIT 1
    """,
    "pairing_code": """
        WITH batch AS (SELECT id FROM pairing_code
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM pairing_code t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "device_assignment": """
        WITH batch AS (SELECT device_id, since FROM device_assignment
                        WHERE organization_id = $1 AND device_id >= $2 ORDER BY device_id, since LIMIT $3),
             gone AS (DELETE FROM device_assignment t USING batch b
                       WHERE t.organization_id = $1 AND (t.device_id, t.since) = (b.device_id, b.since))
        SELECT device_id AS reached, count(*) OVER () AS count FROM batch ORDER BY device_id DESC LIMIT 1
    """,
    "device": """
        WITH batch AS (SELECT id FROM device
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM device t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "import_key": """
        WITH batch AS (SELECT import_id, round, kind, value FROM import_key
                        WHERE organization_id = $1 AND import_id >= $2
                        ORDER BY import_id, round, kind, value LIMIT $3),
             gone AS (DELETE FROM import_key t USING batch b
                       WHERE t.organization_id = $1
                         AND (t.import_id, t.round, t.kind, t.value) = (b.import_id, b.round, b.kind, b.value))
        SELECT import_id AS reached, count(*) OVER () AS count FROM batch ORDER BY import_id DESC LIMIT 1
    """,
    "import_row": """
        WITH batch AS (SELECT import_id, line FROM import_row
                        WHERE organization_id = $1 AND import_id >= $2 ORDER BY import_id, line LIMIT $3),
             gone AS (DELETE FROM import_row t USING batch b
                       WHERE t.organization_id = $1 AND (t.import_id, t.line) = (b.import_id, b.line))
        SELECT import_id AS reached, count(*) OVER () AS count FROM batch ORDER BY import_id DESC LIMIT 1
    """,
    "import": """
        WITH batch AS (SELECT id FROM import
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM import t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "announcement": """
        WITH batch AS (SELECT id FROM announcement
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM announcement t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "mailing": """
        WITH batch AS (SELECT id FROM mailing
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM mailing t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "letter": """
        WITH batch AS (SELECT id FROM letter
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM letter t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "card_export_part": """
        WITH batch AS (SELECT id FROM card_export_part
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM card_export_part t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "card_export": """
        WITH batch AS (SELECT id FROM card_export
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM card_export t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "ticket_reference": """
        WITH batch AS (SELECT ticket_id, reference, event_id FROM ticket_reference
                        WHERE organization_id = $1 AND ticket_id >= $2
                        ORDER BY ticket_id, reference, event_id LIMIT $3),
             gone AS (DELETE FROM ticket_reference t USING batch b
                       WHERE t.organization_id = $1
                         AND (t.ticket_id, t.reference, t.event_id) = (b.ticket_id, b.reference, b.event_id))
        SELECT ticket_id AS reached, count(*) OVER () AS count FROM batch ORDER BY ticket_id DESC LIMIT 1
    """,
    "undone_activation": """
        WITH batch AS (SELECT ticket_id, scan_at, scan_id FROM undone_activation
                        WHERE organization_id = $1 AND ticket_id >= $2
                        ORDER BY ticket_id, scan_at, scan_id LIMIT $3),
             gone AS (DELETE FROM undone_activation t USING batch b
                       WHERE t.organization_id = $1
                         AND (t.ticket_id, t.scan_at, t.scan_id) = (b.ticket_id, b.scan_at, b.scan_id))
        SELECT ticket_id AS reached, count(*) OVER () AS count FROM batch ORDER BY ticket_id DESC LIMIT 1
    """,
    "ticket": """
        WITH batch AS (SELECT id FROM ticket
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM ticket t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "card_external_id": """
        WITH batch AS (SELECT card_id FROM card_external_id
                        WHERE organization_id = $1 AND card_id >= $2 ORDER BY card_id LIMIT $3),
             gone AS (DELETE FROM card_external_id t USING batch b
                       WHERE t.organization_id = $1 AND t.card_id = b.card_id)
        SELECT card_id AS reached, count(*) OVER () AS count FROM batch ORDER BY card_id DESC LIMIT 1
    """,
    "holder_email": """
        WITH batch AS (SELECT card_id FROM holder_email
                        WHERE organization_id = $1 AND card_id >= $2 ORDER BY card_id LIMIT $3),
             gone AS (DELETE FROM holder_email t USING batch b
                       WHERE t.organization_id = $1 AND t.card_id = b.card_id)
        SELECT card_id AS reached, count(*) OVER () AS count FROM batch ORDER BY card_id DESC LIMIT 1
    """,
    "card_holder": """
        WITH batch AS (SELECT card_id FROM card_holder
                        WHERE organization_id = $1 AND card_id >= $2 ORDER BY card_id LIMIT $3),
             gone AS (DELETE FROM card_holder t USING batch b
                       WHERE t.organization_id = $1 AND t.card_id = b.card_id)
        SELECT card_id AS reached, count(*) OVER () AS count FROM batch ORDER BY card_id DESC LIMIT 1
    """,
    "wallet_registration": """
        WITH batch AS (SELECT link_hash, device FROM wallet_registration
                        WHERE organization_id = $1 AND $2::uuid IS NOT NULL ORDER BY link_hash, device LIMIT $3),
             gone AS (DELETE FROM wallet_registration t USING batch b
                       WHERE t.organization_id = $1 AND (t.link_hash, t.device) = (b.link_hash, b.device))
        SELECT $2::uuid AS reached, count(*) OVER () AS count FROM batch ORDER BY 1 LIMIT 1
    """,
    "wallet_pass": """
        WITH batch AS (SELECT card_id, link_hash FROM wallet_pass
                        WHERE organization_id = $1 AND card_id >= $2 ORDER BY card_id, link_hash LIMIT $3),
             gone AS (DELETE FROM wallet_pass t USING batch b
                       WHERE t.organization_id = $1 AND (t.card_id, t.link_hash) = (b.card_id, b.link_hash))
        SELECT card_id AS reached, count(*) OVER () AS count FROM batch ORDER BY card_id DESC LIMIT 1
    """,
    "card_phone": """
        WITH batch AS (SELECT card_id, enrolment FROM card_phone
                        WHERE organization_id = $1 AND card_id >= $2 ORDER BY card_id, enrolment LIMIT $3),
             gone AS (DELETE FROM card_phone t USING batch b
                       WHERE t.organization_id = $1 AND (t.card_id, t.enrolment) = (b.card_id, b.enrolment))
        SELECT card_id AS reached, count(*) OVER () AS count FROM batch ORDER BY card_id DESC LIMIT 1
    """,
    "card_phone_code": """
        WITH batch AS (SELECT card_id, code_hash FROM card_phone_code
                        WHERE organization_id = $1 AND card_id >= $2 ORDER BY card_id, code_hash LIMIT $3),
             gone AS (DELETE FROM card_phone_code t USING batch b
                       WHERE t.organization_id = $1 AND (t.card_id, t.code_hash) = (b.card_id, b.code_hash))
        SELECT card_id AS reached, count(*) OVER () AS count FROM batch ORDER BY card_id DESC LIMIT 1
    """,
    "card_link": """
        WITH batch AS (SELECT card_id FROM card_link
                        WHERE organization_id = $1 AND card_id >= $2 ORDER BY card_id LIMIT $3),
             gone AS (DELETE FROM card_link t USING batch b
                       WHERE t.organization_id = $1 AND t.card_id = b.card_id)
        SELECT card_id AS reached, count(*) OVER () AS count FROM batch ORDER BY card_id DESC LIMIT 1
    """,
    "ended_card_link": """
        WITH batch AS (SELECT card_id, ended_at, secret_hash FROM ended_card_link
                        WHERE organization_id = $1 AND card_id >= $2
                        ORDER BY card_id, ended_at, secret_hash LIMIT $3),
             gone AS (DELETE FROM ended_card_link t USING batch b
                       WHERE t.organization_id = $1
                         AND (t.card_id, t.ended_at, t.secret_hash) = (b.card_id, b.ended_at, b.secret_hash))
        SELECT card_id AS reached, count(*) OVER () AS count FROM batch ORDER BY card_id DESC LIMIT 1
    """,
    "card": """
        WITH batch AS (SELECT id FROM card
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM card t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "ticket_category": """
        WITH batch AS (SELECT id FROM ticket_category
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM ticket_category t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "event_manifest": """
        WITH batch AS (SELECT event_id FROM event_manifest
                        WHERE organization_id = $1 AND event_id >= $2 ORDER BY event_id LIMIT $3),
             gone AS (DELETE FROM event_manifest t USING batch b
                       WHERE t.organization_id = $1 AND t.event_id = b.event_id)
        SELECT event_id AS reached, count(*) OVER () AS count FROM batch ORDER BY event_id DESC LIMIT 1
    """,
    "event_cover": """
        WITH batch AS (SELECT id FROM event_cover
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM event_cover t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "event": """
        WITH batch AS (SELECT id FROM event
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM event t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    "card_look": """
        WITH batch AS (SELECT organization_id FROM card_look
                        WHERE organization_id = $1 AND $2::uuid IS NOT NULL ORDER BY organization_id LIMIT $3),
             gone AS (DELETE FROM card_look t USING batch b
                       WHERE t.organization_id = $1 AND t.organization_id = b.organization_id)
        SELECT $2::uuid AS reached, count(*) OVER () AS count FROM batch ORDER BY 1 LIMIT 1
    """,
    "signing_key": """
        WITH batch AS (SELECT id FROM signing_key
                        WHERE organization_id = $1 AND id >= $2 ORDER BY id LIMIT $3),
             gone AS (DELETE FROM signing_key t USING batch b
                       WHERE t.organization_id = $1 AND t.id = b.id)
        SELECT id AS reached, count(*) OVER () AS count FROM batch ORDER BY id DESC LIMIT 1
    """,
    **ERASE_RECORDS,
}
