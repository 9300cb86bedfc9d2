"""Alerts about webhooks and maintenance fire when their trouble is caused."""

import asyncio
import signal
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from uuid import UUID

import psycopg
import pytest

from gatepass.base.encryption import Vault, new_key
from gatepass.domain import maintenance, webhooks
from gatepass.domain.keys import Mode
from tests import factory
from tests.observe.prometheus import Prometheus, Target, prometheus
from tests.observe.stack import Stack, running_stack
from tests.processes import GatepassProcess
from tests.receivers import receiving, status

LATE = {"GatepassWebhooksSlow", "GatepassWebhooksSlowLately"}
# Seconds; a webhook that arrives later is late.
ON_TIME = 5.0
NEXT_PARTITION = """
    SELECT h.name || to_char((date_bin(h.step, now(), timestamptz '2001-01-01 00:00:00+00') + h.step)
                             AT TIME ZONE 'UTC', '_YYYYMMDD')
      FROM history h
     WHERE h.name = 'scan'
"""


@dataclass
class Watched:
    stack: Stack
    workers: list[GatepassProcess]
    prometheus: Prometheus
    # A session that holds a lock on the table of scans, so that no partition of it can be made.
    holding: psycopg.Connection

    async def firing(self, *names: str) -> None:
        await asyncio.to_thread(self.prometheus.wait_until_firing, *names)


@pytest.fixture(scope="module")
async def watched() -> AsyncGenerator[Watched]:
    """The workers look for missing partitions when they start, and then once a minute: one is missing at the start."""
    async with running_stack() as stack:
        await maintenance.run_due(stack.tenant.db, at=factory.now())
        with psycopg.connect(stack.url, autocommit=True) as holding:
            ((partition,),) = holding.execute(NEXT_PARTITION).fetchall()
            holding.execute(f"DROP TABLE {partition}".encode())
            holding.execute("BEGIN")
            holding.execute("LOCK TABLE scan IN ROW EXCLUSIVE MODE")
            workers = await asyncio.gather(*(asyncio.to_thread(stack.work) for _ in range(2)))
            with prometheus([Target("gatepass-worker", worker.metrics_port) for worker in workers]) as watching:
                yield Watched(stack, workers, watching, holding)


async def seal(stack: Stack, endpoint_id: UUID, vault: Vault, secret: bytes) -> None:
    """Replace the secret of an endpoint."""
    sealed = vault.seal(secret, webhooks.secret_context(stack.tenant.id, endpoint_id))
    async with stack.tenant.db.transaction() as tx:
        await tx.run(
            "UPDATE webhook_endpoint SET sealed_secret = $3 WHERE organization_id = $1 AND id = $2",
            stack.tenant.id,
            endpoint_id,
            sealed,
        )


async def delete(stack: Stack, endpoint_id: UUID) -> None:
    async with stack.tenant.db.transaction() as tx:
        await webhooks.delete_endpoint(tx, stack.tenant.id, Mode.LIVE, endpoint_id, by=factory.BY, at=factory.now())


async def test_the_secret_of_an_endpoint_is_locked(watched: Watched) -> None:
    """It is sealed under a key that the workers do not have."""
    assert "GatepassWebhookSecretLocked" not in watched.prometheus.firing()
    endpoint_id, secret = await watched.stack.tenant.endpoint("http://127.0.0.1:9/locked")
    await seal(watched.stack, endpoint_id, Vault([new_key()]), secret.encode())
    await watched.stack.tenant.tell()
    await watched.firing("GatepassWebhookSecretLocked")
    await delete(watched.stack, endpoint_id)


async def test_a_message_cannot_be_signed(watched: Watched) -> None:
    """The secret is none, which no code of ours would write."""
    assert "GatepassWebhookFault" not in watched.prometheus.firing()
    endpoint_id, _ = await watched.stack.tenant.endpoint("http://127.0.0.1:9/unsigned")
    await seal(watched.stack, endpoint_id, factory.VAULT, b"whsec_x")
    await watched.stack.tenant.tell()
    await watched.firing("GatepassWebhookFault")
    await delete(watched.stack, endpoint_id)


async def test_a_message_waits_for_six_minutes(watched: Watched) -> None:
    """Its endpoint fails. The clock of the message is set back, so that the test does not wait too."""
    assert "GatepassWebhooksWait" not in watched.prometheus.firing()
    async with receiving(otherwise=500) as receiver:
        endpoint_id, _ = await watched.stack.tenant.endpoint(receiver.url())
        await watched.stack.tenant.tell()
        await receiver.wait(1)
        watched.stack.run("UPDATE webhook_queue SET delivery_at = delivery_at - interval '6 minutes'")
        await watched.firing("GatepassWebhooksWait")
    await delete(watched.stack, endpoint_id)


async def test_the_workers_stop_for_a_while(watched: Watched) -> None:
    assert watched.prometheus.firing() & LATE == set()
    async with receiving() as receiver:
        endpoint_id, _ = await watched.stack.tenant.endpoint(receiver.url())
        for worker in watched.workers:
            worker.process.send_signal(signal.SIGSTOP)
        await watched.stack.tenant.tell(5)
        await asyncio.sleep(ON_TIME)  # the messages have to become this old
        for worker in watched.workers:
            worker.process.send_signal(signal.SIGCONT)
        await watched.firing(*LATE)
    await delete(watched.stack, endpoint_id)


async def test_claims_are_lost_to_another_worker(watched: Watched) -> None:
    """The leases end while the receiver has not answered: in the queue they are due at once, instead of in 45 s."""
    assert "GatepassClaimsLapse" not in watched.prometheus.firing()
    async with receiving(otherwise=status(200, delay=3)) as receiver:
        endpoint_ids = [(await watched.stack.tenant.endpoint(receiver.url(f"/{n}")))[0] for n in range(15)]
        await watched.stack.tenant.tell()
        await receiver.wait(15)
        watched.stack.run("UPDATE webhook_queue SET next_at = now()")
        await watched.firing("GatepassClaimsLapse")
    for endpoint_id in endpoint_ids:
        await delete(watched.stack, endpoint_id)


async def test_a_partition_cannot_be_made(watched: Watched) -> None:
    await watched.firing("GatepassPartitionsMissing")


async def test_a_session_holds_the_lock_of_the_maintenance(watched: Watched) -> None:
    assert "GatepassMaintenanceStuck" not in watched.prometheus.firing()
    watched.holding.execute("SELECT pg_advisory_xact_lock(hashtext('maintenance'))")
    await watched.firing("GatepassMaintenanceStuck")


async def test_the_workers_are_killed(watched: Watched) -> None:
    assert "GatepassNoWorker" not in watched.prometheus.firing()
    for worker in watched.workers:
        worker.kill()
    await watched.firing("GatepassNoWorker")
