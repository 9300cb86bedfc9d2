"""No statement both waits for a row and joins what it read before: lock in one statement, act in the next."""

from typing import Final

import pytest

from tests.domain.locks.waiting import stale_reads
from tests.domain.tenancy.statements import DOMAIN, Statement, constants, embedded, routines

STATEMENTS: Final = [statement for path in sorted(DOMAIN.rglob("*.py")) for statement in constants(path)]

# A whole organization is deleted, when nobody can change it any more: its table is read for the next piece.
OF_WHOLE_ORGANIZATIONS: Final = {
    "demo.CLEAR_SOME_CARDS",
    "demo.CLEAR_SOME_TICKETS",
    *(f"lifecycle/erased_tables.ERASE['{table}']" for table in ("card", "event", "ticket", "ticket_category")),
}
# The scan compares the card of the ticket that it waited for with that which it joined, and explains a loss in
# another statement.
ROUTINES: Final = {"judge_scans"}


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.name)
def test_a_statement_that_waits_reads_nothing_else(statement: Statement) -> None:
    # An exemption that is not needed hides the day on which it is.
    assert bool(stale_reads(statement.text)) == (statement.name in OF_WHOLE_ORGANIZATIONS), stale_reads(statement.text)


def test_a_routine_that_waits_reads_nothing_else() -> None:
    found = {name for name, tree in routines().items() if any(stale_reads(text) for text in embedded(tree))}
    assert found == ROUTINES


def test_the_guard_sees_the_statements() -> None:
    names = {statement.name for statement in STATEMENTS}
    assert {"tickets/cancellation.CANCEL", "tickets/locking.LOCK", *OF_WHOLE_ORGANIZATIONS} <= names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("UPDATE ticket SET cancelled_at = $1 WHERE id = $2", []),
        ("SELECT id FROM ticket WHERE id = $1 FOR UPDATE", []),
        ("UPDATE ticket t SET card_id = u.id FROM unnest($1::uuid[]) u (id) WHERE t.id = u.id", []),
        ("INSERT INTO undone_activation SELECT id FROM ticket", []),
        ("SELECT t.id FROM ticket t JOIN card c ON c.id = t.card_id FOR UPDATE OF t SKIP LOCKED", []),
        ("SELECT t.id FROM letter l JOIN card c ON c.id = l.card_id FOR UPDATE OF l", []),
        ("UPDATE ticket t SET x = 1 FROM card c WHERE c.id = t.card_id", ["waits for ticket and reads card"]),
        ("DELETE FROM card c WHERE NOT EXISTS (SELECT FROM ticket)", ["waits for card and reads ticket"]),
        (
            "SELECT t.id, (SELECT c.number FROM card c WHERE c.id = t.card_id) FROM ticket t FOR UPDATE OF t",
            ["waits for ticket and reads card"],
        ),
        (
            "WITH gone AS (UPDATE ticket SET x = 1 RETURNING card_id) SELECT number FROM gone, card",
            ["waits for ticket and reads card"],
        ),
        ("UPDATE ticket SET x = 1 FROM ticket other", ["waits for ticket and reads ticket"]),
    ],
)
def test_a_stale_read_is_seen(text: str, expected: list[str]) -> None:
    assert stale_reads(text) == expected
