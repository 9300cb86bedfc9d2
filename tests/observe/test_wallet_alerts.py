"""Alerts about wallets fire when their trouble is caused: an ending certificate, and pushes that do not arrive."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest

from gatepass.domain import cards, wallets
from gatepass.domain.cards.links import secret_hash
from gatepass.domain.wallets import Opened
from tests import factory
from tests.observe.prometheus import Prometheus, Target, prometheus
from tests.observe.stack import Stack, running_stack
from tests.postgres import free_port
from tests.wallets.authority import apple_settings, environment

PHONES = 20


@pytest.fixture(scope="module")
async def watched(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[tuple[Stack, Prometheus]]:
    """A worker whose certificate ends in 29 days, and whose pushes go to a port where nobody listens."""
    files: Path = tmp_path_factory.mktemp("apple")
    settings = environment(apple_settings(files, timedelta(days=29)))
    async with running_stack() as stack:
        url = f"https://localhost:{free_port()}"
        worker = await asyncio.to_thread(stack.work, **settings, GATEPASS_APPLE_PUSH_URL=url)
        with prometheus([Target("gatepass-worker", worker.metrics_port)]) as watching:
            yield stack, watching


async def register(tenant: factory.Tenant, device: str) -> None:
    card = await tenant.card()
    async with tenant.db.transaction() as tx:
        link = await cards.link_of(tx, tenant.id, card.id, factory.VAULT, tenant.cell, at=factory.now())
        opened = Opened(tenant.id, card.id, secret_hash(link))
        await wallets.register(tx, opened, "token", device=device, push_token=device, at=factory.now())


async def test_the_certificate_ends_within_thirty_days(watched: tuple[Stack, Prometheus]) -> None:
    await asyncio.to_thread(watched[1].wait_until_firing, "GatepassWalletCertificateEnding")


async def test_apple_cannot_be_reached(watched: tuple[Stack, Prometheus]) -> None:
    stack, watching = watched
    assert "GatepassWalletPushesRefused" not in watching.firing()
    for n in range(PHONES):
        await register(stack.tenant, f"phone-{n}")
    stack.run("UPDATE wallet_registration SET push_at = now()")
    await asyncio.to_thread(watching.wait_until_firing, "GatepassWalletPushesRefused")
