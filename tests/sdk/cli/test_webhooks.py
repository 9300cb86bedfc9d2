"""`gatepass-cli webhooks`: an endpoint from its creation to its deletion."""

from gatepass_sdk import Gatepass
from tests.sdk.cli.receiver import LocalReceiver
from tests.sdk.cli.terminal import Terminal


def test_an_endpoint_is_made_changed_tested_replayed_and_deleted(sandbox: Terminal, receiver: LocalReceiver) -> None:
    made = sandbox.run(
        "webhooks", "create", receiver.url + "/sent", "--types", "ticket.activated,scan.denied", "--json"
    ).object
    id, secret = made["id"], made["secret"]
    # No later command may print it.
    sandbox.secrets.append(secret)
    assert id in sandbox.run("webhooks", "list").out
    assert ["status", "active"] in [line.split() for line in sandbox.run("webhooks", "show", id).out.splitlines()]
    assert sandbox.run("webhooks", "update", id, "--description", "Door", "--json").object["description"] == "Door"

    assert sandbox.run("webhooks", "pause", id, "--json").object["status"] == "paused"
    assert sandbox.run("webhooks", "resume", id, "--json").object["status"] == "active"

    ping = sandbox.run("webhooks", "test", id, "--json").object
    scanned = sandbox.run("trigger", "ticket.activated", "--json").object
    assert (scanned["triggered"], scanned["by"]) == ("ticket.activated", "a scan of TEST_VALID")
    receiver.wait_until(lambda: len(receiver.accepted("/sent")) >= 2)
    client = Gatepass(sandbox.key, base_url=sandbox.base_url)
    for got in receiver.accepted("/sent"):
        assert client.webhooks.unwrap(got.body, got.headers, secret).id == got.id
    client.close()
    shown = sandbox.run("webhooks", "delivery", id, ping["id"], "--json").object
    assert shown["event_id"] == ping["event_id"]
    listed = sandbox.run("webhooks", "deliveries", id, "--type", "webhook.ping").out.splitlines()
    assert (len(listed), listed[1].split()[0]) == (2, ping["id"])

    unsure = sandbox.run("webhooks", "replay", id)
    assert (unsure.code, "--yes" in unsure.err) == (2, True)
    before = len(receiver.accepted("/sent"))
    replayed = sandbox.run("webhooks", "replay", id, "--types", "ticket.activated", "--yes", "--json").object
    assert (replayed["status"], replayed["done"]) == ("done", replayed["total"])
    receiver.wait_until(lambda: len(receiver.accepted("/sent")) >= before + replayed["total"])

    rotated = sandbox.run("webhooks", "rotate", id, "--json").object
    assert rotated["secret"] != secret
    assert sandbox.run("webhooks", "delete", id, "--yes", "--json").object == {"id": id, "deleted": True}
    gone = sandbox.run("webhooks", "show", id)
    assert (gone.code, gone.out) == (1, "")
    assert "req_" in gone.err
