"""The package, used as a user does, against the real service: every resource, a device, the feed and the webhooks."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from nacl.signing import SigningKey

from gatepass.base.database import Tx
from gatepass.domain import devices
from gatepass.domain.keys import Mode
from gatepass_sdk import Gatepass
from tests.sdk.gate.venue import BY, Venue
from tests.sdk.javascript.node import HERE, Project
from tests.sdk.stack import Stack

EXPECTED: dict[str, Any] = {
    "deleted": True,
    "changed": ["Tag", None, True],
    "stale": True,
    "category": ["Gold", 25.5, None],
    "published": "published",
    "listed": True,
    "issued_once": ["issued", True],
    "external_id": True,
    "batch": ["issued", "issued", "issued", "SoldOut"],
    "sold_out": True,
    "cancelled": "refund",
    "transferred": True,
    "tickets": 4,
    "ticket": True,
    "verified": [True, True, True, True],
    "late": "expired",
    "tokens": [True, "NotFound"],
    "suspended": True,
    "resumed": "active",
    "scan": [True, "vip", "Gold", False, True],
    "used": [True, "North 2", "7", "This ticket has already been activated."],
    "scans": ["activated", "already_activated", "card_suspended"],
    "holder": ["Ada", "fr"],
    "found": True,
    "link": True,
    "replaced": [True, "revoked"],
    "revoked": "revoked",
    "endpoint": [True, None],
    "rotated": True,
    "paused": "paused",
    "delivery": "webhook.ping",
    "deliveries": True,
    "replayed": [True, True],
    "endpoints": True,
    "ended": "ended",
    "cancelled_event": "cancelled",
    "devices": 0,
    "incidents": 0,
}


def environment(stack: Stack, key: str) -> dict[str, str]:
    return {"GATEPASS_API_KEY": key, "GATEPASS_BASE_URL": stack.base_url}


def test_every_resource_works(project: Project, stack: Stack) -> None:
    program = (HERE / "platform.mjs").read_text()
    saw = json.loads(project.run("platform.mjs", program, environment(stack, stack.key("live"))))
    event_id = saw.pop("event_id")
    assert saw == EXPECTED
    with Gatepass(stack.key("live"), base_url=stack.base_url) as client:
        assert client.events.retrieve(event_id).title == "Tag"


# Of each list the first page, as the service sent it.
LISTS = """
import { Gatepass } from "@gatepass/sdk";
const client = new Gatepass();
const pages = [
  client.events.list({ limit: 3 }), client.cards.list({ limit: 3 }), client.tickets.list({ limit: 3 }),
  client.scans.list({ limit: 3 }), client.webhookEvents.list({ limit: 100 }),
];
const found = [];
for (const one of pages) found.push((await one.first()).data);
console.log(JSON.stringify(found));
"""


def test_an_answer_keeps_every_field(project: Project, stack: Stack) -> None:
    printed = json.loads(project.run("lists.mjs", LISTS, environment(stack, stack.key("live"))))
    with Gatepass(stack.key("live"), base_url=stack.base_url) as client:
        pages = (
            client.events.list(limit=3),
            client.cards.list(limit=3),
            client.tickets.list(limit=3),
            client.scans.list(limit=3),
            client.webhook_events.list(limit=100),
        )
        sent = [[dict(one.raw) for one in page.first().data] for page in pages]
    assert all(sent)
    for these, those in zip(printed, sent, strict=True):
        assert [without_etags(one) for one in these] == those


def without_etags(value: Any) -> Any:
    """A model has the field `etag` besides, which is null in a list."""
    if isinstance(value, list):
        return [without_etags(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: without_etags(one) for name, one in value.items() if (name, one) != ("etag", None)}


def test_a_device_follows_the_manifest_of_its_event(project: Project, stack: Stack) -> None:
    venue = Venue.open(stack)
    guest = venue.guest()
    public_key = bytes(SigningKey.generate().verify_key)

    async def pair_now(tx: Tx) -> tuple[devices.Device, str]:
        at, event_id = datetime.now(UTC), UUID(venue.event_id)
        organization_id, name = venue.organization_id, "node"
        return await devices.pair_now(
            tx, organization_id, Mode.LIVE, name, public_key, event_id, "North", cell="a", by=BY, at=at
        )

    _, key = venue.do(pair_now)
    given = {"EVENT_ID": venue.event_id, "CARD": guest.number, "TOKEN": guest.token}
    saw = json.loads(project.run("device.mjs", (HERE / "device.mjs").read_text(), environment(stack, key) | given))
    assert saw == {"queued": 2, "offline": "manifest", "found": [False, True, True, True]}
    venue.client.close()
