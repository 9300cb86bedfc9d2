"""Webhook endpoints in the studio: added, changed, paused, rotated, deleted; their health."""

import html
import re
from uuid import UUID

import httpx2
import pytest

from gatepass.domain import audit_log
from gatepass.domain.keys import Mode
from gatepass.domain.staff import Role
from gatepass.domain.webhooks.health import MOST_OF_ONE
from gatepass.studio.middleware import Middleware
from tests import factory
from tests.studio.browser_session import BrowserSession, sign_in
from tests.studio.webhooks.stored import URL, audit_actions, endpoints, give_up_all

SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{43}=")


async def test_without_endpoints_it_says_what_to_do(user: BrowserSession) -> None:
    page = await user.see("webhooks")
    assert "No endpoint yet" in page
    assert f"{user.root()}webhooks/new" in page


@pytest.mark.parametrize("mode", ["live", "sandbox"])
async def test_an_endpoint_is_added_in_the_mode_one_is_in_and_its_secret_shown_once(
    user: BrowserSession, mode: str
) -> None:
    user.mode = mode
    answer = await user.send(
        "webhooks/new", status=200, url=URL, types=["ticket.activated", "scan.denied"], description="Door list"
    )
    (secret,) = set(SECRET.findall(html.unescape(answer.text)))
    (made,) = await endpoints(user, Mode(mode))
    assert (made.url, made.types, made.description) == (URL, ["ticket.activated", "scan.denied"], "Door list")
    assert answer.headers["cache-control"] == "no-store"
    for rest in ("webhooks", f"webhooks/{made.id}", f"webhooks/{made.id}/secret", f"webhooks/{made.id}/edit"):
        assert secret not in html.unescape(await user.see(rest))
    assert await audit_actions(user, made.id) == ["created"]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"url": "", "types": ["ticket.activated"]}, "This is needed."),
        ({"url": "ftp://example.com", "types": ["ticket.activated"]}, "must begin with https://"),
        ({"url": URL}, "name at least one"),
        ({"url": URL, "types": ["no.such"]}, "there is no type"),
        ({"url": URL, "types": ["ticket.activated"], "description": "x" * 501}, "longer than 500"),
    ],
)
async def test_what_cannot_be_saved_is_kept_and_explained(
    user: BrowserSession, fields: dict[str, object], sentence: str
) -> None:
    page = html.unescape((await user.send("webhooks/new", status=422, **fields)).text)
    assert sentence in page
    assert f'value="{fields["url"]}"' in page
    assert await endpoints(user) == []


async def test_who_has_not_confirmed_sees_no_secret(studio: Middleware, tenant: factory.Tenant) -> None:
    id, _ = await tenant.endpoint(URL)
    async with await sign_in(studio, tenant, confirmed=False) as user:
        for answer in (
            await user.client.get(user.url("webhooks/new")),
            await user.send("webhooks/new", url=URL, types=["ticket.activated"]),
            await user.send(f"webhooks/{id}/secret/rotate"),
        ):
            assert answer.headers["location"].startswith("/studio/confirm?")
        assert len(await endpoints(user)) == 1
        assert await audit_actions(user, id) == ["created"]


async def test_a_viewer_of_webhooks_alone_has_no_buttons(studio: Middleware, tenant: factory.Tenant) -> None:
    await tenant.endpoint(URL)
    async with await sign_in(studio, tenant, Role.VIEWER) as user:
        await user.see("webhooks", status=403)


async def test_the_list_and_the_page_tell_how_an_endpoint_fares(user: BrowserSession) -> None:
    id, _ = await user.tenant.endpoint(URL)
    await user.tenant.tell(3)
    for page in (await user.see("webhooks"), await user.see(f"webhooks/{id}")):
        assert "<svg" in page
        assert "Nothing was sent in the last 24 hours." in page
        assert "Active" in page
    await give_up_all(user, id)
    page = await user.see(f"webhooks/{id}")
    assert "Last 24 hours: 0 attempts got through, 6 failed." in page
    assert "0.0 %" in page


async def test_a_day_with_more_than_is_looked_at_says_so(user: BrowserSession) -> None:
    id, _ = await user.tenant.endpoint(URL)
    await user.tenant.tell(MOST_OF_ONE + 1)
    page = await user.see(f"webhooks/{id}")
    assert f"the newest {MOST_OF_ONE} messages" in page
    assert f"{MOST_OF_ONE}+" in page


