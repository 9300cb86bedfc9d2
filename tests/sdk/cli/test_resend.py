"""`gatepass-cli resend`: what is restored, and what needs a person."""

from datetime import UTC, datetime

from gatepass_sdk import Gatepass, ScanQueue
from tests.postgres import free_port
from tests.sdk.cli.terminal import Terminal
from tests.sdk.stack import Stack


def scanned(live: Terminal, stack: Stack, cards: list[str]) -> str:
    """The file of a gate that scanned these cards."""
    path = live.home / "scans.db"
    with Gatepass(stack.key("live"), base_url=stack.base_url) as client, ScanQueue(path) as queue:
        for card in cards:
            queue.add(stack.event_id, card_number=card, gate="North", scanner_id="hand-7")
        queue.drain(client)
    return str(path)


def test_the_counts_and_the_exit_code_tell_whether_all_is_well(live: Terminal, stack: Stack) -> None:
    began = datetime.now(UTC).isoformat()
    file = scanned(live, stack, [stack.unused()["card_number"] for _ in range(2)])
    ran = live.run("resend", file, "--since", "10m")
    assert (ran.code, ran.out) == (0, "0 activations were lost and are restored, 2 were there.\n")
    in_json = live.run("resend", file, "--since", began, "--json")
    assert in_json.code == 0
    assert in_json.object == {
        "restored": 0,
        "present": 2,
        "unanswered": 0,
        "conflict": [],
        "refused": [],
        "missing": [],
    }


def test_what_needs_a_person_is_listed(live: Terminal, stack: Stack) -> None:
    card = stack.unused()["card_number"]
    began = datetime.now(UTC).isoformat()
    with Gatepass(stack.key("live"), base_url=stack.base_url) as client:
        client.scans.create(stack.event_id, card_number=card, gate="South", scanner_id="hand-8")
    file = scanned(live, stack, [card])
    ran = live.run("resend", file, "--since", began)
    assert ran.code == 1
    (row,) = [line for line in ran.out.splitlines() if card in line]
    assert row.startswith("missing")
    assert "gate=South,scanner_id=hand-8" in row
    (missing,) = live.run("resend", file, "--since", began, "--json").object["missing"]
    assert (missing["card_number"], missing["details"]["gate"]) == (card, "South")


def test_a_service_that_does_not_answer_is_told_apart(live: Terminal, stack: Stack) -> None:
    file = scanned(live, stack, [stack.unused()["card_number"]])
    nowhere = f"http://127.0.0.1:{free_port()}/api/public/v1"
    ran = live.run("resend", file, "--since", "10m", "--base-url", nowhere, "--timeout", "0.3")
    assert ran.code == 4
    assert "1 activations were not answered: run it again." in ran.err
