"""`gatepass-cli scan`: the verdict on a line, in JSON and in the exit code."""

import re

import psycopg

from tests.sdk.cli.terminal import Terminal
from tests.sdk.stack import Stack


def test_the_exit_code_is_the_verdict(sandbox: Terminal) -> None:
    entered = sandbox.run("scan", "TEST_VIP")
    assert (entered.code, entered.err) == (0, "")
    assert entered.out.split() == ["ENTER", "TEST_VIP", "VIP", "(vip)"]
    stopped = sandbox.run("scan", "TEST_USED")
    assert (stopped.code, stopped.err) == (1, "")
    assert stopped.out.split()[:2] == ["STOP", "TEST_USED"]
    assert "already been activated" in stopped.out
    assert "req_" in stopped.out


def test_many_cards_are_scanned_in_their_order_and_the_highest_code_counts(sandbox: Terminal) -> None:
    cards = ["TEST_VALID", "TEST_USED", "SVC1.TEST_VIP.0.0", "TEST_EXPIRED", "TEST_NOBODY"]
    ran = sandbox.run("scan", "-", "--json", "--gate", "North 2", stdin="\n".join([*cards, ""]))
    assert ran.code == 1
    assert [one["line"] for one in ran.objects] == [1, 2, 3, 4, 5]
    assert [one["card_number"] for one in ran.objects][2] == "TEST_VIP"
    verdicts = [(one["verdict"], one.get("code")) for one in ran.objects]
    assert verdicts == [
        ("activated", None),
        ("refused", "already_activated"),
        ("activated", None),
        ("refused", "expired"),
        ("refused", "card_not_found"),
    ]
    assert all(one["request_id"].startswith("req_") for one in ran.objects)


def test_a_live_token_activates_its_ticket_once_with_its_gate_and_key(live: Terminal, stack: Stack) -> None:
    card = stack.unused()
    options = ["--event", stack.event_id, "--gate", "North 2", "--scanner", "hand-7", "--occurred-at", "2m", "--json"]
    first = live.run("scan", card["token"], *options, "--key", "cli-key-1").object
    assert (first["verdict"], first["card_number"], first["replayed"]) == ("activated", card["card_number"], False)
    again = live.run("scan", card["card_number"], *options)
    assert again.code == 1
    assert again.object["code"] == "already_activated"
    assert again.object["details"]["gate"] == "North 2"
    with psycopg.connect(stack.database_url) as connection:
        query = "SELECT gate, scanner_id, occurred_at < at FROM scan WHERE card_number = %s AND verdict = 'activated'"
        kept = connection.execute(query, [card["card_number"]]).fetchall()
    assert kept == [("North 2", "hand-7", True)]


def test_the_first_time_is_told_by_the_clock_at_the_gate(live: Terminal, stack: Stack) -> None:
    card = stack.unused()["card_number"]
    options = ["--event", stack.event_id, "--gate", "North 2"]
    assert live.run("scan", card, *options).code == 0
    again = live.run("scan", card, *options)
    assert re.search(r" First: (?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d, North 2\. \(req_", again.out), again.out


def test_a_file_of_cards_with_a_bar_at_a_terminal(live: Terminal, stack: Stack) -> None:
    file = live.home / "cards.txt"
    cards = [stack.unused()["card_number"] for _ in range(3)]
    file.write_text("\n".join([*cards, "", cards[0]]))
    seen = live.run_in_pty("scan", "--file", str(file), "--event", stack.event_id)
    assert seen.count("ENTER") == 3
    assert seen.count("STOP") == 1
    assert "Scanning" in seen
    assert "4/4" in seen


def test_wrong_usage_is_reported_before_anything_is_sent(live: Terminal) -> None:
    no_event = live.run("scan", "SVC 1", "--json")
    assert (no_event.code, no_event.out) == (2, "")
    assert "--event" in no_event.error["error"]
    no_zone = live.run("scan", "SVC 1", "--event", "x", "--occurred-at", "2026-06-15T18:30:00")
    assert (no_zone.code, no_zone.out) == (2, "")
    assert "zone" in no_zone.err
