"""Every list and thing of the API with a key of each scope: fields of guests are where `SCOPE_FIELDS` has them."""

import re
from itertools import product

import pytest

from gatepass.base.database import Database
from gatepass.domain.keys import Scope
from gatepass.domain.keys.scopes import SCOPE_FIELDS
from gatepass.domain.visibility import GuestField
from tests import factory
from tests.api.endpoints import ENDPOINTS, FOR_DEVICES, Endpoint
from tests.attacks.guests import USED, given_away, invite
from tests.processes import GatepassProcess

READ = [endpoint for endpoint in ENDPOINTS if endpoint.method == "GET" and endpoint not in FOR_DEVICES]
SECTIONS = {
    "cards": "card_id", "events": "event_id", "tickets": "ticket_id", "incidents": "incident_id",
    "webhooks": "endpoint_id", "devices": "device_id", "ticket-categories": "category_id",
}  # fmt: skip


@pytest.fixture(scope="module")
async def filled(db: Database, server: GatepassProcess) -> tuple[factory.Tenant, dict[str, list[str]]]:
    tenant = await factory.tenant(db)
    ids = await invite(tenant, server)
    async with db.autocommit() as tx:
        for name in ("ticket", "incident"):
            statement = f"SELECT id::text FROM {name} WHERE organization_id = $1"
            ids[f"{name}_id"] = [row["id"] for row in await tx.rows(statement, tenant.id)]  # type: ignore[arg-type]
    return tenant, ids | {"event_id": [str(tenant.event_id)], "category_id": [str(tenant.category_id)]}


def paths(endpoint: Endpoint, ids: dict[str, list[str]]) -> list[str]:
    section = endpoint.path.split("/")[1]
    names = ["delivery_id" if "delivery" in name else SECTIONS.get(section, "") for name in _parameters(endpoint)]
    filled = []
    for chosen in product(*(ids.get(name, [USED.number]) for name in names)):
        values = iter(chosen)
        filled.append(re.sub("{[a-z_]+}", lambda _: next(values), endpoint.path))  # noqa: B023  used at once
    return filled


def _parameters(endpoint: Endpoint) -> list[str]:
    return re.findall("{([a-z_]+)}", endpoint.path)


@pytest.mark.parametrize("scope", Scope)
async def test_a_scope_is_answered_with_the_fields_that_it_names(
    server: GatepassProcess, filled: tuple[factory.Tenant, dict[str, list[str]]], scope: Scope
) -> None:
    tenant, ids = filled
    seen, leaks = set[GuestField](), list[str]()
    async with server.client((await tenant.key(scope)).text) as client:
        for endpoint in READ:
            for path in paths(endpoint, ids):
                answer = await client.get(path, params={"token": "SVC1.x"} if path == "/card/verify" else {})
                found = given_away(answer.text, path)
                leaks += [f"{path}: {field}" for field in found - SCOPE_FIELDS[scope]]
                seen |= found
    assert leaks == []
    if scope in (Scope.CARDS_READ, Scope.TICKETS_READ, Scope.WEBHOOKS_READ, Scope.ADMIN):
        assert seen == SCOPE_FIELDS[scope], "the walk finds what is answered"
