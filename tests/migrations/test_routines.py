"""Processes of version 0.2.0 run on every later schema, so each routine that they call keeps its arguments and result.

A routine that needs another argument gets another name, and the old one stays.
"""

import psycopg
import pytest

# Of version 0.2.0; add those of a release when it is made, and remove none while its processes may still run.
ROUTINES = {
    "activate_scans": (
        (
            "p_at timestamp with time zone, p_statuses jsonb, p_request uuid[], p_organization uuid[], p_mode text[],"
            " p_key uuid[], p_address text[], p_received_at timestamp with time zone[], p_elapsed_us integer[],"
            " p_idempotency_key uuid[], p_fingerprint uuid[], p_event uuid[], p_card_number text[],"
            " p_signing_key uuid[], p_expired boolean[], p_gate text[], p_scanner_id text[],"
            " p_occurred_at timestamp with time zone[], p_given jsonb[]"
        ),
        (
            "TABLE(request_id uuid, verdict text, replayed boolean, ticket_id uuid, tier text, category_name text,"
            " first_at timestamp with time zone, first_gate text, first_scanner_id text)"
        ),
    ),
    "claim_deliveries": (
        "p_rooms jsonb, p_elsewhere integer, p_lanes integer, p_most integer, p_lease interval, p_failing integer",
        (
            "TABLE(organization_id uuid, endpoint_id uuid, ordering_key uuid, id bigint, lane smallint,"
            " attempt integer, delivery_at timestamp with time zone, delivery_id uuid, is_replay boolean,"
            " event_id uuid, type text, body bytea, mode text, url text, sealed_secret bytea, sealed_new_secret bytea,"
            " switches_at timestamp with time zone, retires_at timestamp with time zone, failures integer)"
        ),
    ),
    "drop_expired_partition": ("p_history text, p_at timestamp with time zone", "text"),
    "empty_next_generation": ("", "void"),
    "heard_types": ("p_organization uuid, p_mode text, p_at timestamp with time zone", "text[]"),
    "make_missing_partition": ("p_history text, p_at timestamp with time zone", "text"),
    "open_next_generation": ("p_at timestamp with time zone, p_due timestamp with time zone", "boolean"),
    "record_attempts": (
        (
            "p_organization uuid[], p_endpoint uuid[], p_ordering_key uuid[], p_id bigint[], p_attempt integer[],"
            " p_delivery_at timestamp with time zone[], p_delivery uuid[], p_state text[], p_again double precision[],"
            " p_at timestamp with time zone[], p_status smallint[], p_error text[], p_address text[], p_dns_ms real[],"
            " p_connect_ms real[], p_answer_ms real[], p_total_ms real[], p_answer_head text[]"
        ),
        "integer",
    ),
    "tell_subscribers": (
        (
            "p_at timestamp with time zone, p_organization uuid[], p_mode text[], p_type text[], p_id uuid[],"
            " p_ordering_key uuid[], p_body bytea[], p_endpoint uuid"
        ),
        "void",
    ),
}
SIGNATURES = """
    SELECT pg_get_function_arguments(oid), pg_get_function_result(oid)
      FROM pg_proc
     WHERE pronamespace = 'public'::regnamespace
       AND proname = %s
"""


@pytest.mark.parametrize("name", ROUTINES)
def test_a_routine_keeps_its_arguments_and_its_result(database_url: str, name: str) -> None:
    with psycopg.connect(database_url) as connection:
        assert connection.execute(SIGNATURES, (name,)).fetchall() == [ROUTINES[name]]
