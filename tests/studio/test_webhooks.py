"""Webhooks in the studio: endpoints, their health and secrets, deliveries, replays, the catalogue, the playground."""

import html
import re
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx2
import pytest

from gatepass.base.ids import new_id
from gatepass.domain import changes, webhooks
from gatepass.domain.keys import Mode
from gatepass.domain.staff import Role
from gatepass.domain.webhooks import Endpoint, MessageType, signature
from gatepass.domain.webhooks.health import MOST_OF_ONE
from gatepass.domain.webhooks.signature import Secrets
from gatepass.studio.reception import Reception
from gatepass.studio.webhook_playground import EXAMPLE_SECRET
from gatepass.studio.webhook_preflight import LOOKS
from tests import make
from tests.receivers import receiving
from tests.studio.desk import Desk, sit_down
from tests.studio.samples_webhooks import CLOSED, give_up

URL = "https://example.com/hook"
SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{43}=")


async def endpoints(desk: Desk, mode: Mode = Mode.LIVE) -> list[Endpoint]:
    async with desk.house.db.reading() as tx:
        return await webhooks.endpoints_of(tx, desk.house.id, mode, after=None, limit=16)


async def noted(desk: Desk, id: UUID) -> list[str]:
    async with desk.house.db.reading() as tx:
        return [change.action for change in await changes.of_subject(tx, desk.house.id, id)]


async def test_without_endpoints_it_says_what_to_do(desk: Desk) -> None:
    page = await desk.see("webhooks")
    assert "No endpoint yet" in page
    assert "/studio/live/webhooks/new" in page


@pytest.mark.parametrize("mode", ["live", "sandbox"])
async def test_an_endpoint_is_added_in_the_mode_one_is_in_and_its_secret_shown_once(desk: Desk, mode: str) -> None:
    desk.mode = mode
    answer = await desk.send(
        "webhooks/new", status=200, url=URL, types=["ticket.activated", "scan.denied"], description="Door list"
    )
    (secret,) = set(SECRET.findall(html.unescape(answer.text)))
    (made,) = await endpoints(desk, Mode(mode))
    assert (made.url, made.types, made.description) == (URL, ["ticket.activated", "scan.denied"], "Door list")
    assert answer.headers["cache-control"] == "no-store"
    for rest in ("webhooks", f"webhooks/{made.id}", f"webhooks/{made.id}/secret", f"webhooks/{made.id}/edit"):
        assert secret not in html.unescape(await desk.see(rest))
    assert await noted(desk, made.id) == ["created"]


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
async def test_what_cannot_be_saved_is_kept_and_explained(desk: Desk, fields: dict[str, object], sentence: str) -> None:
    page = html.unescape((await desk.send("webhooks/new", status=422, **fields)).text)
    assert sentence in page
    assert f'value="{fields["url"]}"' in page
    assert await endpoints(desk) == []


async def test_who_has_not_confirmed_sees_no_secret(studio: Reception, house: make.House) -> None:
    id, _ = await house.endpoint(URL)
    async with await sit_down(studio, house, confirmed=False) as desk:
        for answer in (
            await desk.client.get(desk.url("webhooks/new")),
            await desk.send("webhooks/new", url=URL, types=["ticket.activated"]),
            await desk.send(f"webhooks/{id}/secret/rotate"),
        ):
            assert answer.headers["location"].startswith("/studio/confirm?")
        assert len(await endpoints(desk)) == 1
        assert await noted(desk, id) == ["created"]


async def test_a_viewer_of_webhooks_alone_has_no_buttons(studio: Reception, house: make.House) -> None:
    await house.endpoint(URL)
    async with await sit_down(studio, house, Role.VIEWER) as desk:
        await desk.see("webhooks", status=403)


async def test_a_look_at_a_url_keeps_the_form_and_saves_nothing(desk: Desk) -> None:
    async with receiving() as receiver:
        fields = {"url": receiver.url(), "types": ["scan.denied"], "description": "Door list"}
        page = (await desk.send("webhooks/preflight", status=200, **fields)).text
    assert "This URL can be reached" in page
    assert "Door list" in page
    assert 'value="scan.denied" checked' in page
    assert await endpoints(desk) == []
    assert receiver.messages == []


async def test_a_look_at_what_cannot_be_reached_says_where_it_ends(desk: Desk) -> None:
    page = (await desk.send("webhooks/preflight", status=200, url=CLOSED)).text
    assert "This URL cannot be reached" in page
    assert "Nobody takes connections on port 1." in page


