"""A device of a fresh organization, and manifests that are read anew for every call."""

import httpx2
import pytest

from gatepass.api.app import ApiState
from gatepass.api.manifests import follower
from tests.domain.manifest.devices import PairedDevice, paired
from tests.factory import Tenant


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No reading is reused, so that a test sees what it has just written."""
    monkeypatch.setattr(follower, "FRESH", 0.0)


@pytest.fixture
async def device(unhurried: None, inside: tuple[httpx2.AsyncClient, ApiState], tenant: Tenant) -> PairedDevice:
    return await paired(inside[0], tenant)
