import json
from collections.abc import Generator
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from gatepass.base.clock import system_clock
from gatepass.base.encryption import new_key
from gatepass.domain import cards, keys
from gatepass.domain import demo as demo_data
from gatepass.domain.cards import CardStatus, InvalidToken, Verification, VerificationReason, VerificationRequest
from tests import factory
from tests.cli.command import Command
from tests.cli.conftest import Databases

ANY_KEY = "SELECT id FROM api_key WHERE organization_id = $1 AND revoked_at IS NULL LIMIT 1"


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory, databases: Databases) -> Command:
    return Command(
        tmp_path_factory.mktemp("demo"),
        {**factory.environment(databases.copy()), "GATEPASS_ENCRYPTION_KEYS": new_key(), "GATEPASS_CELL": "k"},
    )


@pytest.fixture(scope="module")
def demo(command: Command) -> dict[str, Any]:
    told = command.cold("demo", "--json")
    assert (told.returncode, told.stderr) == (0, "")
    return json.loads(told.stdout)


@pytest.fixture(scope="module")
def tables(command: Command) -> Generator[psycopg.Connection]:
    with psycopg.connect(command.env["GATEPASS_DATABASE_URL"], autocommit=True) as connection:
        yield connection


@pytest.fixture
def lonely(on_database: Command) -> Generator[psycopg.Connection]:
    """The tables of an empty, migrated database."""
    with psycopg.connect(on_database.env["GATEPASS_DATABASE_URL"], autocommit=True) as connection:
        yield connection


def test_the_shape_is_what_the_acceptance_checks_read(demo: dict[str, Any]) -> None:
    assert set(demo) == {"base_url", "organization_id", "keys", "events", "cards"}
    assert demo["base_url"] == "http://127.0.0.1:8000/api/public/v1"
    assert set(demo["keys"]) == {
        "live",
        "sandbox",
        "events_read",
        "cards_verify",
        "tickets_activate",
        "webhooks_read",
        "revoked",
        "other_organization",
    }
    assert set(demo["events"]) == {"published", "draft", "cancelled", "ended", "other_organization"}
    single = {"activated", "suspended", "revoked", "expired_token", "no_ticket", "other_organization"}
    assert set(demo["cards"]) == single | {"unused"}
    assert all(set(demo["cards"][name]) == {"card_number", "token"} for name in single)


def test_three_hundred_cards_have_an_unused_ticket_of_the_category_they_tell(
    demo: dict[str, Any], tables: psycopg.Connection
) -> None:
    found = tables.execute(UNUSED, (demo["organization_id"], demo["events"]["published"])).fetchall()
    shown = {(card["card_number"], card["tier"], card["category_name"]) for card in demo["cards"]["unused"]}
    assert len(shown) == 300
    assert shown <= set(found)
    assert {tier for _, tier, _ in shown} == {"standard", "vip"}


def test_events_have_the_status_that_they_are_named_after(demo: dict[str, Any], tables: psycopg.Connection) -> None:
    rows = tables.execute("SELECT id::text, status FROM event").fetchall()
    status = dict(rows)
    for name in ("published", "draft", "cancelled", "ended"):
        assert status[demo["events"][name]] == name
    own = tables.execute(PUBLISHED, (demo["organization_id"],)).fetchone()
    assert own == (3,)


def test_the_activated_ticket_was_really_scanned(demo: dict[str, Any], tables: psycopg.Connection) -> None:
    number = demo["cards"]["activated"]["card_number"]
    assert tables.execute(ACTIVATED, (demo["organization_id"], number)).fetchall() == [("activated", 200, True)]


def test_places_sold_are_tickets_made(demo: dict[str, Any], tables: psycopg.Connection) -> None:
    assert tables.execute(SOLD, (demo["organization_id"],)).fetchall() == []


