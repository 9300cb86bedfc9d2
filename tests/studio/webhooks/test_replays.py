"""Replays in the studio: counted, started, watched, stopped."""

import html
from datetime import timedelta
from typing import Any

import pytest

from tests import factory
from tests.studio.browser_session import BrowserSession
from tests.studio.webhooks.stored import URL, audit_actions, give_up_all


async def test_a_replay_is_counted_begun_watched_and_stopped(user: BrowserSession) -> None:
    id, _ = await user.tenant.endpoint(URL)
    await user.tenant.tell(3)
    await give_up_all(user, id)
    wanted: dict[str, Any] = {
        "what": "failed",
        "since": (factory.now() - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M"),
    }
    page = (await user.send(f"webhooks/{id}/replays/count", status=200, **wanted)).text
    assert "Send 3 messages again" in page
    none = {**wanted, "type": "ticket.cancelled"}
    page = (await user.send(f"webhooks/{id}/replays/count", status=200, **none)).text
    assert "0 messages" in page
    assert "Send 0" not in page
    begun = await user.send(f"webhooks/{id}/replays", **wanted)
    page = await user.follow(begun)
    assert "0 of 3 messages" in page
    assert 'hx-trigger="every 1s"' in page
    stopped = await user.follow(await user.send(f"{begun.headers['location']}/stop"))
    assert "Stopped" in stopped
    assert 'hx-trigger="every' not in stopped
    assert "Stopped" in await user.see(f"webhooks/{id}/replays")
    assert {"replayed", "replay stopped"} <= set(await audit_actions(user, id))


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
async def test_a_replay_that_cannot_be_is_explained(
    user: BrowserSession, fields: dict[str, Any], sentence: str
) -> None:
    id, _ = await user.tenant.endpoint(URL)
    if fields["since"] == "now":
        fields = {**fields, "since": (factory.now() - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M")}
    for rest in ("replays/count", "replays"):
        page = html.unescape((await user.send(f"webhooks/{id}/{rest}", status=422, **fields)).text)
        assert sentence in page
