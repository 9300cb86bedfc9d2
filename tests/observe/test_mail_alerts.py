"""Alerts about mail fire when their trouble is caused: nobody listens where the mail server should be."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest

from gatepass.domain.mail import LetterKind, Mailer
from tests import factory
from tests.observe.prometheus import Prometheus, Target, prometheus
from tests.observe.stack import Stack, running_stack
from tests.postgres import free_port

CODE = {"code": "123456", "organizer": "Harbour Nights"}


@pytest.fixture(scope="module")
async def watched() -> AsyncGenerator[tuple[Stack, Prometheus]]:
    async with running_stack() as stack:
        url = f"smtp://127.0.0.1:{free_port()}"
        worker = await asyncio.to_thread(
            stack.work, GATEPASS_SMTP_URL=url, GATEPASS_MAIL_FROM="Gatepass <cards@gatepass.test>"
        )
        with prometheus([Target("gatepass-worker", worker.metrics_port)]) as watching:
            yield stack, watching


async def write(stack: Stack, count: int) -> None:
    """Letters that are due, and have been for an hour."""
    mailer = Mailer(factory.VAULT, enabled=True)
    async with stack.tenant.db.transaction() as tx:
        for n in range(count):
            await mailer.write(
                tx, LetterKind.PHONE_CODE, to=f"guest{n}@example.com", organization_id=stack.tenant.id, values=CODE,
                at=factory.now(),
            )  # fmt: skip
        await tx.run(AGO, stack.tenant.id, timedelta(hours=1))


async def test_the_mail_server_is_away_and_letters_wait(watched: tuple[Stack, Prometheus]) -> None:
    stack, watching = watched
    assert not {"GatepassMailServerAway", "GatepassLettersWait"} & set(watching.firing())
    await write(stack, 50)
    await asyncio.to_thread(watching.wait_until_firing, "GatepassMailServerAway", "GatepassLettersWait")


AGO = "UPDATE letter SET next_at = next_at - $2::interval WHERE organization_id = $1"
