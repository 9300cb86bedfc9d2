"""The hot statements use whole keys of their indexes at any size, with custom and with generic plans.

No table is read from end to end, and an index condition has the columns that single out a row: a condition on
`organization_id` alone would read a whole organization.
"""

from dataclasses import dataclass
from typing import Final

import pytest

from gatepass.domain.cards import locking as card_locking
from gatepass.domain.cards import people, signing_keys, verification
from gatepass.domain.cards import status as card_status
from gatepass.domain.events import catalogue, catalogue_batch
from gatepass.domain.keys import authentication
from gatepass.domain.keys import issuance as key_issuance
from gatepass.domain.tickets import cancellation, locking, situation
from gatepass.domain.tickets import issuance as ticket_issuance
from tests.domain.plans.explain import Link, explain, faults, nodes
from tests.domain.plans.large_database import ANYTHING, LARGEST, SMALL


@dataclass(frozen=True)
class Hot:
    name: str
    text: str
    types: tuple[str, ...]
    values: tuple[str, ...]


ORGANIZATION: Final = "'{organization}'"
ID: Final = f"'{ANYTHING}'"
IDS: Final = f"ARRAY['{ANYTHING}', '{SMALL}', '{LARGEST}']::uuid[]"
TEXTS: Final = "ARRAY['a@example.org', 'b@example.org']"
PLACES: Final = "ARRAY[1, 2, 3]"
NOW: Final = "'2031-01-01'"

HOT: Final = [
    Hot("authentication", authentication.BY_HASHES, ("bytea[]",), (r"ARRAY['\xaa', '\xbb']::bytea[]",)),
    Hot("an event", catalogue.FIND, ("uuid", "uuid"), (ORGANIZATION, ID)),
    Hot("categories of a page", catalogue.CATEGORIES, ("uuid", "uuid[]"), (ORGANIZATION, IDS)),
    Hot("verifying keys", signing_keys.VERIFYING, ("uuid",), (ORGANIZATION,)),
    Hot(
        "a card by its number",
        verification.LOOK_UP,
        ("uuid[]", "uuid[]", "uuid[]", "text[]", "timestamptz", "uuid[]"),
        (
            f"ARRAY[{ORGANIZATION}]::uuid[]",
            f"ARRAY[{ID}]::uuid[]",
            f"ARRAY[{ID}]::uuid[]",
            "ARRAY['SVC 0001 0001 0000']",
            NOW,
            f"ARRAY[{ORGANIZATION}]::uuid[]",
        ),
    ),
    Hot("a card to move", card_status.LOCK, ("uuid", "uuid"), (ORGANIZATION, ID)),
    Hot("events of new tickets", situation.LOCK_EVENTS, ("uuid", "uuid[]"), (ORGANIZATION, IDS)),
    Hot("known external ids", situation.KNOWN, ("uuid", "uuid[]", "text[]"), (ORGANIZATION, IDS, TEXTS)),
    Hot("cards of people", people.CURRENT, ("uuid", "text[]"), (ORGANIZATION, TEXTS)),
    Hot("cards of people of 0.2", people.UNLISTED, ("uuid", "text[]"), (ORGANIZATION, TEXTS)),
    Hot("cards by their numbers", situation.CARDS_BY_NUMBER, ("uuid", "text[]"), (ORGANIZATION, TEXTS)),
    Hot("cards of new tickets", situation.LOCK_CARDS, ("uuid", "uuid[]"), (ORGANIZATION, IDS)),
    Hot("tickets of these cards", situation.HOLDING, ("uuid", "uuid[]", "uuid[]"), (ORGANIZATION, IDS, IDS)),
    Hot("places", situation.LOCK_CATEGORIES, ("uuid", "uuid[]"), (ORGANIZATION, IDS)),
    Hot("places to take", ticket_issuance.TAKE_PLACES, ("uuid", "uuid[]", "integer[]"), (ORGANIZATION, IDS, PLACES)),
    Hot("a card that is superseded", people.SUPERSEDE, ("uuid", "text[]"), (ORGANIZATION, TEXTS)),
    Hot(
        "a cancelled ticket",
        cancellation.CANCEL,
        ("uuid", "uuid[]", "timestamptz", "text"),
        (ORGANIZATION, IDS, NOW, "'reason'"),
    ),
    Hot("a ticket to change", locking.LOCK, ("uuid", "uuid"), (ORGANIZATION, ID)),
    Hot("the event of a ticket", locking.SOLD, ("uuid", "uuid"), (ORGANIZATION, ID)),
    Hot("tickets of a card to move", locking.LOCK_OF_CARD, ("uuid", "uuid"), (ORGANIZATION, ID)),
    Hot("numbers of cards", locking.NUMBERS, ("uuid", "uuid[]"), (ORGANIZATION, IDS)),
    Hot("cards with their holders", card_locking.LOCK, ("uuid", "uuid[]"), (ORGANIZATION, IDS)),
    Hot("an undone activation", cancellation.UNDO, ("uuid", "uuid", "timestamptz"), (ORGANIZATION, ID, NOW)),
    Hot(
        "keys that were used",
        key_issuance.MARK_USED,
        ("uuid[]", "uuid[]", "timestamptz[]", "inet[]"),
        (f"ARRAY[{ORGANIZATION}]::uuid[]", f"ARRAY[{ID}]::uuid[]", "ARRAY[now()]", "ARRAY[NULL]::inet[]"),
    ),
]