@pytest.mark.parametrize(
    ("name", "scopes", "rate"),
    [
        ("live", ["admin"], 1000),
        ("sandbox", ["admin"], 1000),
        ("events_read", ["events:read"], None),
        ("cards_verify", ["cards:verify"], None),
        ("tickets_activate", ["tickets:activate"], None),
        ("webhooks_read", ["webhooks:read"], None),
        ("other_organization", ["admin"], None),
    ],
)
async def test_keys_open_what_they_are_named_after(
    demo: dict[str, Any], command: Command, name: str, scopes: list[str], rate: int | None
) -> None:
    db = factory.database(command.env["GATEPASS_DATABASE_URL"])
    async with db.autocommit() as tx:
        caller = await keys.authenticate(tx, demo["keys"][name], None, at=system_clock())
    await db.close()
    assert sorted(caller.scopes) == scopes
    assert caller.rate_per_second == rate
    assert (str(caller.organization_id) == demo["organization_id"]) == (name != "other_organization")
    assert keys.is_well_formed(demo["keys"][name])
    assert demo["keys"][name][9] == "k", "the letter of the cell"


async def test_the_revoked_key_is_dead(demo: dict[str, Any], command: Command) -> None:
    db = factory.database(command.env["GATEPASS_DATABASE_URL"])
    async with db.autocommit() as tx:
        with pytest.raises(keys.DeadKey):
            await keys.authenticate(tx, demo["keys"]["revoked"], None, at=system_clock())
    await db.close()


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        ("activated", CardStatus.ACTIVE, None),
        ("suspended", CardStatus.SUSPENDED, VerificationReason.CARD_SUSPENDED),
        ("revoked", CardStatus.REVOKED, VerificationReason.CARD_REVOKED),
        ("expired_token", CardStatus.ACTIVE, VerificationReason.EXPIRED),
        ("no_ticket", CardStatus.ACTIVE, None),
        ("other_organization", None, VerificationReason.INVALID_TOKEN),
    ],
)
async def test_tokens_verify_as_they_are_named(
    demo: dict[str, Any], command: Command, name: str, status: CardStatus | None, reason: VerificationReason | None
) -> None:
    db = factory.database(command.env["GATEPASS_DATABASE_URL"])
    async with db.autocommit() as tx:
        organization_id = UUID(demo["organization_id"])
        found: object = cards.INVALID
        with suppress(InvalidToken):
            token = cards.read_token(demo["cards"][name]["token"], await cards.verifying_keys(tx, organization_id))
            asked = VerificationRequest(
                organization_id, organization_id, await tx.value(ANY_KEY, organization_id), token
            )
            (found,) = await cards.verify(tx, [asked], at=system_clock())
    await db.close()
    assert isinstance(found, Verification)
    assert found.reason is reason
    assert (found.card.status if found.card else None) is status


def test_a_second_demo_stands_beside_the_first(on_database: Command, lonely: psycopg.Connection) -> None:
    for _ in range(2):
        assert on_database("demo", "--json", "--tickets", "1").returncode == 0
    assert lonely.execute("SELECT name FROM organization WHERE demo ORDER BY name").fetchall() == [
        ("Gatepass Demo",),
        ("Gatepass Demo",),
        ("Other Demo",),
        ("Other Demo",),
    ]


# All other tables stay empty: the demo has no webhook endpoints and no devices, its calls are live scans, and nobody
# got a card by mail.
FILLED = {"api_key", "audit_log", "card", "card_holder", "event", "scan", "signing_key", "ticket", "ticket_category"}


def test_reset_takes_away_all_of_the_demo_and_nothing_else(on_database: Command, lonely: psycopg.Connection) -> None:
    assert on_database("demo", "--json").returncode == 0
    kept = uuid4()
    lonely.execute("INSERT INTO organization VALUES (%s, 'Real', 'SVC', false, now())", (kept,))
    lonely.execute(
        "UPDATE organization SET demo = false, name = 'Kept' WHERE name = 'Gatepass Demo' AND id <> %s", (kept,)
    )
    before = rows_of_others(lonely)
    assert on_database("demo", "--json", "--tickets", "5").returncode == 0
    assert on_database("demo", "--json", "--reset", "--tickets", "7").returncode == 0
    assert rows_of_others(lonely) == before
    assert {name for name, count in before.items() if count} == FILLED
    assert lonely.execute(ORGANIZATIONS).fetchall() == [
        ("Gatepass Demo", True),
        ("Kept", False),
        ("Other Demo", True),
        ("Real", False),
    ]
    orphans = {name: count for name in tenant_tables(lonely) if (count := orphans_in(lonely, name))}
    assert orphans == {}


def test_reset_knows_every_tenant_table(tables: psycopg.Connection) -> None:
    assert set(demo_data.CLEAR) == set(tenant_tables(tables))


