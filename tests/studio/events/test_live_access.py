"""An open stream of a live page ends when its organization no longer lets it in, and not when the database is away."""

from collections.abc import Awaitable, Callable
from ipaddress import ip_network

import pytest

from gatepass.studio.events import live_stream
from gatepass.studio.middleware import Middleware
from tests import factory
from tests.postgres import free_port
from tests.studio.browser_session import BrowserSession, sign_in
from tests.studio.events.test_live import open_stream


async def limit(tenant: factory.Tenant) -> None:
    async with tenant.db.transaction() as tx:
        await tx.run(
            "UPDATE organization SET studio_networks = $2 WHERE id = $1", tenant.id, [ip_network("198.51.100.0/24")]
        )


async def require(tenant: factory.Tenant) -> None:
    async with tenant.db.transaction() as tx:
        await tx.run("UPDATE organization SET requires_second_factor = true WHERE id = $1", tenant.id)


@pytest.mark.parametrize("change", [limit, require])
async def test_the_stream_ends_when_access_does(
    studio: Middleware,
    tenant: factory.Tenant,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[factory.Tenant], Awaitable[None]],
) -> None:
    monkeypatch.setattr(live_stream, "ALLOWED_EVERY", 0.2)
    async with await sign_in(studio, tenant, second_factor=False) as user, open_stream(user, studio) as stream:
        await stream.figures()
        await change(tenant)
        await stream.event("over")
        await stream.ended()


async def test_the_stream_outlives_a_database_that_is_away(
    user: BrowserSession, studio: Middleware, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several checks fail; the browser hears beats, and `over` only when it is true."""
    monkeypatch.setattr(live_stream, "ALLOWED_EVERY", 0.1)
    away = factory.database(f"postgresql://postgres@127.0.0.1:{free_port()}/nowhere", deadline=1)
    present = studio.studio.db
    async with open_stream(user, studio) as stream:
        await stream.figures()
        monkeypatch.setattr(studio.studio, "db", away)
        assert [(await stream.event("beat", "over"))[0] for _ in range(6)] == ["beat"] * 6
        monkeypatch.setattr(studio.studio, "db", present)
        await limit(user.tenant)
        await stream.event("over")
