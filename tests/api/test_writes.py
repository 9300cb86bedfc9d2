"""Calls that change something take turns; they wait for them as long as their deadline leaves time to act."""

import asyncio
from typing import Any

import pytest

from gatepass.api.state import WRITERS_SHARE
from tests.api.conftest import Api
from tests.factory import Tenant

DEADLINE = 12
BUYERS = 40


def ticket(tenant: Tenant, number: int) -> dict[str, Any]:
    event, category = str(tenant.event_id), str(tenant.category_id)
    return {"event_id": event, "category_id": category, "holder": {"email": f"buyer-{number}@example.org"}}


async def test_buyers_wait_for_their_turn_behind_batches(
    api: Api, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches hold every place for longer than a scan would wait for a connection."""
    patient = api.state.settings.model_copy(update={"database_deadline": DEADLINE})
    monkeypatch.setattr(api.state, "settings", patient)
    monkeypatch.setattr(api.state.db, "_deadline", DEADLINE)
    monkeypatch.setattr(api.state.db, "acquire_within", 0.5)
    begun = asyncio.Semaphore(0)

    async def batch() -> None:
        async with api.state.writing(), api.state.db.autocommit() as tx:
            begun.release()
            await tx.run("SELECT pg_sleep(1)")

    places = max(1, patient.database_connections // WRITERS_SHARE)
    batches = [asyncio.create_task(batch()) for _ in range(places)]
    for _ in batches:
        await begun.acquire()
    async with api.client((await tenant.key()).text) as client:
        sent = (client.post("/tickets", json=ticket(tenant, number)) for number in range(BUYERS))
        answers = await asyncio.gather(*sent)
    await asyncio.gather(*batches)
    assert [answer.status_code for answer in answers] == [201] * BUYERS, answers[0].text
