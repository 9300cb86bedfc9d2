"""A phone that was stolen and ended in the studio: it has the link, its key, and the page in its memory."""

from collections.abc import AsyncGenerator, Generator

import httpx2
import pytest

from gatepass.domain import cards, tickets
from gatepass.domain.cards import Card
from gatepass.domain.tickets import TicketRequest
from gatepass.studio.services.templates import root_of
from tests import factory
from tests.attacks.studio_client import fresh_address, member, visiting
from tests.card_page.conftest import ORIGIN
from tests.card_page.handset import Handset, refused
from tests.card_page.links import path_of
from tests.factory import Tenant
from tests.postgres import free_port
from tests.processes import GatepassProcess, serve


@pytest.fixture(scope="module")
def site(settings_env: dict[str, str]) -> Generator[GatepassProcess]:
    """The studio and card pages, with a mail server that letters are written for."""
    environment = {
        **settings_env,
        "GATEPASS_PUBLIC_URL": ORIGIN,
        "GATEPASS_TRUSTED_PROXIES": "127.0.0.1",
        "GATEPASS_SMTP_URL": "smtp://127.0.0.1:1",
        "GATEPASS_MAIL_FROM": "cards@example.com",
    }
    process = serve(environment, free_port())
    yield process
    process.stop()


@pytest.fixture
async def thief(site: GatepassProcess) -> AsyncGenerator[httpx2.AsyncClient]:
    address = {"X-Forwarded-For": fresh_address()}
    async with httpx2.AsyncClient(base_url=site.url, headers=address, timeout=60) as client:
        yield client


async def guest(tenant: Tenant) -> Card:
    async with tenant.db.transaction() as tx:
        card = await cards.issue(
            tx, tenant.id, by=factory.BY, at=factory.now(), holder_name="Ada", holder_email="ada@example.org"
        )
        request = TicketRequest(tenant.event_id, tenant.category_id, card_number=card.number)
        await tickets.issue(tx, tenant.id, request, by=factory.BY, at=factory.now())
    return card


async def end(site: GatepassProcess, tenant: Tenant, card: Card, **form: str) -> str:
    """As a lead does it; what the card's page says then."""
    _, token = await member(tenant)
    page = f"{root_of(tenant.id, 'live')}/cards/{card.id}"
    async with visiting(site, token) as lead:
        answer = await lead.post(f"{page}/phone/end", data={"reason": "stolen", **form})
        assert answer.status_code == 303, answer.text[:500]
        return (await lead.get(page)).text


async def letters_to(tenant: Tenant, card: Card) -> int:
    async with tenant.db.autocommit() as tx:
        return await tx.value(
            "SELECT count(*) FROM letter WHERE organization_id = $1 AND card_id = $2", tenant.id, card.id
        )


async def test_a_stolen_phone_is_ended_for_good(
    site: GatepassProcess, thief: httpx2.AsyncClient, tenant: Tenant
) -> None:
    card = await guest(tenant)
    path = await path_of(tenant, card)
    phone = Handset(thief, path)
    assert (await phone.send("/phone")).status_code == 200
    page = await end(site, tenant, card, mail="true")
    assert "phone ended" in page
    assert "link changed" in page
    for route in ("/phone", "/phone/certificate", "/phone/end"):
        assert (await phone.send(route)).status_code in (404, 410), route
    another = Handset(thief, path)
    assert (await another.send("/phone")).status_code in (404, 410), "nor does another phone of the thief"
    for rest in ("", "/state", "/short-token"):
        answer = await thief.get(path + rest)
        assert "SVC1." not in answer.text, rest
        assert answer.status_code >= 400, rest
    async with tenant.db.autocommit() as tx:
        assert await cards.find_phone(tx, tenant.id, card.id) is None
    assert await letters_to(tenant, card) == 1, "the guest gets the new link"


async def test_the_guest_takes_the_card_by_the_new_link(
    site: GatepassProcess, thief: httpx2.AsyncClient, tenant: Tenant
) -> None:
    card = await guest(tenant)
    await Handset(thief, await path_of(tenant, card)).send("/phone")
    await end(site, tenant, card)
    assert await letters_to(tenant, card) == 0, "nobody asked for a letter"
    assert (await Handset(thief, await path_of(tenant, card)).send("/phone")).status_code == 200


async def test_a_link_that_is_kept_on_purpose_enrols_the_next_phone_and_not_the_ended_one(
    site: GatepassProcess, thief: httpx2.AsyncClient, tenant: Tenant
) -> None:
    card = await guest(tenant)
    path = await path_of(tenant, card)
    phone = Handset(thief, path)
    await phone.send("/phone")
    await end(site, tenant, card, keep_link="true")
    refused(await phone.send("/phone"), 409, "phone_ended")
    assert (await Handset(thief, path).send("/phone")).status_code == 200


async def test_ending_again_changes_no_link(site: GatepassProcess, thief: httpx2.AsyncClient, tenant: Tenant) -> None:
    """A second click must not end the link that was just mailed."""
    card = await guest(tenant)
    await Handset(thief, await path_of(tenant, card)).send("/phone")
    await end(site, tenant, card, mail="true")
    path = await path_of(tenant, card)
    await end(site, tenant, card, mail="true")
    assert await path_of(tenant, card) == path
    assert await letters_to(tenant, card) == 1