def test_many_tickets_are_loaded_in_batches_and_few_are_shown(on_database: Command, lonely: psycopg.Connection) -> None:
    told = on_database("demo", "--json", "--tickets", "45001")
    assert told.returncode == 0, told.stderr
    demo = json.loads(told.stdout)
    assert len(demo["cards"]["unused"]) == 1000
    assert {card["tier"] for card in demo["cards"]["unused"]} == {"standard", "vip"}
    unused = lonely.execute(COUNT_UNUSED, (demo["events"]["published"],)).fetchone()
    # Besides the cards of `--tickets`, three special cards have an unused ticket.
    assert unused == (45004,)
    assert lonely.execute(SOLD, (demo["organization_id"],)).fetchall() == []


@pytest.mark.parametrize("number", ["0", "10000001", "many"])
def test_a_number_of_tickets_that_cannot_be_is_wrong_usage(gatepass: Command, number: str) -> None:
    assert gatepass("demo", "--tickets", number).returncode == 2


def test_without_an_encryption_key_it_says_how_to_make_one(gatepass: Command) -> None:
    told = gatepass("demo")
    assert told.returncode == 2
    assert told.stderr.startswith("GATEPASS_ENCRYPTION_KEYS: ")
    assert "gatepass secret" in told.stderr


def test_on_an_unmigrated_database_it_says_what_to_run(on_empty_database: Command) -> None:
    told = on_empty_database("demo")
    assert told.returncode == 1
    assert "Run `gatepass migrate`." in told.stderr


def test_for_people_it_prints_the_keys_and_a_first_scan(on_database: Command) -> None:
    told = on_database("demo")
    assert told.returncode == 0
    assert "svc_live_" in told.stdout
    assert "curl -X POST http://127.0.0.1:8000/api/public/v1/scan" in told.stdout


def tenant_tables(tables: psycopg.Connection) -> list[str]:
    return [name for (name,) in tables.execute(TENANT_TABLES).fetchall()]


def rows_of_others(tables: psycopg.Connection) -> dict[str, int]:
    """How many rows of each tenant table belong to organizations that are no demo."""
    query = "SELECT count(*) FROM {} t JOIN organization o ON o.id = t.organization_id AND NOT o.demo"
    return {name: counted(tables, query.format(name)) for name in tenant_tables(tables)}


def orphans_in(tables: psycopg.Connection, name: str) -> int:
    query = "SELECT count(*) FROM {} t WHERE NOT EXISTS (SELECT FROM organization o WHERE o.id = t.organization_id)"
    return counted(tables, query.format(name))


def counted(tables: psycopg.Connection, query: str) -> int:
    row = tables.execute(query.encode()).fetchone()
    return row[0] if row else 0


TENANT_TABLES = """
    SELECT c.relname::text
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'organization_id'
     WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
"""

ORGANIZATIONS = "SELECT name, demo FROM organization ORDER BY name"

UNUSED = """
    SELECT c.number, k.tier, k.name
      FROM ticket t
      JOIN card c ON c.organization_id = t.organization_id AND c.id = t.card_id AND c.status = 'active'
      JOIN ticket_category k ON k.organization_id = t.organization_id AND k.id = t.category_id
     WHERE t.organization_id = %s AND t.event_id = %s AND t.activated_at IS NULL AND t.cancelled_at IS NULL
"""

COUNT_UNUSED = "SELECT count(*) FROM ticket WHERE event_id = %s AND activated_at IS NULL AND cancelled_at IS NULL"

PUBLISHED = "SELECT count(*) FROM event WHERE organization_id = %s AND status = 'published'"

ACTIVATED = """
    SELECT s.verdict, a.status, t.activated_by = s.id
      FROM scan s
      JOIN logged_call a ON a.organization_id = s.organization_id AND a.id = s.id
      JOIN ticket t ON t.organization_id = s.organization_id AND t.id = s.ticket_id
     WHERE s.organization_id = %s AND s.card_number = %s
"""

SOLD = """
    SELECT k.id
      FROM ticket_category k
     WHERE k.organization_id = %s
       AND k.quantity_sold <> (SELECT count(*) FROM ticket t WHERE t.category_id = k.id AND t.cancelled_at IS NULL)
"""
