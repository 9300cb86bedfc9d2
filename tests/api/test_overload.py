"""Backpressure: scans past the bound get 503 at once, and every waiting scan gets its verdict."""

import asyncio
from collections import Counter

import pytest

from gatepass.api.state import BATCH, MOST_WAITING
from tests.api.conftest import Api
from tests.factory import Tenant
from tests.faults.gates import database_state, load, scan_body

TOO_MANY = 100


async def test_past_the_bound_a_scan_is_refused_at_once(
    api: Api, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The 2,228 clients share this event loop: on a busy machine they keep it for longer than a call may take.
    patient = api.state.settings.model_copy(update={"database_deadline": 60})
    monkeypatch.setattr(api.state, "settings", patient)
    monkeypatch.setattr(api.state.db, "_deadline", 60)
    numbers = await load(tenant, MOST_WAITING + BATCH + TOO_MANY)
    async with api.client((await tenant.key()).text) as client:
        first = await client.post("/scan", json=scan_body(tenant, {"card_number": numbers[0]}, "gate"))
        assert first.status_code == 200  # from now on the key is cached
        answers = await asyncio.gather(
            *(client.post("/scan", json=scan_body(tenant, {"card_number": number}, "gate")) for number in numbers)
        )
    refused = [answer for answer in answers if answer.status_code == 503]
    assert len(refused) >= TOO_MANY
    for answer in refused:
        assert answer.json()["code"] == "overloaded"
        assert int(answer.headers["Retry-After"]) >= 1
        assert answer.headers["x-svc-should-retry"] == "true"
    taken = Counter(answer.status_code for answer in answers) - Counter({503: len(refused)})
    assert taken == {200: len(numbers) - len(refused) - 1, 409: 1}
    activated = [
        ticket for ticket in (await database_state(tenant)).tickets.values() if ticket.activated_at is not None
    ]
    assert len(activated) == taken[200] + 1
