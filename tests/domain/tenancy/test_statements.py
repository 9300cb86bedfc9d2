"""No statement reaches across organizations: each one is parsed and must pin `organization_id` of every tenant table.

A statement that must look at every organization says so in its first line, and stands in EVERY_ORGANIZATION.
"""

import ast
from typing import Final

import pglast
import pytest

from tests.domain.tenancy.pinning import PINNED, tables, unpinned
from tests.domain.tenancy.statements import (
    DOMAIN,
    PACKAGE,
    Statement,
    constants,
    embedded,
    is_dynamic,
    loose_sql,
    routines,
    texts,
)

# Every statement that is allowed to look at more than one organization.
EVERY_ORGANIZATION: Final = {
    "cards/links.FIND",
    "announcements/writing.NEXT",
    "notice_letters/attention.TAKE_ENDING",
    "notice_letters/attention.TAKE_FAILING",
    "devices/pairing/asking.FIND",
    "devices/pairing/codes.DELETE_OLD",
    "devices/pairing/fetching.FIND",
    "events/covers.FIND",
    "events/editing.LOCK_PAST",
    "card_exports/cleanup.NEXT",
    "card_exports/runner.NEXT",
    "imports/cleanup.GIVE_UP",
    "imports/cleanup.NEXT",
    "imports/runner.NEXT",
    "keys/authentication.BY_HASHES",
    "keys/authentication.LATEST_USED",
    "keys/rates.OF_OPERATOR",
    "lifecycle/listing.PAGE",
    "mail/cleanup.DELETE",
    "mail/cleanup.FORGET",
    "mail/queue.CLAIM",
    "mail/queue.DUE",
    "mailings/runner.NEXT",
    "reencrypt.LETTERS",
    "reencrypt.FILE_PARTS",
    "reencrypt.LINKS",
    "reencrypt.PRIVATE_KEYS",
    "reencrypt.SECRETS",
    "reencrypt.NEW_SECRETS",
    "staff/account.PEOPLE",
    "staff/account.STANDING",
    "staff/invitations.FIND",
    "staff/invitations.INVITED_IN",
    "staff/membership.MEMBERSHIPS",
    "staff/sessions.BEGIN",
    "staff/sessions.FIND",
    "staff/sessions.OPEN_SESSION",
    "staff/sessions.RELOAD",
    "tickets/cancellation.NEXT_CANCELLED",
    "twin.EMPTY_UNUSED",
    "wallets/pushes.CLAIM",
    "wallets/pushes.COMPARE",
    "wallets/registrations.CHANGED",
    "wallets/registrations.FIND",
    "wallets/registrations.LINK",
    "webhooks/backlog.AGES",
    "webhooks/backlog.CLEARED",
    "webhooks/backlog.DROP_SOME_OF_DELETED",
    "webhooks/backlog.EXPIRE_SOME",
    "webhooks/backlog.SET_ASIDE_SOME",
    "webhooks/replays.NEXT",
}
# And every routine: a worker serves them all.
ROUTINES_FOR_EVERY_ORGANIZATION: Final = ["claim_deliveries"]
# Routines that build statements out of names: partitions come and go, and have no name before.
DYNAMIC: Final = {
    "bound_default",
    "bring_rows_back",
    "check_default",
    "default_is_crowded",
    "drop_expired_partition",
    "empty_next_generation",
    "make_missing_partition",
    "place_of_default",
    "put_default_in_place",
    "set_rows_aside",
}

# They ask the server whether it commits, and what time it is, and touch no table.
NO_TABLE: Final = {PACKAGE / "base" / "commit_probe.py", PACKAGE / "base" / "server_clock.py"}

MODULES: Final = sorted(DOMAIN.rglob("*.py"))
STATEMENTS: Final = [statement for path in MODULES for statement in constants(path)]


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.name)
def test_a_statement_stays_in_its_organization(statement: Statement, tenants: frozenset[str]) -> None:
    reaching_out = unpinned(statement.text, tenants)
    # An exemption that is not needed hides the day on which it is.
    assert bool(reaching_out) == statement.is_exempt, reaching_out


