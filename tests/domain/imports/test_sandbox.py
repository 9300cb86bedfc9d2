"""Imports into the sandbox, which holds so many tickets and no more."""

import pytest

from gatepass.domain import twin
from gatepass.domain.imports import ImportState
from tests import factory
from tests.domain.imports.conftest import Desk
from tests.factory import Tenant

HEADER = "Name,Category\n"
ROW = "Ann,General\n"


async def test_a_full_sandbox_refuses_a_batch_and_says_so(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    there = await factory.sandbox_twin(tenant)
    desk = Desk(there, there.category_id)
    monkeypatch.setattr(twin, "MOST_TICKETS", 3)
    assert (await desk.applied(HEADER + ROW * 3)).tickets_made == 3
    full = await desk.applied(HEADER + ROW * 2)
    assert (full.state, full.tickets_made, full.faulty) == (ImportState.DONE, 0, 2)
    assert await desk.codes(full.id) == {2: "sandbox_full", 3: "sandbox_full"}
    assert (await desk.tickets(), await desk.cards(), await desk.sold()) == (3, 3, 3)
