"""Cards by mail over HTTP: who is chosen, what is counted and shown, sending and stopping."""

from collections.abc import AsyncGenerator
from zoneinfo import ZoneInfo

import pytest
from babel.dates import format_datetime

from gatepass.base.ids import new_id
from gatepass.base.language import Language
from gatepass.domain import events, mailings
from gatepass.domain.staff import Role
from gatepass.studio.middleware import Middleware
from tests import factory
from tests.studio.browser_session import BrowserSession, sign_in
from tests.studio.tickets.test_tickets import handed

LINK = "Send by mail</a>"


@pytest.fixture
async def sender(mailing_studio: Middleware, tenant: factory.Tenant) -> AsyncGenerator[BrowserSession]:
    async with await sign_in(mailing_studio, tenant) as user:
        yield user


def page_of(user: BrowserSession) -> str:
    return f"events/{user.tenant.event_id}/mail"


async def test_one_selection_is_printed_or_sent(sender: BrowserSession) -> None:
    ann = await handed(sender, "Ann", "ann@example.org")
    await handed(sender, "Bob", "bob@example.org")
    event = f"events/{sender.tenant.event_id}"
    listed = await sender.see(f"{event}/tickets")
    assert f'<form action="{sender.url(event)}/cards" method="get"' in listed
    assert f'formaction="{sender.url(event)}/mail"' in listed
    chosen = f"ticket={ann.ticket_id}"
    assert f'href="{sender.url(event)}/mail?{chosen}"' in await sender.see(f"{event}/cards?{chosen}")
    page = await sender.see(f"{event}/mail?{chosen}")
    assert f'href="{sender.url(event)}/cards?{chosen}"' in page
    assert "Send 1 letter" in page
    assert "Send 2 letters" in await sender.see(f"{event}/mail")


async def test_the_page_of_a_card_leads_to_its_letter(sender: BrowserSession, mailing_studio: Middleware) -> None:
    ann, nobody = await handed(sender, "Ann", "ann@example.org"), await handed(sender, "Bob")
    page = await sender.see(f"cards/{ann.card_id}")
    assert f'href="{sender.url(page_of(sender))}?ticket={ann.ticket_id}"' in page
    assert LINK not in await sender.see(f"cards/{nobody.card_id}"), "there is no address to send it to"
    async with await sign_in(mailing_studio, sender.tenant, Role.GATE_LEAD) as lead:
        assert LINK not in await lead.see(f"cards/{ann.card_id}")


@pytest.mark.parametrize("language", Language)
async def test_the_letter_is_shown_in_each_language(sender: BrowserSession, language: Language) -> None:
    await handed(sender, "Ann", "ann@example.org")
    async with sender.tenant.db.autocommit() as tx:
        event = (await events.find(tx, sender.tenant.id, sender.tenant.event_id)).event
    begins = event.starts_at.astimezone(ZoneInfo(event.time_zone))
    letter = await sender.see(f"{page_of(sender)}/letter?language={language}")
    assert f'lang="{language}"' in letter
    assert format_datetime(begins, "EEEE d MMMM y", locale=language.value) in letter


async def test_a_mailing_is_begun_once_and_stopped(sender: BrowserSession) -> None:
    await handed(sender, "Ann", "ann@example.org")
    form = {"id": str(new_id()), "tickets": ""}
    page = await sender.follow(await sender.send(page_of(sender), **form))
    assert "Being sent" in page
    assert "0 of 1 letter" in page
    await sender.send(page_of(sender), **form)
    async with sender.tenant.db.autocommit() as tx:
        (begun,) = await mailings.of_event(tx, sender.tenant.id, sender.tenant.event_id, limit=10)
    page = await sender.follow(await sender.send(f"{page_of(sender)}/{begun.id}/stop"))
    assert "Stopped" in page
    assert 'id="stop"' not in page


async def test_without_a_mail_server_the_page_says_so(user: BrowserSession) -> None:
    await handed(user, "Ann", "ann@example.org")
    page = await user.see(page_of(user))
    assert "No mail server is configured" in page
    assert "Send 1 letter" not in page
