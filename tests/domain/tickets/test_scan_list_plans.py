"""Lists of scans read the rows that they show and little more, of ten million: by index, with a generic plan."""

from collections.abc import Generator
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import psycopg
import pytest

from gatepass.domain import maintenance
from gatepass.domain.tickets import scan_list
from tests import factory
from tests.domain.plans.explain import SCALE, Link
from tests.domain.test_list_plans import BELIEVED, FIRST, LIMIT, LOOKED, PARTITIONS_OF, assert_little_is_read
from tests.domain.webhooks.test_page_plans import run
from tests.postgres import Cluster

ORGANIZATION: Final = "00000000-0000-0000-0000-000000000001"
ROWS: Final = 30_000
FIRST_EVER: Final = ("1970-01-01", UUID(int=0))
LAST: Final = "9999-12-31"
# A third of the scans is of the organization; it has ten events and a thousand cards; one scan in five is refused. Ten
# scans have the same time, as in a batch.
LOAD: Final = f"""
    INSERT INTO organization (id, name, created_at)
        SELECT lpad(to_hex(n), 32, '0')::uuid, 'Organization', now() FROM generate_series(1, 3) n;
    CREATE TEMP TABLE share AS
        SELECT lpad(to_hex(1 + n % 3), 32, '0')::uuid AS organization_id, n,
               now() - ({ROWS} - n / 10 * 10) * interval '80 seconds' AS at, md5(n::text)::uuid AS id,
               md5('event' || n % 30)::uuid AS event_id, md5('card' || n % 3000)::uuid AS card_id
          FROM generate_series(1, {ROWS}) n;
    INSERT INTO scan (organization_id, at, id, mode, key_id, event_id, card_number, card_id, ticket_id, verdict)
        SELECT organization_id, at, id, 'live', id, event_id, 'SVC', card_id, md5('ticket' || n % 3000)::uuid,
               CASE WHEN n % 5 = 0 THEN 'already_activated' ELSE 'activated' END FROM share;
    ANALYZE
"""


@pytest.fixture(scope="module")
async def history(cluster: Cluster) -> str:
    url = cluster.create_migrated("gatepass_scan_list_plans")
    database = factory.database(url, deadline=60)
    for weeks in range(5, -1, -1):
        await maintenance.run_due(database, at=factory.now() - timedelta(weeks=weeks))
    await database.close()
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in LOAD.split(";\n"):
            connection.execute(statement.encode())
        for (name,) in connection.execute(PARTITIONS_OF, ("scan",)).fetchall():
            rows = connection.execute("SELECT reltuples FROM pg_class WHERE oid = %s::regclass", (name,)).fetchall()
            if rows[0][0] > 0:
                connection.execute(SCALE, {"table": name, "rows": float(BELIEVED)})
    return url


@pytest.fixture
def link(history: str) -> Generator[Link]:
    with psycopg.connect(history, autocommit=True) as connection:
        connection.execute("SET jit = off")
        yield connection


def middle(link: Link) -> tuple[Any, UUID]:
    found = link.execute(b"SELECT at, id FROM scan WHERE organization_id = %s ORDER BY at OFFSET 5000 LIMIT 1",
                         (ORGANIZATION,)).fetchone()  # fmt: skip
    assert found is not None
    return found[0], found[1]


def event(link: Link) -> UUID:
    found = link.execute(b"SELECT event_id FROM scan WHERE organization_id = %s LIMIT 1", (ORGANIZATION,)).fetchone()
    assert found is not None
    return found[0]


@pytest.mark.parametrize("at", ["end", "middle"])
def test_the_newest_scans(link: Link, at: str) -> None:
    place = FIRST if at == "end" else middle(link)
    here = (ORGANIZATION, "live", *place, LIMIT, LOOKED)
    assert_little_is_read(run(link, scan_list.NEWEST, *here), LIMIT + 1)
    # Scans of a batch share their time, so that up to a batch more is sorted.
    assert_little_is_read(run(link, scan_list.NEWEST_OF_EVENT, *here, event(link)), LIMIT + 128)
    assert_little_is_read(run(link, scan_list.NEWEST_LOOKED_AT, ORGANIZATION, *place, LOOKED - 1), LOOKED)
    none_fits = (ORGANIZATION, "sandbox", *place, LIMIT, LOOKED)
    assert_little_is_read(run(link, scan_list.NEWEST, *none_fits), LOOKED)


@pytest.mark.parametrize("at", ["start", "middle"])
def test_the_scans_that_follow(link: Link, at: str) -> None:
    place = FIRST_EVER if at == "start" else middle(link)
    here = (ORGANIZATION, "live", *place, LIMIT, LOOKED, LAST)
    assert_little_is_read(run(link, scan_list.FOLLOWING, *here), LIMIT + 1)
    assert_little_is_read(run(link, scan_list.FOLLOWING_OF_EVENT, *here, event(link)), LIMIT + 128)
    assert_little_is_read(run(link, scan_list.FOLLOWING_LOOKED_AT, ORGANIZATION, *place, LAST, LOOKED - 1), LOOKED)


def test_the_scans_of_a_card(link: Link) -> None:
    found = link.execute(
        b"SELECT card_id FROM scan WHERE organization_id = %s AND verdict <> 'activated' LIMIT 1", (ORGANIZATION,)
    ).fetchone()
    assert found is not None
    newest = run(link, scan_list.NEWEST_OF_CARD, ORGANIZATION, "live", *FIRST, LIMIT, LOOKED, found[0], None)
    assert_little_is_read(newest, LIMIT)
    here = (ORGANIZATION, "live", *FIRST_EVER, LIMIT, LOOKED, LAST)
    assert_little_is_read(run(link, scan_list.FOLLOWING_OF_CARD, *here, found[0], None), LIMIT)