async def test_looks_are_not_without_end(desk: Desk) -> None:
    for _ in range(LOOKS.burst):
        await desk.send("webhooks/preflight", status=200, url="nonsense")
    page = (await desk.send("webhooks/preflight", status=422, url="nonsense")).text
    assert "The next one is possible in" in page
    async with await sit_down_beside(desk) as other:
        await other.send("webhooks/preflight", status=200, url="nonsense")


async def sit_down_beside(desk: Desk) -> Desk:
    """Somebody else of the same organization."""
    transport = desk.client._transport
    return await sit_down(transport.app, desk.house)  # type: ignore[attr-defined]


async def test_the_list_and_the_page_tell_how_an_endpoint_fares(desk: Desk) -> None:
    id, _ = await desk.house.endpoint(URL)
    await desk.house.tell(3)
    for page in (await desk.see("webhooks"), await desk.see(f"webhooks/{id}")):
        assert "<svg" in page
        assert "Nothing was sent in the last 24 hours." in page
        assert "Active" in page
    await give_up_all(desk, id)
    page = await desk.see(f"webhooks/{id}")
    assert "Last 24 hours: 0 attempts got through, 6 failed." in page
    assert "0.0 %" in page


async def give_up_all(desk: Desk, id: UUID) -> None:
    async with desk.house.db.transaction() as tx:
        await tx.run(
            "UPDATE webhook_delivery SET state = 'failed', attempts = 2"
            " WHERE organization_id = $1 AND endpoint_id = $2",
            desk.house.id, id,
        )  # fmt: skip


async def test_a_day_with_more_than_is_looked_at_says_so(desk: Desk) -> None:
    id, _ = await desk.house.endpoint(URL)
    await desk.house.tell(MOST_OF_ONE + 1)
    page = await desk.see(f"webhooks/{id}")
    assert f"the newest {MOST_OF_ONE} messages" in page
    assert f"{MOST_OF_ONE}+" in page


async def test_settings_are_changed_and_noted(desk: Desk) -> None:
    id, _ = await desk.house.endpoint(URL)
    page = await desk.see(f"webhooks/{id}/edit")
    assert 'value="ticket.activated" checked' in page
    await desk.follow(
        await desk.send(f"webhooks/{id}/edit", url=URL + "/2", types=["ticket.cancelled"], description="New")
    )
    (found,) = await endpoints(desk)
    assert (found.url, found.types, found.description) == (URL + "/2", ["ticket.cancelled"], "New")
    assert {"url changed", "types changed", "description changed"} <= set(await noted(desk, id))
    page = (await desk.send(f"webhooks/{id}/edit", status=422, url="http:/x", types=["ticket.cancelled"])).text
    assert 'value="http:/x"' in page


async def test_a_look_while_editing_stays_on_the_edit(desk: Desk) -> None:
    id, _ = await desk.house.endpoint(URL)
    page = (await desk.send("webhooks/preflight", status=200, url="nonsense", endpoint_id=str(id))).text
    assert f'action="/studio/live/webhooks/{id}/edit"' in page
    theirs, _ = await (await make.house(desk.house.db)).endpoint(URL)
    for foreign in (str(theirs), "nonsense"):
        await desk.send("webhooks/preflight", status=404, url="nonsense", endpoint_id=foreign)


async def test_paused_and_resumed(desk: Desk) -> None:
    id, _ = await desk.house.endpoint(URL)
    await desk.house.tell(2)
    page = await desk.follow(await pause(desk, id))
    assert "Somebody paused it." in page
    assert "2 messages are held" in page
    page = await desk.see(f"webhooks/{id}/deliveries?status=held")
    assert page.count("when resumed") == 2
    answer = await desk.client.post(desk.url(f"webhooks/{id}/status"), data={"status": "active"})
    assert "What was held goes out now." in await desk.follow(answer)
    assert (await noted(desk, id))[:2] == ["resumed", "paused"]


async def pause(desk: Desk, id: UUID) -> httpx2.Response:
    """`status` is a word of the desk's too."""
    return await desk.client.post(desk.url(f"webhooks/{id}/status"), data={"status": "paused"})


async def test_a_paused_endpoint_cannot_be_tested(desk: Desk) -> None:
    id, _ = await desk.house.endpoint(URL)
    await pause(desk, id)
    assert "The endpoint is paused." in (await desk.send(f"webhooks/{id}/test", status=409)).text