async def test_settings_are_changed_and_noted(user: BrowserSession) -> None:
    id, _ = await user.tenant.endpoint(URL)
    page = await user.see(f"webhooks/{id}/edit")
    assert 'value="ticket.activated" checked' in page
    await user.follow(
        await user.send(f"webhooks/{id}/edit", url=URL + "/2", types=["ticket.cancelled"], description="New")
    )
    (found,) = await endpoints(user)
    assert (found.url, found.types, found.description) == (URL + "/2", ["ticket.cancelled"], "New")
    assert {"url changed", "types changed", "description changed"} <= set(await audit_actions(user, id))
    page = (await user.send(f"webhooks/{id}/edit", status=422, url="http:/x", types=["ticket.cancelled"])).text
    assert 'value="http:/x"' in page


async def test_paused_and_resumed(user: BrowserSession) -> None:
    id, _ = await user.tenant.endpoint(URL)
    await user.tenant.tell(2)
    page = await user.follow(await pause(user, id))
    assert "Somebody paused it." in page
    assert "2 messages are held" in page
    page = await user.see(f"webhooks/{id}/deliveries?status=held")
    assert page.count("when resumed") == 2
    answer = await user.client.post(user.url(f"webhooks/{id}/status"), data={"status": "active"})
    assert "What was held goes out now." in await user.follow(answer)
    assert (await audit_actions(user, id))[:2] == ["resumed", "paused"]


async def pause(user: BrowserSession, id: UUID) -> httpx2.Response:
    """Post the field `status`, which `BrowserSession.send` uses as an argument of its own."""
    return await user.client.post(user.url(f"webhooks/{id}/status"), data={"status": "paused"})


async def test_a_paused_endpoint_cannot_be_tested(user: BrowserSession) -> None:
    id, _ = await user.tenant.endpoint(URL)
    await pause(user, id)
    assert "The endpoint is paused." in (await user.send(f"webhooks/{id}/test", status=409)).text


async def test_a_test_leads_to_its_delivery(user: BrowserSession) -> None:
    id, _ = await user.tenant.endpoint(URL)
    page = await user.follow(await user.send(f"webhooks/{id}/test"))
    assert "A test message is on its way." in page
    assert "webhook.ping" in page
    assert "Pending" in page
    assert 'hx-trigger="load delay:2s"' in page


async def test_a_secret_is_rotated_in_two_steps(user: BrowserSession) -> None:
    id, old = await user.tenant.endpoint(URL)
    assert "One secret" in await user.see(f"webhooks/{id}/secret")
    answer = await user.send(f"webhooks/{id}/secret/rotate", status=200)
    (new,) = set(SECRET.findall(html.unescape(answer.text)))
    assert new != old
    assert "Two secrets, the old one signs" in await user.see(f"webhooks/{id}/secret")
    assert "A new secret is on its way in" in await user.see(f"webhooks/{id}")
    page = await user.follow(await user.send(f"webhooks/{id}/secret/switch"))
    assert "Two secrets, the new one signs" in page
    assert new not in html.unescape(page)
    refused = await user.send(f"webhooks/{id}/secret/rotate", status=409)
    assert "Rotate again after that." in refused.text


async def test_deleted(user: BrowserSession) -> None:
    id, _ = await user.tenant.endpoint(URL)
    assert "No endpoint yet" in await user.follow(await user.send(f"webhooks/{id}/delete"))
    await user.see(f"webhooks/{id}", status=404)


async def test_the_worker_pauses_and_the_page_says_why(user: BrowserSession) -> None:
    id, _ = await user.tenant.endpoint(URL)
    async with user.tenant.db.transaction() as tx:
        await tx.run(
            "UPDATE webhook_endpoint SET status = 'paused', paused_reason = 'gone'"
            " WHERE organization_id = $1 AND id = $2",
            user.tenant.id, id,
        )  # fmt: skip
        await audit_log.record(
            tx, user.tenant.id, "webhook_endpoint", id, "paused", by="worker", at=factory.now(), reason="gone"
        )
    page = await user.see(f"webhooks/{id}")
    assert "by Gatepass" in page
    assert "410 Gone" in page
