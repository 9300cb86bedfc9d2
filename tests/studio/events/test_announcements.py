"""Telling the holders from the studio: offered after a change that concerns them, counted, chosen, stoppable."""

from collections.abc import AsyncGenerator

import pytest

from gatepass.base.ids import new_id
from gatepass.domain import tickets
from gatepass.domain.cards.holders import HolderDetails
from gatepass.domain.tickets.request import TicketRequest
from gatepass.studio.middleware import Middleware
from tests import factory
from tests.studio.browser_session import BrowserSession, sign_in
from tests.studio.letters import letters_to


@pytest.fixture
async def owner(mailing_studio: Middleware, tenant: factory.Tenant) -> AsyncGenerator[BrowserSession]:
    async with await sign_in(mailing_studio, tenant) as user:
        yield user


async def guest(tenant: factory.Tenant) -> str:
    email = f"{new_id()}@example.org"
    request = TicketRequest(tenant.event_id, tenant.category_id, holder=HolderDetails("Zoë", email))
    async with tenant.db.transaction() as tx:
        await tickets.issue(tx, tenant.id, request, by=factory.BY, at=factory.now())
    return email


async def test_a_cancellation_leads_to_the_question(owner: BrowserSession) -> None:
    email = await guest(owner.tenant)
    page = f"events/{owner.tenant.event_id}"
    answer = await owner.send(f"{page}/cancel", reason="Storm")
    assert answer.headers["location"] == owner.url(f"{page}/tell")
    assert "Tell 1 holder by mail" in await owner.follow(answer)
    assert await letters_to(owner.tenant.db, email) == [], "nobody is told until somebody says so"
    told = await owner.follow(await owner.send(f"{page}/tell"))
    assert "0 of 1" in told
    again = await owner.send(f"{page}/tell", status=422)
    assert "being written already" in again.text


async def test_it_is_stopped(owner: BrowserSession) -> None:
    await guest(owner.tenant)
    page = f"events/{owner.tenant.event_id}/tell"
    shown = await owner.follow(await owner.send(page))
    path = shown.partition('/stop"')[0].rpartition('action="')[2] + "/stop"
    assert "No more letters are written" in await owner.follow(await owner.send(path))
    assert "Stopped" in await owner.see(page)


async def test_without_holders_or_mail_there_is_no_question(owner: BrowserSession, user: BrowserSession) -> None:
    page = f"events/{owner.tenant.event_id}"
    assert "Tell the holders" in await owner.see(page)
    assert "Nobody with a ticket has an e-mail address here" in await owner.see(f"{page}/tell")
    answer = await owner.send(f"{page}/cancel", reason="Storm")
    assert answer.headers["location"] == owner.url(page)
    assert "Tell the holders" not in await user.see(f"events/{user.tenant.event_id}")
