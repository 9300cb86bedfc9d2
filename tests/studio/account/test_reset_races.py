"""A request that began before a reset of the account plants nothing after it. Hashing takes a tenth of a second."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2

from gatepass.domain.staff import account, password
from gatepass.studio.middleware import Middleware
from tests import factory
from tests.studio.browser_session import BrowserSession
from tests.studio.people import HASH, somebody, typed


@asynccontextmanager
async def hashing_held(studio: Middleware, request: "asyncio.Task[httpx2.Response]") -> AsyncGenerator[None]:
    """While this is open, the request has read what it needs and waits for the thread that hashes."""
    passwords, gate = studio.studio.passwords, threading.Event()
    held = asyncio.create_task(passwords._run(gate.wait))
    try:
        while passwords._inside < 2:
            assert not request.done(), request.result().text
            await asyncio.sleep(0)
        yield
    finally:
        gate.set()
        await held


async def test_a_sign_in(studio: Middleware, tenant: factory.Tenant, stranger: httpx2.AsyncClient) -> None:
    known = await somebody(tenant)
    signing_in = asyncio.create_task(typed(stranger, known.person.email))
    async with hashing_held(studio, signing_in), tenant.db.transaction() as tx:
        await account.reset(tx, known.person.id, by="operator", at=factory.now())
    answer = await signing_in
    assert answer.status_code == 422
    assert "The e-mail address or the password is not right." in answer.text
    async with tenant.db.autocommit() as tx:
        assert await tx.value("SELECT count(*) FROM studio_session WHERE person_id = $1", known.person.id) == 0


async def test_a_new_password(studio: Middleware, user: BrowserSession) -> None:
    async with user.tenant.db.transaction() as tx:
        await password.keep(tx, user.person.id, HASH, at=factory.now())
    changing = asyncio.create_task(
        user.client.post("/studio/account/password", data={"password": "mallory was here before"})
    )
    async with hashing_held(studio, changing), user.tenant.db.transaction() as tx:
        await account.reset(tx, user.person.id, by="operator", at=factory.now())
    answer = await changing
    assert (answer.status_code, answer.headers["location"]) == (303, "/studio/sign-in")
    async with user.tenant.db.autocommit() as tx:
        assert await password.known_of(tx, user.person.id) is None