@pytest.mark.parametrize("organization", [LARGEST, SMALL], ids=["largest", "small"])
@pytest.mark.parametrize("mode", ["generic", "custom"])
@pytest.mark.parametrize("hot", HOT, ids=lambda hot: hot.name)
def test_a_hot_statement_uses_a_whole_key(large: Link, hot: Hot, mode: str, organization: str) -> None:
    values = [value.format(organization=organization) for value in hot.values]
    assert faults(explain(large, hot.text, hot.types, values, mode)) == []


@pytest.mark.parametrize("organization", [LARGEST, SMALL], ids=["largest", "small"])
@pytest.mark.parametrize("mode", ["generic", "custom"])
def test_the_first_events_are_read_in_order_and_no_further(large: Link, mode: str, organization: str) -> None:
    """The index has the order, so that LIMIT ends the read. A sort is allowed only where few rows are expected."""
    plan = explain(large, catalogue.PUBLISHED, ["uuid", "int8"], [f"'{organization}'", "3"], mode)
    (scan,) = (node for node in nodes(plan) if "Index Name" in node)
    assert scan["Index Name"] == "event_published"
    assert "organization_id = " in scan["Index Cond"]
    if organization == LARGEST or mode == "generic":
        assert [node["Node Type"] for node in nodes(plan)] == ["Limit", "Index Scan"]


@pytest.mark.parametrize("organization", [LARGEST, SMALL], ids=["largest", "small"])
@pytest.mark.parametrize("mode", ["generic", "custom"])
@pytest.mark.parametrize("status", ["published", "draft", "cancelled", "ended"])
def test_a_batch_of_reads_takes_each_page_in_order_and_each_event_by_its_key(
    large: Link, status: str, mode: str, organization: str
) -> None:
    types = ["timestamptz", *["uuid[]"] * 4, "text[]", "timestamptz[]", "uuid[]", "integer[]", "uuid[]"]
    one, id = f"ARRAY['{organization}']::uuid[]", f"ARRAY[{ID}]::uuid[]"
    values = [NOW, one, id, id, one, f"ARRAY['{status}']", "ARRAY[now()]", id, "ARRAY[101]", id]
    plan = explain(large, catalogue_batch.READ, types, values, mode)
    found = {node["Index Name"]: node for node in nodes(plan) if "Index Name" in node}
    assert [node for node in nodes(plan) if node["Node Type"] == "Seq Scan"] == []
    of_page = found["event_by_status"]["Index Cond"]
    assert all(part in of_page for part in ("organization_id = ", "status = ", "ROW(starts_at, id) > ")), of_page
    for index in found.keys() - {"event_by_status"}:
        assert "organization_id = " in found[index]["Index Cond"], found
        assert any(part in found[index]["Index Cond"] for part in ("id = u", "event_id = ")), found


# ---- that this would notice ------------------------------------------------------------------------------------


def test_a_lost_index_is_noticed_in_a_statement(large: Link) -> None:
    with large.transaction(force_rollback=True):
        large.execute("DROP INDEX api_key_hash")
        assert faults(
            explain(large, authentication.BY_HASHES, ["bytea[]"], [r"ARRAY['\xaa']::bytea[]"], "generic")
        ) == ["Seq Scan on api_key"]


def test_a_key_that_is_used_in_part_is_noticed(large: Link) -> None:
    text = "SELECT * FROM ticket WHERE organization_id = $1 AND activated_gate = $2"
    with large.transaction(force_rollback=True):
        large.execute("SET LOCAL enable_seqscan = off")
        assert faults(explain(large, text, ["uuid", "text"], [f"'{SMALL}'", "'North'"], "generic")) != []
