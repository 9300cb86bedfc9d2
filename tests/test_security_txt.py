"""/.well-known/security.txt: served as RFC 9116 has it, when the operator has named a contact."""

from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from pydantic import ValidationError

from gatepass.base.settings import Settings
from gatepass.security_txt import PATH
from gatepass.studio.app import create_app as create_studio
from tests import factory
from tests.conftest import opened
from tests.server.asgi import TaskTransport

NOW = datetime(2026, 6, 15, 18, 30, tzinfo=UTC)
CONTACTS = ["mailto:security@example.com", "https://example.com/report?a=1"]


def settings(database_url: str, *contacts: str) -> Settings:
    return factory.settings(database_url, public_url="https://tickets.example.com", security_contact=list(contacts))


async def test_the_api_serves_it(database_url: str) -> None:
    async with opened(settings(database_url, *CONTACTS), lambda: NOW) as (client, _):
        answer = await client.get(f"http://gatepass.test{PATH}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    fields = [tuple(line.split(": ", 1)) for line in answer.text.splitlines()]
    assert fields == [
        ("Contact", CONTACTS[0]),
        ("Contact", CONTACTS[1]),
        ("Expires", "2026-12-12T00:00:00Z"),
        ("Preferred-Languages", "en"),
        ("Canonical", f"https://tickets.example.com{PATH}"),
    ]
    assert answer.text.endswith("\n")
    assert datetime.fromisoformat(fields[2][1]) - NOW < timedelta(days=365)


async def test_the_studio_serves_it(database_url: str) -> None:
    transport = TaskTransport(app=create_studio(settings(database_url, *CONTACTS)))
    async with httpx2.AsyncClient(transport=transport, base_url="http://gatepass.test") as client:
        answer = await client.get(PATH)
    assert answer.status_code == 200
    assert answer.text.startswith(f"Contact: {CONTACTS[0]}\n")


async def test_without_a_contact_there_is_none(database_url: str) -> None:
    async with opened(settings(database_url)) as (client, _):
        assert (await client.get(f"http://gatepass.test{PATH}")).status_code == 404


async def test_an_address_without_tls_is_not_canonical(database_url: str) -> None:
    local = settings(database_url, *CONTACTS).model_copy(update={"public_url": "http://127.0.0.1:8000"})
    async with opened(local) as (client, _):
        assert "Canonical" not in (await client.get(f"http://gatepass.test{PATH}")).text


@pytest.mark.parametrize(
    "contact",
    [
        "security@example.com",
        "http://example.com/report",
        "mailto:",
        "mailto:a@example.com\nContact: mailto:evil@evil.test",
        "javascript:alert(1)",
        "https://example.com/a b",
    ],
)
def test_a_contact_is_a_uri(database_url: str, contact: str) -> None:
    with pytest.raises(ValidationError, match="mailto:"):
        settings(database_url, contact)


def test_several_contacts_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEPASS_SECURITY_CONTACT", ", ".join(CONTACTS))
    assert Settings().security_contact == CONTACTS
