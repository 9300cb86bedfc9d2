"""Our messages, verified by others: the documented receiver, and the `standardwebhooks` package."""

import ast
import asyncio
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from standardwebhooks import WebhookVerificationError

from gatepass.base.database import Database
from gatepass.base.server_clock import ServerClock
from gatepass.domain import webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.webhooks import signature
from gatepass.domain.webhooks.signature import Secrets
from gatepass.worker.worker import Worker
from tests import factory
from tests.factory import BY, VAULT, Tenant
from tests.postgres import free_port
from tests.receivers import Received, receiving
from tests.worker.conftest import settings_for, working
from tests.worker.documented_receiver import PAGE, docs_receiver, receiver_code
from tests.worker.test_worker import has_states

MOST_LINES = 20
MINUTES = 60


def test_the_receiver_is_twenty_lines_of_the_standard_library() -> None:
    code = receiver_code().text
    assert len([line for line in code.splitlines() if line.strip()]) <= MOST_LINES
    imported: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    assert imported <= sys.stdlib_module_names


async def test_it_takes_what_we_send(own: Database, tenant: Tenant, tmp_path: Path) -> None:
    port = free_port()
    _, secret = await tenant.endpoint(f"http://127.0.0.1:{port}/")
    with docs_receiver(tmp_path, secret, port=port) as receiver:
        async with working(own):
            told = await tenant.tell(3)
            for id in told:
                line = f"ticket.activated {webhooks.written_id(id)}"
                await asyncio.to_thread(receiver.wait_for, line)
            await has_states(tenant, *[("delivered", 1, 204)] * 3)


async def test_with_another_secret_it_refuses_what_we_send(own: Database, tenant: Tenant, tmp_path: Path) -> None:
    with docs_receiver(tmp_path, signature.new_secret()) as receiver:
        await tenant.endpoint(receiver.url)
        async with working(own):
            await tenant.tell()
            await has_states(tenant, ("pending", 1, 400))
        assert receiver.lines == []


