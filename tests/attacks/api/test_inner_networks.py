"""Server-side request forgery: a webhook's URL that would make us call our own network."""

import pytest

from gatepass.base.database import Database
from tests import factory
from tests.domain.webhooks.test_url_policy import NEVER, NOT_PUBLIC, PRIVATE_ONLY
from tests.processes import GatepassProcess

HOSTS = [f"https://[{address}]/" if ":" in address else f"https://{address}/" for address in NOT_PUBLIC]


@pytest.fixture(scope="module")
async def key(db: Database) -> str:
    return (await (await factory.tenant(db)).key()).text


@pytest.mark.parametrize("url", [*HOSTS, *PRIVATE_ONLY, *NEVER], ids=ascii)
async def test_no_endpoint_inside(server: GatepassProcess, key: str, url: str) -> None:
    async with server.client(key) as client:
        answer = await client.post("/webhooks", json={"url": url, "types": ["ticket.activated"]})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request"), answer.text
    assert answer.json()["param"] == "url"
