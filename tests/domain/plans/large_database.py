"""A database whose statistics say that it is large: 100 million tickets and cards, 10,000 organizations.

Some twenty thousand rows are loaded and analyzed, and then the numbers in `pg_class` are multiplied. One organization
has a third of all rows, the others are small.
"""

from typing import Final

from tests.domain.plans.explain import SCALE, Link

ORGANIZATIONS: Final = 10_000
LARGEST: Final = "00000000-0000-0000-0000-000000000001"
SMALL: Final = "00000000-0000-0000-0000-000000000002"
ANYTHING: Final = "00000000-0000-0000-0000-0000000000aa"

# The number of rows in the statistics.
BELIEVED: Final = {
    "api_key": 100_000,
    "signing_key": 30_000,
    "event": 1_000_000,
    "ticket_category": 3_000_000,
    "card": 100_000_000,
    "card_holder": 100_000_000,
    "holder_email": 100_000_000,
    "ticket": 100_000_000,
    "ticket_reference": 100_000_000,
    "idempotency_0": 50_000_000,
    "idempotency_1": 50_000_000,
}

LOAD: Final = """
    CREATE TEMP TABLE o AS
        SELECT lpad(to_hex(n), 32, '0')::uuid AS id, n FROM generate_series(1, 1000) n;
    INSERT INTO organization (id, name, created_at) SELECT id, 'Organization', now() FROM o;
    -- A third of everything belongs to the first.
    CREATE TEMP TABLE share AS
        SELECT lpad(to_hex(CASE WHEN s % 3 = 0 THEN 1 ELSE 1 + s % 1000 END), 32, '0')::uuid AS organization_id, s
          FROM generate_series(1, 20000) s;
    INSERT INTO api_key (organization_id, id, hash, mode, name, last_four, scopes, created_at, created_by)
        SELECT organization_id, gen_random_uuid(), sha256(s::text::bytea), 'live', 'key', 'aaaa', '{admin}', now(), 'x'
          FROM share WHERE s % 4 = 0;
    INSERT INTO signing_key (organization_id, id, public_key, sealed_private_key, created_at)
        SELECT id, gen_random_uuid(), sha256(id::text::bytea), '', now() - g * interval '1 day'
          FROM o, generate_series(1, 3) g;
    INSERT INTO event (organization_id, id, title, starts_at, ends_at, status, created_at)
        SELECT organization_id, gen_random_uuid(), 'Event', now() + s * interval '1 minute',
               now() + s * interval '1 minute' + interval '3 hours',
               (ARRAY['published', 'draft', 'ended', 'ended', 'ended', 'cancelled'])[1 + s / 2 % 6], now()
          FROM share WHERE s % 2 = 1;
    INSERT INTO ticket_category (organization_id, id, event_id, name, price_minor, currency, quantity_total)
        SELECT organization_id, gen_random_uuid(), id, 'General', 1000, 'EUR', 100 FROM event, generate_series(1, 2);
    INSERT INTO card (organization_id, id, number, issued_at)
        SELECT organization_id, gen_random_uuid(),
               'SVC ' || to_char(s, 'FM0000') || ' ' || to_char(s % 7919, 'FM0000') || ' 0000', now() FROM share
         WHERE s < 10000;
    INSERT INTO card (organization_id, id, number, issued_at)
        SELECT organization_id, gen_random_uuid(), 'SVC 0000 ' || to_char(s - 10000, 'FM0000') || ' 0001', now()
          FROM share WHERE s BETWEEN 10000 AND 19999;
    INSERT INTO ticket (organization_id, id, event_id, category_id, card_id, issued_at, activated_at, cancelled_at)
        SELECT c.organization_id, gen_random_uuid(), k.event_id, k.id, c.id, now(),
               CASE WHEN random() < 0.6 THEN now() END, CASE WHEN random() < 0.03 THEN now() END
          FROM (SELECT *, row_number() OVER (PARTITION BY organization_id ORDER BY id) AS n FROM card) c
          JOIN (SELECT organization_id, count(*) AS value FROM ticket_category GROUP BY organization_id) total
            ON total.organization_id = c.organization_id
          JOIN (SELECT *, row_number() OVER (PARTITION BY organization_id ORDER BY id) AS n FROM ticket_category) k
            ON k.organization_id = c.organization_id AND k.n = c.n % total.value + 1;
    INSERT INTO card_holder (organization_id, card_id, name, email)
        SELECT organization_id, id, 'Guest', id || '@example.org' FROM card;
    INSERT INTO holder_email (organization_id, card_id, email, current, companion)
        SELECT organization_id, card_id, email, true, false FROM card_holder;
    INSERT INTO ticket_reference (organization_id, reference, event_id, ticket_id)
        SELECT organization_id, id::text, event_id, id FROM ticket;
    INSERT INTO idempotency (organization_id, idempotency_key, generation, fingerprint, at, verdict)
        SELECT organization_id, gen_random_uuid(), s % 2, gen_random_uuid(), now(), 'activated' FROM share;
"""


def load(connection: Link) -> None:
    for table in BELIEVED:
        connection.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)".encode())
    connection.execute("SET session_replication_role = replica")  # no look-ups for foreign keys
    for statement in LOAD.split(";\n"):
        connection.execute(statement.encode())
    connection.execute("RESET session_replication_role")
    _multiply_statistics(connection)


def _multiply_statistics(connection: Link) -> None:
    for table, rows in BELIEVED.items():
        for column, distinct in (("organization_id", ORGANIZATIONS), ("event_id", -0.01), ("card_id", -0.25)):
            if connection.execute(HAS_COLUMN, (table, column)).fetchone():
                connection.execute(f"ALTER TABLE {table} ALTER {column} SET (n_distinct = {distinct})".encode())
        connection.execute(f"ANALYZE {table}".encode())
        connection.execute(SCALE, {"table": table, "rows": rows})


HAS_COLUMN: Final = "SELECT FROM pg_attribute WHERE attrelid = %s::regclass AND attname = %s"
