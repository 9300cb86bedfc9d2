"""An event that ended by itself is opened again by API; one that somebody has ended stays so."""

from datetime import timedelta
from uuid import UUID, uuid4

import httpx2
import pytest

from gatepass.domain import audit_log, events
from gatepass.domain.keys import Mode, Scope
from gatepass.domain.sandbox import EVENT_ID
from gatepass.domain.webhooks import MessageType
from tests import factory
from tests.api.conftest import Api, assert_error
from tests.factory import Tenant

WHY = {"reason": "It goes on until two."}


@pytest.fixture
async def past(tenant: Tenant) -> UUID:
    """It was over yesterday, and maintenance has ended it."""
    event_id = await tenant.event(starts_in=timedelta(days=-1))
    async with tenant.db.transaction() as tx:
        assert await events.end_past_events(tx, at=factory.now() - timedelta(hours=1))
    return event_id


async def test_it_is_published_again_with_its_reason_and_a_message(
    client: httpx2.AsyncClient, tenant: Tenant, past: UUID
) -> None:
    await tenant.endpoint("https://example.com/1", MessageType.EVENT_UPDATED)
    answer = await client.post(f"/events/{past}/reopen", json=WHY)
    assert (answer.status_code, answer.json()["data"]["status"]) == (200, "published")
    async with tenant.db.autocommit() as tx:
        (entry, *_) = await audit_log.of_subject(tx, tenant.id, past)
        told = await tx.value(TOLD, tenant.id, str(past))
        await events.end_past_events(tx, at=factory.now() + timedelta(hours=5))
    assert (entry.action, entry.was, entry.becomes, entry.reason) == ("reopened", "ended", "published", WHY["reason"])
    assert told == "published"
    assert (await client.get(f"/events/{past}")).json()["data"]["status"] == "published"


async def test_a_retry_gets_the_first_answer(client: httpx2.AsyncClient, past: UUID) -> None:
    key = {"Idempotency-Key": "once"}
    first, again = [await client.post(f"/events/{past}/reopen", json=WHY, headers=key) for _ in range(2)]
    assert (first.status_code, again.status_code) == (200, 200)
    assert (again.headers["Idempotent-Replayed"], again.content) == ("true", first.content)
    assert_error(await client.post(f"/events/{past}/reopen", json=WHY), 409, "not_allowed")


async def test_what_somebody_has_ended_stays_ended(client: httpx2.AsyncClient, tenant: Tenant, past: UUID) -> None:
    await client.post(f"/events/{past}/reopen", json=WHY)
    await client.post(f"/events/{past}/end")
    assert_error(await client.post(f"/events/{past}/reopen", json=WHY), 409, "not_allowed")
    assert_error(await client.post(f"/events/{tenant.event_id}/reopen", json=WHY), 409, "not_allowed")


@pytest.mark.parametrize("body", [{}, {"reason": " "}, {"reason": None}, {"reason": "two\nlines"}])
async def test_it_asks_why(client: httpx2.AsyncClient, past: UUID, body: dict[str, object]) -> None:
    assert_error(await client.post(f"/events/{past}/reopen", json=body), 400, "invalid_request")


async def test_only_its_organization_with_the_scope_for_it_and_no_sandbox(
    api: Api, client: httpx2.AsyncClient, tenant: Tenant, past: UUID
) -> None:
    other = await factory.tenant(tenant.db)
    for unknown in (other.event_id, uuid4(), "x"):
        assert_error(await client.post(f"/events/{unknown}/reopen", json=WHY), 404, "event_not_found")
    others = await tenant.key(*set(Scope) - {Scope.EVENTS_WRITE, Scope.ADMIN})
    async with api.client(others.text) as lacking:
        assert_error(await lacking.post(f"/events/{past}/reopen", json=WHY), 403, "insufficient_scope")
    async with api.client((await tenant.key(mode=Mode.SANDBOX)).text) as sandbox:
        assert_error(await sandbox.post(f"/events/{EVENT_ID}/reopen", json=WHY), 409, "not_allowed")
        assert_error(await sandbox.post(f"/events/{past}/reopen", json=WHY), 404, "event_not_found")


TOLD = """
    SELECT convert_from(body, 'UTF8')::json->'data'->>'status'
      FROM webhook_event
     WHERE organization_id = $1
       AND type = 'event.updated'
       AND convert_from(body, 'UTF8')::json->'data'->>'event_id' = $2
"""