async def test_a_test_leads_to_its_delivery(desk: Desk) -> None:
    id, _ = await desk.house.endpoint(URL)
    page = await desk.follow(await desk.send(f"webhooks/{id}/test"))
    assert "A test message is on its way." in page
    assert "webhook.ping" in page
    assert "Pending" in page
    assert 'hx-trigger="load delay:2s"' in page


async def test_a_secret_is_rotated_in_two_steps(desk: Desk) -> None:
    id, old = await desk.house.endpoint(URL)
    assert "One secret" in await desk.see(f"webhooks/{id}/secret")
    answer = await desk.send(f"webhooks/{id}/secret/rotate", status=200)
    (new,) = set(SECRET.findall(html.unescape(answer.text)))
    assert new != old
    assert "Two secrets, the old one signs" in await desk.see(f"webhooks/{id}/secret")
    assert "A new secret is on its way in" in await desk.see(f"webhooks/{id}")
    page = await desk.follow(await desk.send(f"webhooks/{id}/secret/switch"))
    assert "Two secrets, the new one signs" in page
    assert new not in html.unescape(page)
    refused = await desk.send(f"webhooks/{id}/secret/rotate", status=409)
    assert "Rotate again after that." in refused.text


async def test_deleted(desk: Desk) -> None:
    id, _ = await desk.house.endpoint(URL)
    assert "No endpoint yet" in await desk.follow(await desk.send(f"webhooks/{id}/delete"))
    await desk.see(f"webhooks/{id}", status=404)


