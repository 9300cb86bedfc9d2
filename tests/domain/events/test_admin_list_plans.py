"""A page of the list reads the rows that it shows, or its limit of rows, and no more: at 10 million events."""

from collections.abc import Generator
from typing import Any, Final
from uuid import UUID

import psycopg
import pytest

from gatepass.domain.events import admin_list, cancellation, covers, publication
from tests.domain.plans.explain import SCALE, Link, Plan, nodes
from tests.domain.webhooks.test_page_plans import run
from tests.postgres import Cluster

LARGEST: Final = "00000000-0000-0000-0000-000000000001"
NOW: Final = "2030-01-01T00:00:00Z"
LIMIT: Final = 51
# Fewer than there are, so that a filter that matches nothing ends here.
LOOKED: Final = 400
FIRST: Final = ("0001-01-01", UUID(int=0))
MIDDLE: Final = (NOW, UUID(int=0))
LAST: Final = ("9999-12-31", UUID(int=2**128 - 1))

# Half of everything belongs to one organization, and half of that lies in the past.
LOAD: Final = f"""
    INSERT INTO organization (id, name, created_at)
        SELECT lpad(to_hex(n), 32, '0')::uuid, 'Organization', now() FROM generate_series(1, 200) n;
    INSERT INTO event (organization_id, id, title, starts_at, ends_at, status, cover_url, created_at)
        SELECT lpad(to_hex(CASE WHEN n % 2 = 0 THEN 1 ELSE 1 + n % 200 END), 32, '0')::uuid, gen_random_uuid(), 'Event',
               timestamptz '{NOW}' + (n - 10000) * interval '1 hour',
               timestamptz '{NOW}' + (n - 9997) * interval '1 hour',
               CASE WHEN n % 20 < 2 THEN 'cancelled' WHEN n % 20 < 4 THEN 'draft'
                    WHEN n < 10000 THEN 'ended' ELSE 'published' END,
               CASE WHEN n % 3 = 0 THEN '/covers/' || gen_random_uuid() || '.png' END, now()
          FROM generate_series(1, 20000) n;
    ANALYZE event
"""


@pytest.fixture(scope="module")
def link(cluster: Cluster) -> Generator[Link]:
    url = cluster.create_migrated("gatepass_programme_plans")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER TABLE event SET (autovacuum_enabled = off)")
        for statement in LOAD.split(";\n"):
            connection.execute(statement.encode())
        connection.execute(SCALE, {"table": "event", "rows": 10_000_000})
        yield connection


def read(plan: Plan) -> int:
    """How many rows were read from the table, filtered ones too."""
    assert [node for node in nodes(plan) if node["Node Type"] in ("Seq Scan", "Bitmap Heap Scan", "Sort")] == []
    scans = [node for node in nodes(plan) if node.get("Index Name")]
    return sum((node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"] for node in scans)


PAGES: Final[list[tuple[str, Any, Any, Any]]] = [
    ("earliest", admin_list.EARLIEST, (FIRST, MIDDLE), ()),
    ("latest", admin_list.LATEST, (LAST, MIDDLE), ()),
    ("upcoming", admin_list.UPCOMING, (MIDDLE,), ()),
    ("drafts", admin_list.STATUS_EARLIEST, (FIRST, MIDDLE), ("draft",)),
    ("last drafts", admin_list.STATUS_LATEST, (LAST, MIDDLE), ("draft",)),
]


@pytest.mark.parametrize(("statement", "places", "more"), [page[1:] for page in PAGES], ids=[page[0] for page in PAGES])
def test_a_page_reads_little(link: Link, statement: str, places: Any, more: tuple[str, ...]) -> None:
    for place in places:
        here = (LARGEST, *place)
        # Where two orders are merged, one more row is read.
        assert 0 <= read(run(link, statement, *here, LOOKED, None, NOW, None, LIMIT, 0, *more)) - LIMIT <= 1
        assert 0 <= read(run(link, statement, *here, LOOKED, None, NOW, "nowhere", LIMIT, 0, *more)) - LOOKED <= 1
        assert 0 <= read(run(link, statement, *here, LOOKED, None, NOW, None, 1, LOOKED - 1, *more)) - LOOKED <= 1


def test_what_is_to_come_and_what_is_over_lie_side_by_side(link: Link) -> None:
    """Events that began before now are almost all over; of drafts and published events only old drafts are over."""
    past = run(link, admin_list.LATEST, LARGEST, *MIDDLE, LOOKED, "past", NOW, None, LIMIT, 0)
    assert read(past) < LIMIT + 20
    upcoming = run(link, admin_list.UPCOMING, LARGEST, *MIDDLE, LOOKED, "upcoming", NOW, None, LIMIT, 0)
    assert read(upcoming) < LIMIT + 20


def test_what_surrounds_one_event_is_found_by_keys(link: Link) -> None:
    plans = [
        run(link, cancellation.CONSEQUENCES, LARGEST, UUID(int=1), "live", "event.cancelled", "ticket.cancelled"),
        run(link, publication.EQUIPMENT, LARGEST, NOW, "{admin}", LARGEST, "live", False),
        run(link, covers.FIND, UUID(int=1), "png"),
        run(link, covers.DELETE_UNUSED, LARGEST, UUID(int=1), f"/covers/{UUID(int=1)}.png"),
    ]
    for plan in plans:
        large = [node for node in nodes(plan) if node.get("Relation Name") == "event"]
        assert [node["Node Type"] for node in large if node["Node Type"] == "Seq Scan"] == []
