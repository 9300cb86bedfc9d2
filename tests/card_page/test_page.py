"""The page of a card without JavaScript, and its state as JSON."""

import httpx2
import pytest

from gatepass.domain import cards
from gatepass.domain.cards import CardStatus, read_token, verifying_keys
from gatepass.domain.events import EventStatus
from tests import factory
from tests.card_page.links import changed_path_of, path_of


async def test_the_page_shows_the_card_and_its_event(tenant: factory.Tenant, visitor: httpx2.AsyncClient) -> None:
    card = await tenant.card()
    page = await visitor.get(await path_of(tenant, card))
    assert page.status_code == 200
    for text in (
        card.number,
        "Summer Opening",
        "Hall 1, Brussels",
        "General",
        "Harbour Nights",
        '<div id="code" class="code"><svg',
    ):
        assert text in page.text


async def test_every_answer_is_for_its_reader_alone(tenant: factory.Tenant, visitor: httpx2.AsyncClient) -> None:
    path = await path_of(tenant, await tenant.card())
    for url, status in ((path, 200), (path + "/state", 200), ("/c/a.unknown", 404), ("/c/nothing", 404), ("/c/", 404)):
        answer = await visitor.get(url)
        assert answer.status_code == status, url
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-robots-tag"].startswith("noindex")
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "set-cookie" not in answer.headers


async def test_the_state_has_a_code_that_gates_take(tenant: factory.Tenant, visitor: httpx2.AsyncClient) -> None:
    card = await tenant.card()
    state = (await visitor.get(await path_of(tenant, card) + "/state")).json()
    async with tenant.db.autocommit() as tx:
        token = read_token(state["code"]["token"], await verifying_keys(tx, tenant.id))
    assert token.card_number == card.number == state["card"]["number"]
    assert token.expires_at == state["code"]["expires_at"]
    assert state["card"]["status"] == "active"
    (event,) = state["events"]
    assert event["state"] == "coming"
    assert event["activated_when"] is None
    # The event takes five hours from now, and one day is added.
    assert 28 * 3600 < token.expires_at - state["now"] < 30 * 3600


@pytest.mark.parametrize(
    ("asked", "accepted", "language"),
    [("", "nl-BE,fr;q=0.8", "nl"), ("?language=de", "nl", "de"), ("?language=xx", "fr", "fr"), ("", "", "en")],
)
async def test_the_language_is_the_asked_one_or_the_browsers(
    tenant: factory.Tenant, visitor: httpx2.AsyncClient, asked: str, accepted: str, language: str
) -> None:
    path = await path_of(tenant, await tenant.card())
    state = await visitor.get(f"{path}/state{asked}", headers={"accept-language": accepted})
    assert state.json()["language"] == language
    assert f'<html lang="{language}">' in (await visitor.get(path + asked, headers={"accept-language": accepted})).text


async def test_a_changed_link_shows_the_card_and_the_old_one_nothing(
    tenant: factory.Tenant, visitor: httpx2.AsyncClient
) -> None:
    card = await tenant.card()
    old = await path_of(tenant, card)
    new = await changed_path_of(tenant, card)
    assert old != new
    assert (await visitor.get(new)).status_code == 200
    await _shows_nothing(visitor, tenant, card, old, "replaced")


@pytest.mark.parametrize("to", [CardStatus.REVOKED])
async def test_a_revoked_card_shows_nothing(
    tenant: factory.Tenant, visitor: httpx2.AsyncClient, to: CardStatus
) -> None:
    card = await tenant.card()
    path = await path_of(tenant, card)
    await tenant.move_card(card, to)
    await _shows_nothing(visitor, tenant, card, path, "ended")


async def test_a_suspended_card_shows_no_code(tenant: factory.Tenant, visitor: httpx2.AsyncClient) -> None:
    card = await tenant.card()
    path = await path_of(tenant, card)
    await tenant.move_card(card, CardStatus.SUSPENDED)
    state = (await visitor.get(path + "/state")).json()
    assert (state["card"]["status"], state["code"]) == ("suspended", None)
    await tenant.move_card(card, CardStatus.ACTIVE)
    assert (await visitor.get(path + "/state")).json()["code"] is not None


async def test_a_cancelled_event_says_so(tenant: factory.Tenant, visitor: httpx2.AsyncClient) -> None:
    path = await path_of(tenant, await tenant.card())
    before = (await visitor.get(path + "/state")).json()
    await tenant.move_event(tenant.event_id, EventStatus.CANCELLED)
    after = (await visitor.get(path + "/state")).json()
    assert after["events"][0]["state"] == "cancelled"
    assert before["version"] != after["version"]


async def test_a_sandbox_says_that_it_is_one(tenant: factory.Tenant, visitor: httpx2.AsyncClient) -> None:
    sandbox = await factory.sandbox_twin(tenant)
    path = await path_of(sandbox, await sandbox.card())
    assert (await visitor.get(path + "/state")).json()["sandbox"] is True
    assert "Sandbox" in (await visitor.get(path)).text


async def test_a_post_from_another_site_is_refused(tenant: factory.Tenant, visitor: httpx2.AsyncClient) -> None:
    path = await path_of(tenant, await tenant.card())
    for headers in ({}, {"sec-fetch-site": "cross-site"}, {"origin": "https://evil.test"}, {"origin": "null"}):
        refused = await visitor.post(path + "/phone", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (403, "cross_site")


async def _shows_nothing(
    visitor: httpx2.AsyncClient, tenant: factory.Tenant, card: cards.Card, path: str, status: str
) -> None:
    page, state = await visitor.get(path), await visitor.get(path + "/state")
    assert (page.status_code, state.status_code) == (410, 410)
    assert state.json()["card"] == {"number": None, "status": status}
    for text in (page.text, state.text):
        for secret in (card.number, "Summer Opening", "Harbour Nights", "General", "SVC1.", "<svg"):
            assert secret not in text