async def test_deliveries_are_filtered_by_the_url_and_paged(desk: Desk) -> None:
    id, _ = await desk.house.endpoint(URL, MessageType.TICKET_ACTIVATED, MessageType.TICKET_CANCELLED)
    await desk.house.tell(60)
    await desk.house.tell(2, type=MessageType.TICKET_CANCELLED)
    first = await desk.see(f"webhooks/{id}/deliveries")
    (following,) = re.findall(r'href="([^"]*cursor=[^"]*)"', first)
    second = await desk.see(html.unescape(following))
    assert links(second) == 12
    assert (links(first), links(await desk.see(f"webhooks/{id}/deliveries?type=ticket.cancelled"))) == (50, 2)
    assert "Nothing fits" in await desk.see(f"webhooks/{id}/deliveries?status=delivered")
    tomorrow = (make.now() + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")
    assert links(await desk.see(f"webhooks/{id}/deliveries?since={tomorrow}")) == 0
    assert links(await desk.see(f"webhooks/{id}/deliveries?until={tomorrow}&status=nonsense&cursor=nonsense")) == 50


def links(page: str) -> int:
    return len(re.findall(r'href="[^"]*/deliveries/[0-9a-f-]{36}"', page))


async def test_a_delivery_shows_every_attempt_and_no_signature(desk: Desk) -> None:
    id, _ = await desk.house.endpoint(URL)
    (event_id,) = await desk.house.tell()
    delivery_id = await give_up(desk.house, id)
    page = html.unescape(await desk.see(f"webhooks/{id}/deliveries/{delivery_id}"))
    assert "Attempt 1" in page
    assert "Attempt 2" in page
    assert "No whole answer within 15 seconds." in page
    assert "The receiver failed." in page
    assert f"webhook-id: {webhooks.written_id(event_id)}" in page
    assert re.search(r"x-svc-signature: t=[0-9]+,v1=\(not kept\)", page)
    assert f'"id": "{webhooks.written_id(event_id)}"' in page
    assert "hx-trigger" not in page


async def test_a_delivery_is_sent_again_from_its_page(desk: Desk) -> None:
    id, _ = await desk.house.endpoint(URL)
    await desk.house.tell()
    delivery_id = await give_up(desk.house, id)
    page = await desk.follow(await desk.send(f"webhooks/{id}/deliveries/{delivery_id}/resend"))
    assert "On its way again" in page
    assert "somebody asked for it again" in page
    assert "Pending" in page


async def test_what_is_still_to_be_sent_is_not_sent_again(desk: Desk) -> None:
    id, _ = await desk.house.endpoint(URL)
    location = (await desk.send(f"webhooks/{id}/test")).headers["location"]
    assert "This delivery is still to be sent." in (await desk.send(f"{location}/resend", status=409)).text


async def test_a_replay_is_counted_begun_watched_and_stopped(desk: Desk) -> None:
    id, _ = await desk.house.endpoint(URL)
    await desk.house.tell(3)
    await give_up_all(desk, id)
    wanted: dict[str, Any] = {"what": "failed", "since": (make.now() - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")}
    page = (await desk.send(f"webhooks/{id}/replays/count", status=200, **wanted)).text
    assert "Send 3 messages again" in page
    none = {**wanted, "type": "ticket.cancelled"}
    page = (await desk.send(f"webhooks/{id}/replays/count", status=200, **none)).text
    assert "0 messages" in page
    assert "Send 0" not in page
    begun = await desk.send(f"webhooks/{id}/replays", **wanted)
    page = await desk.follow(begun)
    assert "0 of 3 messages" in page
    assert 'hx-trigger="every 1s"' in page
    stopped = await desk.follow(await desk.send(f"{begun.headers['location']}/stop"))
    assert "Stopped" in stopped
    assert 'hx-trigger="every' not in stopped
    assert "Stopped" in await desk.see(f"webhooks/{id}/replays")
    assert {"replayed", "replay stopped"} <= set(await noted(desk, id))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"since": "nonsense"}, "This is not a time."),
        ({"since": ""}, "This is needed."),
        ({"since": "2026-01-01T00:00", "until": "nonsense"}, "This is not a time."),
        ({"since": "2020-01-01T00:00"}, "Messages are kept for 30 days"),
        ({"since": "now", "until": "2100-01-01T00:00"}, "until is in the future."),
        ({"since": "now", "type": "no.such"}, "there is no type"),
        ({"since": "now", "what": "nonsense"}, "Choose one of these."),
    ],
)
async def test_a_replay_that_cannot_be_is_explained(desk: Desk, fields: dict[str, Any], sentence: str) -> None:
    id, _ = await desk.house.endpoint(URL)
    if fields["since"] == "now":
        fields = {**fields, "since": (make.now() - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")}
    for rest in ("replays/count", "replays"):
        page = html.unescape((await desk.send(f"webhooks/{id}/{rest}", status=422, **fields)).text)
        assert sentence in page


async def test_the_catalogue_has_every_type_with_schema_and_example(desk: Desk) -> None:
    page = html.unescape(await desk.see("webhooks/types"))
    for type in MessageType:
        assert f'id="{type}"' in page
        assert f'"type": "{type}"' in page
        assert f'"const": "{type}"' in page


async def test_the_playground_verifies_and_keeps_nothing(desk: Desk) -> None:
    secret, body = signature.new_secret(), b'{"a":1}'
    sent = signature.headers(
        Secrets(secret), body, event_id=new_id(), type="webhook.ping", delivery_id=new_id(), attempt=1,
        replayed=False, at=make.now(),
    )  # fmt: skip
    pasted: dict[str, Any] = {
        "headers": "\r\n".join(f"{name}: {value}" for name, value in sent.items()),
        "body": body.decode(),
    }
    page = (await desk.send("webhooks/playground", status=200, secret=secret, **pasted)).text
    assert page.count("Genuine") == 2
    assert secret not in html.unescape(page)
    other = signature.new_secret()
    page = (await desk.send("webhooks/playground", status=200, secret=other, **pasted)).text
    assert page.count("Not genuine") == 2
    page = (await desk.send("webhooks/playground", status=422, secret=other)).text
    assert "A secret and headers are needed." in page
    assert other not in html.unescape(page)


async def test_the_example_of_the_playground_is_genuine(desk: Desk) -> None:
    page = html.unescape(await desk.see("webhooks/playground?example=1"))
    assert EXAMPLE_SECRET in page
    headers = re.findall(r"<textarea[^>]*name=\"headers\"[^>]*>([^<]*)<", page)[0]
    body = re.findall(r"<textarea[^>]*name=\"body\"[^>]*>([^<]*)<", page)[0]
    told = (await desk.send("webhooks/playground", status=200, secret=EXAMPLE_SECRET, headers=headers, body=body)).text
    assert told.count("Genuine") == 2


async def test_the_worker_pauses_and_the_page_says_why(desk: Desk) -> None:
    id, _ = await desk.house.endpoint(URL)
    async with desk.house.db.transaction() as tx:
        await tx.run(
            "UPDATE webhook_endpoint SET status = 'paused', paused_reason = 'gone'"
            " WHERE organization_id = $1 AND id = $2",
            desk.house.id, id,
        )  # fmt: skip
        await changes.note(
            tx, desk.house.id, "webhook_endpoint", id, "paused", by="worker", at=make.now(), reason="gone"
        )
    page = await desk.see(f"webhooks/{id}")
    assert "by Gatepass" in page
    assert "410 Gone" in page