def test_only_these_statements_look_at_every_organization() -> None:
    assert {statement.name for statement in STATEMENTS if statement.is_exempt} == EVERY_ORGANIZATION


def test_the_guard_sees_the_statements() -> None:
    assert {
        "tickets/cancellation.CANCEL",
        "demo.CLEAR['ticket']",
        "lifecycle/erased_tables.ERASE['ticket']",
        "lifecycle/export.FILES['tickets']",
    } <= {one.name for one in STATEMENTS}
    assert len(STATEMENTS) > 300


def test_a_routine_stays_in_its_organization(tenants: frozenset[str]) -> None:
    found = {name: [list(unpinned(text, tenants)) for text in embedded(tree)] for name, tree in routines().items()}
    assert [name for name, tables in found.items() if any(tables)] == ROUTINES_FOR_EVERY_ORGANIZATION
    assert {"ticket", "card", "event", "idempotency"} <= {
        table
        for text in embedded(routines()["judge_scans"])
        for raw in pglast.parse_sql(text)
        for table in tables(raw.stmt)
    }


def test_only_these_routines_build_statements() -> None:
    assert {name for name, tree in routines().items() if is_dynamic(tree)} == DYNAMIC


def test_sql_stands_in_constants_of_the_domain_and_nowhere_else() -> None:
    loose = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if not path.is_relative_to(PACKAGE / "migrations") and path not in NO_TABLE
        for line in loose_sql(ast.parse(path.read_text()), in_domain=path.is_relative_to(DOMAIN))
    ]
    assert loose == []


def test_copied_rows_name_their_organization(tenants: frozenset[str]) -> None:
    copies = [
        [ast.literal_eval(argument) for argument in node.args[:2]]
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "copy"
    ]
    assert copies
    assert [table for table, columns in copies if table in tenants and PINNED not in columns] == []


# ---- statements that are joined of constants -------------------------------------------------------------------

JOINED: Final = """
from gatepass.domain.webhooks.message import PREFIX as COLUMN
TABLE = "ticket"
FILTER: Final = " WHERE id = $1"
BAD: Final = "SELECT id FROM " + TABLE + FILTER
GOOD: Final = {"one": "SELECT id FROM " + TABLE + " WHERE organization_id = $1"}
FAR: Final = "SELECT " + COLUMN + "id FROM organization"
LONGER: Final = BAD + " FOR UPDATE"
"""

NOT_FOLLOWED: Final = [
    'X = "SELECT id FROM " + unknown',
    'X = "SELECT id FROM " + table()',
    'X = "SELECT id FROM {}".format("ticket")',
    'X = f"SELECT id FROM {TABLE}"',
    'X = "SELECT id FROM %s" % "ticket"',
    'def f():\n    return "SELECT id FROM " + "ticket"',
    'X = "SELECT id FROM organization"\ndef f():\n    return X + ", ticket"',
    'X = "SELECT id FROM organization"\ndef f():\n    return f"{X}, ticket"',
]


def test_the_guard_follows_joined_constants(tenants: frozenset[str]) -> None:
    found = {one.name: one.text for one in texts(ast.parse(JOINED)) if one.text.startswith("SELECT")}
    assert found == {
        "BAD": "SELECT id FROM ticket WHERE id = $1",
        "GOOD['one']": "SELECT id FROM ticket WHERE organization_id = $1",
        "FAR": "SELECT evt_id FROM organization",
        "LONGER": "SELECT id FROM ticket WHERE id = $1 FOR UPDATE",
    }
    assert [name for name, text in found.items() if unpinned(text, tenants)] == ["BAD", "LONGER"]
    assert loose_sql(ast.parse(JOINED), in_domain=True) == []


@pytest.mark.parametrize("text", NOT_FOLLOWED)
def test_sql_that_the_guard_cannot_follow_is_refused(text: str) -> None:
    assert loose_sql(ast.parse(text), in_domain=True)


def test_the_guard_sees_the_joined_statements() -> None:
    found = {one.name: one.text for one in STATEMENTS}
    assert "c.subject_id = $10" in found["audit_log.PAGE_OF_SUBJECT"]
    assert "tickets_kept" in found["imports/runner.NEXT"]
