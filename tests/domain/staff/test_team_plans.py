"""The pages of the team read few rows beyond those that they show, in a team of 20,000."""

from collections.abc import Generator
from typing import Final

import psycopg
import pytest

from gatepass.domain.staff import challenge, invitations, passkey, password, reauthentication, team, throttle
from gatepass.domain.staff.reauthentication import MOST_SHOWN
from tests.domain.plans.explain import Link, Plan, nodes
from tests.domain.webhooks.test_page_plans import run
from tests.postgres import Cluster

ORGANIZATION: Final = "00000000-0000-0000-0000-000000000001"
PERSON: Final = "00000000-0000-0000-0000-0000000000a1"
NOBODY: Final = "00000000-0000-0000-0000-000000000000"
ROWS: Final = 20_000
LIMIT: Final = 51

LOAD: Final = f"""
    INSERT INTO organization (id, name, created_at)
        SELECT n::text::uuid, 'Some', now()
          FROM unnest(ARRAY['{ORGANIZATION}', '00000000-0000-0000-0000-000000000002']) n;
    INSERT INTO person (id, email, name, created_at)
        SELECT CASE n WHEN 1 THEN '{PERSON}'::uuid ELSE md5(n::text)::uuid END, n || '@example.org', 'Somebody', now()
          FROM generate_series(1, {ROWS}) n;
    INSERT INTO member (organization_id, person_id, role, joined_at)
        SELECT o.id, p.id, 'viewer', now() - random() * interval '900 days' FROM person p, organization o;
    INSERT INTO password (person_id, hash, set_at) SELECT id, 'x', now() FROM person;
    INSERT INTO passkey (person_id, id, credential_id, public_key, sign_count, name, backed_up, created_at)
        SELECT id, gen_random_uuid(), decode(md5(id::text), 'hex'), 'x', 0, 'x', false, now() FROM person;
    INSERT INTO one_time_code (person_id, id, sealed_seed, created_at, confirmed_at)
        SELECT id, gen_random_uuid(), 'x', now(), now() FROM person;
    INSERT INTO studio_session (id, token_hash, person_id, chosen_organization_id, began_at, seen_at, expires_at)
        SELECT gen_random_uuid(), sha256(p.id::text::bytea), p.id, '{ORGANIZATION}', now(), now(),
               now() + interval '1 day'
          FROM person p;
    INSERT INTO studio_session (id, token_hash, person_id, chosen_organization_id, began_at, seen_at, expires_at)
        SELECT gen_random_uuid(), sha256(n::text::bytea), '{PERSON}', '{ORGANIZATION}',
               now() - n * interval '1 hour', now(), now() - n * interval '1 hour' + interval '14 days'
          FROM generate_series(1, {ROWS}) n;
    INSERT INTO invitation (organization_id, id, email, role, token_hash, invited_by, invited_at, expires_at,
                            revoked_at)
        SELECT o.id, gen_random_uuid(), n || '@example.org', 'viewer', sha256((o.id::text || n)::bytea), 'test',
               now() - n * interval '1 minute', now() + interval '7 days' - n * interval '1 minute',
               CASE WHEN n > 500 THEN now() END
          FROM organization o, generate_series(1, {ROWS}) n;
    INSERT INTO failed_try (subject, failures, last_at, waits_until)
        SELECT sha256(n::text::bytea), 1, now(), now() FROM generate_series(1, {ROWS}) n;
    INSERT INTO challenge (hash, purpose, expires_at)
        SELECT sha256(n::text::bytea), 'sign_in', now() FROM generate_series(1, {ROWS}) n;
    ANALYZE
"""


@pytest.fixture(scope="module")
def crowd(cluster: Cluster) -> str:
    url = cluster.create_migrated("gatepass_team_plans")
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in LOAD.split(";\n"):
            connection.execute(statement.encode())
    return url


@pytest.fixture
def link(crowd: str) -> Generator[Link]:
    with psycopg.connect(crowd, autocommit=True) as connection:
        yield connection


def read(plan: Plan) -> float:
    """Rows read from every table, over all loops."""
    assert [
        node for node in nodes(plan) if node["Node Type"] == "Seq Scan" and node["Relation Name"] != "organization"
    ] == []
    return sum(
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        for node in nodes(plan)
        if node.get("Index Name")
    )


@pytest.mark.parametrize("since", ["0001-01-01", "2025-06-01"])
def test_a_page_of_the_team(link: Link, since: str) -> None:
    """A member, the person, the last session, and how they sign in: six rows for each one shown."""
    assert 0 < read(run(link, team.MEMBERS, ORGANIZATION, since, NOBODY, LIMIT)) <= 7 * LIMIT


def test_one_member(link: Link) -> None:
    assert read(run(link, team.MEMBER, ORGANIZATION, PERSON)) <= 6


def test_a_page_of_invitations(link: Link) -> None:
    last = ("9999-12-31", "ffffffff-ffff-ffff-ffff-ffffffffffff")
    assert 0 < read(run(link, invitations.OPEN, ORGANIZATION, "2020-01-01", *last, LIMIT)) <= LIMIT
    assert 0 < read(run(link, invitations.COUNT_OPEN, ORGANIZATION, "2020-01-01", 500)) <= 500


def test_one_invitation(link: Link) -> None:
    assert read(run(link, invitations.FIND, "\\x" + "ab" * 32, "2020-01-01")) <= 2
    assert read(run(link, invitations.WITHDRAW, ORGANIZATION, "7@example.org", "2026-01-01", "2020-01-01")) <= 1_001
    assert read(run(link, invitations.IS_MEMBER, ORGANIZATION, "7@example.org")) <= 3


def test_the_sessions_of_one_person(link: Link) -> None:
    now = link.execute("SELECT now()::text, (now() - interval '14 days')::text").fetchall()[0]
    plan = run(link, reauthentication.OPEN, PERSON, now[0], "2020-01-01", MOST_SHOWN, now[1])
    assert 0 < read(plan) <= 14 * 24 + 2


def test_signing_in(link: Link) -> None:
    assert read(run(link, password.KNOWN, "7@example.org")) <= 2
    assert read(run(link, passkey.BY_CREDENTIAL, "\\xabcd")) <= 1
    assert read(run(link, challenge.CONSUME, "\\x" + "ab" * 32, "sign_in", None, "2020-01-01")) <= 1
    assert read(run(link, challenge.CLEAR, "2100-01-01", 10)) <= 40
    assert read(run(link, throttle.WAITS_UNTIL, "\\x" + "ab" * 32)) <= 1
    assert read(run(link, throttle.CLEAR, "2100-01-01", 10)) <= 40
