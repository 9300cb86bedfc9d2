"""A process forgets the manifests that nobody asks for."""

import asyncio
import time

from gatepass.api.manifests import EventRef
from gatepass.api.manifests.hub import IDLE
from tests.api.conftest import Api
from tests.factory import Tenant


async def test_calls_that_forget_at_the_same_time_do_not_disturb_each_other(api: Api, tenant: Tenant) -> None:
    hub = api.state.manifests
    idle = [EventRef(tenant.id, await tenant.event()) for _ in range(4)]
    followers = [await hub.follower(ref) for ref in idle]
    for follower in followers:
        await follower.refresh()
    for follower in followers:
        follower.asked_at = time.monotonic() - IDLE
    new = [EventRef(tenant.id, await tenant.event()) for _ in range(4)]
    await asyncio.gather(*(hub.follower(ref) for ref in new))
    assert {ref for ref in hub._followers if ref.organization_id == tenant.id} == set(new)