async def test_it_refuses_what_was_signed_by_a_slow_clock(
    own: Database, tenant: Tenant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its `t` is six minutes old when it arrives, as if PostgreSQL's clock were slow; all else is valid."""
    port = free_port()
    _, secret = await tenant.endpoint(f"http://127.0.0.1:{port}/")
    monkeypatch.setattr(ServerClock, "__call__", lambda _: factory.now() - timedelta(minutes=6))
    worker = Worker(settings_for(own))
    with docs_receiver(tmp_path, secret, port=port) as receiver:
        task = asyncio.create_task(worker.run())
        await tenant.tell()
        await has_states(tenant, ("pending", 1, 400))
        worker.stop()
        await task
        assert receiver.lines == []


async def test_of_a_message_it_refuses_any_other_byte(own: Database, tenant: Tenant, tmp_path: Path) -> None:
    secret, message = await one_message(own, tenant)
    with docs_receiver(tmp_path, secret) as receiver:
        assert receiver.accepts(message.headers, message.body)
        for at in range(len(message.body)):
            assert not receiver.accepts(message.headers, changed(message.body, at)), at
        assert not receiver.accepts(message.headers, message.body + b"\n")
        header = message.headers["x-svc-signature"]
        for wrong in ("", "t=,v1=", header.upper(), header[:-1], f"{header},", header.replace("v1=", "v2=")):
            assert not receiver.accepts({**message.headers, "x-svc-signature": wrong}, message.body), wrong
    with docs_receiver(tmp_path, signature.new_secret()) as other:
        assert not other.accepts(message.headers, message.body)


@pytest.mark.parametrize(
    ("seconds", "accepted"),
    [(-5 * MINUTES - 2, False), (-5 * MINUTES + 5, True), (5 * MINUTES - 5, True), (5 * MINUTES + 5, False)],
)
async def test_a_message_is_good_for_five_minutes(seconds: int, accepted: bool, tmp_path: Path) -> None:
    secret, body = signature.new_secret(), b'{"id":"evt_1"}'
    with docs_receiver(tmp_path, secret) as receiver:
        assert receiver.accepts(signed(secret, body, at=seconds), body) is accepted


async def test_the_standard_package_takes_what_we_send(
    own: Database, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, message = await one_message(own, tenant)
    verified = as_in_the_docs(monkeypatch, secret)
    assert verified(message.headers, message.body) == message.json()
    for at in range(len(message.body)):
        with pytest.raises(WebhookVerificationError):
            verified(message.headers, changed(message.body, at))
    with pytest.raises(WebhookVerificationError):
        as_in_the_docs(monkeypatch, signature.new_secret())(message.headers, message.body)
    with pytest.raises(WebhookVerificationError, match="too old"):
        as_in_the_docs(monkeypatch, secret)(signed(secret, message.body, at=-6 * MINUTES), message.body)


async def test_while_a_secret_is_rotated_either_is_good(
    own: Database, tenant: Tenant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with receiving() as receiver, working(own):
        id, old = await tenant.endpoint(receiver.url())
        new = await rotated(tenant, id)
        await tenant.tell()
        (before,) = await receiver.wait(1)
        await switch(tenant, id)
        await tenant.tell()
        _, after = await receiver.wait(2)
    for message in (before, after):
        for secret in (old, new):
            assert as_in_the_docs(monkeypatch, secret)(message.headers, message.body) == message.json()
        with pytest.raises(WebhookVerificationError):
            as_in_the_docs(monkeypatch, new)(message.headers, changed(message.body, 0))
    with docs_receiver(tmp_path, old) as careless:
        assert careless.accepts(before.headers, before.body)
        assert not careless.accepts(after.headers, after.body)
        assert careless.accepts(from_next(after), after.body), "the old secret signs beside the new one"
    with docs_receiver(tmp_path, old, new) as careful:
        assert careful.accepts(before.headers, before.body)
        assert careful.accepts(after.headers, after.body)
    with docs_receiver(tmp_path, new) as done:
        assert not done.accepts(before.headers, before.body)
        assert done.accepts(from_next(before), before.body)
        assert done.accepts(after.headers, after.body)


async def one_message(own: Database, tenant: Tenant) -> tuple[str, Received]:
    """A message as the worker sends it, and the secret that signs it."""
    async with receiving() as receiver, working(own):
        _, secret = await tenant.endpoint(receiver.url())
        await tenant.tell()
        (message,) = await receiver.wait(1)
    return secret, message


async def rotated(tenant: Tenant, id: UUID) -> str:
    async with tenant.db.transaction() as tx:
        _, secret = await webhooks.rotate_secret(tx, tenant.id, Mode.LIVE, id, VAULT, by=BY, at=factory.now())
    return secret


async def switch(tenant: Tenant, id: UUID) -> None:
    async with tenant.db.transaction() as tx:
        await webhooks.switch_secret(tx, tenant.id, Mode.LIVE, id, by=BY, at=factory.now())


def as_in_the_docs(monkeypatch: pytest.MonkeyPatch, secret: str) -> Callable[[dict[str, str], bytes], Any]:
    """The function on the page for users of the package."""
    (block,) = [block for block in PAGE.blocks("python") if "standardwebhooks" in block.text]
    defined: dict[str, Any] = {}
    exec(block.text, defined)  # noqa: S102  it is our own page
    monkeypatch.setenv("WEBHOOK_SECRET", secret)
    return defined["verified"]


def changed(body: bytes, at: int) -> bytes:
    """With one bit changed. It stays ASCII, so that nothing fails before the signature is compared."""
    return body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]


def signed(secret: str, body: bytes, *, at: int) -> dict[str, str]:
    """Headers of the worker, signed this many seconds from now."""
    return signature.headers(
        Secrets(secret),
        body,
        event_id=factory.new_id(),
        type="ticket.activated",
        delivery_id=factory.new_id(),
        attempt=1,
        replayed=False,
        at=factory.now() + timedelta(seconds=at),
    )


def from_next(message: Received) -> dict[str, str]:
    """As seen by a receiver that reads the other header."""
    return {**message.headers, "x-svc-signature": message.headers["x-svc-signature-next"]}
