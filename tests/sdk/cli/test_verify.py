"""`gatepass-cli verify`, `keys` and `events`."""

from tests.sdk.cli.terminal import Terminal
from tests.sdk.stack import Stack


def test_tokens_are_verified_with_a_network_and_without(live: Terminal, stack: Stack) -> None:
    card, expired = stack.unused(), stack.demo["cards"]["expired_token"]
    online = live.run("verify", card["token"], "--json")
    assert (online.code, online.object["valid"], online.object["card_number"]) == (0, True, card["card_number"])
    saved = live.run("keys", str(live.home / "keys.json"), "--json").object
    assert saved["keys"] >= 1
    count = saved["keys"]
    told = live.run("keys", str(live.home / "keys.json")).out
    assert told.startswith(f"Saved {count} public {'key' if count == 1 else 'keys'} in ")
    # Without a key and a base URL, only the file is left.
    live.key, live.base_url = None, ""
    offline = live.run("verify", "-", "--keys", saved["file"], stdin=card["token"])
    assert (offline.code, offline.out.split()[:2]) == (0, ["VALID", card["card_number"].split()[0]])
    old = live.run("verify", expired["token"], "--keys", saved["file"], "--json")
    assert (old.code, old.object["reason"], old.object["offline"]) == (1, "expired", True)


def test_keys_that_were_saved_are_found_again(sandbox: Terminal) -> None:
    missing = sandbox.run("verify", "SVC1.TEST_VALID.0.0", "--offline")
    assert (missing.code, missing.out) == (2, "")
    assert "gatepass-cli keys" in missing.err
    saved = sandbox.run("keys")
    assert (saved.code, saved.out.startswith("There is no public key to save: the sandbox")) == (0, True)
    assert sandbox.run("verify", "SVC1.TEST_VALID.0.0", "--offline").code == 0
    forged = sandbox.run("verify", "SVC1.forged.0.0")
    assert (forged.code, forged.out.split()) == (1, ["INVALID", "invalid_token"])


def test_events_are_listed_and_shown(live: Terminal, stack: Stack) -> None:
    listed = live.run("events", "--json")
    assert listed.code == 0
    assert stack.event_id in [event["id"] for event in listed.objects]
    table = live.run("events", "list").out.splitlines()
    assert table[0].split() == ["ID", "STARTS", "STATUS", "TITLE", "CITY"]
    assert len(table) == len(listed.objects) + 1
    shown = live.run("events", "show", stack.event_id)
    assert f"id        {stack.event_id}".split() in [line.split() for line in shown.out.splitlines()]
    unknown = live.run("events", "show", "nowhere", "--json")
    assert (unknown.code, unknown.error["code"], unknown.error["exit_code"]) == (1, "event_not_found", 1)
    assert live.run("events", "--json", "list").code == 2
