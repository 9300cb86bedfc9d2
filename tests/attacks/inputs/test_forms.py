"""Forms whose fields are repeated, empty, or both: every form of the studio takes them without a fault."""

from urllib.parse import urlencode

import pytest

from gatepass.base.database import Database
from gatepass.studio.services.templates import root_of
from tests import factory
from tests.attacks.studio_client import browser, session_token
from tests.processes import GatepassProcess
from tests.studio.routes import Walk, all_ids, form_of, walks

CHANGES = [walk for walk in walks() if walk.method == "POST" and "{mode}" in walk.path]
# What is put before and after the good value of each field.
SHAPES = {
    "empty first": ([""], []),
    "blank first, then empty": (["  ", ""], []),
    "empty last": ([], [""]),
    "another value last": ([], ["x"]),
    "several times": ([""] * 3, ["y"] * 3),
}


@pytest.fixture(scope="module")
async def things(db: Database) -> tuple[factory.Tenant, dict[str, str], str]:
    tenant = await factory.tenant(db)
    return tenant, await all_ids(tenant), await session_token(tenant)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("walk", CHANGES, ids=str)
async def test_fields_that_are_repeated(
    server: GatepassProcess, things: tuple[factory.Tenant, dict[str, str], str], walk: Walk, shape: str
) -> None:
    _, ids, token = things
    before, after = SHAPES[shape]
    good = [(name, text) for name, text in form_of(walk).items() if isinstance(text, str)]
    pairs = [(name, one) for name, text in good for one in (*before, text, *after)]
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    async with browser(server, token) as client:
        answer = await client.post(walk.url(ids), content=urlencode(pairs), headers=kind)
    assert answer.status_code < 500, answer.text[:500]


async def test_what_counts_is_the_first_that_is_not_blank(
    server: GatepassProcess, things: tuple[factory.Tenant, dict[str, str], str]
) -> None:
    """A repeated time of an event, empty first: a million random requests found that it was a fault."""
    tenant, _, token = things
    event_id = await tenant.event()
    start = [("starts_date", "2031-05-01"), ("starts_time", ""), ("starts_time", "20:00")]
    end = [("ends_date", "2031-05-01"), ("ends_time", ""), ("ends_time", "23:00")]
    form = urlencode([("title", "Twice"), ("time_zone", ""), ("time_zone", "Europe/Brussels"), *start, *end])
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    async with browser(server, token) as client:
        answer = await client.post(f"{root_of(tenant.id, 'live')}/events/{event_id}/edit", content=form, headers=kind)
    assert answer.status_code == 303
    async with tenant.db.autocommit() as tx:
        sql = "SELECT starts_at FROM event WHERE organization_id = $1 AND id = $2"
        starts = await tx.value(sql, tenant.id, event_id)
    assert starts.isoformat() == "2031-05-01T18:00:00+00:00"
