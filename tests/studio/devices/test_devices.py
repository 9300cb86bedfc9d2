"""The page of a device: what it is, where it worked, and what was changed about it."""

from gatepass.domain import events
from tests.domain.devices import paired
from tests.studio.browser_session import BrowserSession


async def test_moves_are_told_by_gate_and_title(user: BrowserSession) -> None:
    tenant = user.tenant
    device, new = (await paired.pair(tenant)).device, await tenant.event()
    await paired.move(tenant, device, gate="South")
    await paired.move(tenant, device, event_id=new)
    page = await user.see(f"devices/{device.id}")
    async with tenant.db.autocommit() as tx:
        titles = await events.titles_of(tx, tenant.id, [tenant.event_id, new])
    history = page[page.index("<h2>History</h2>") :]
    assert ">gate North<" in history
    assert ">gate South<" in history
    for event_id, title in titles.items():
        assert f">gate South, {title}<" in history
        assert str(event_id) not in history
