"""`gatepass-cli events`, `cards`, `tickets` and `import`: from an empty organization to cancelled tickets."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.sdk.cli.terminal import Terminal

SPAN = ("--starts", "2040-05-01T18:00:00Z", "--ends", "2040-05-01T23:00:00Z")


@pytest.fixture
def event_id(live: Terminal) -> str:
    """A published event with 2,000 places."""
    id = live.run("events", "create", "Night", *SPAN, "--json").object["id"]
    category = ("General", "--price", "25.50", "--currency", "EUR", "--places", "2000")
    assert live.run("events", "add-category", id, *category, "--json").object["price"] == 25.5
    assert live.run("events", "publish", id, "--json").object["status"] == "published"
    return id


def test_an_event_is_made_changed_and_cancelled(live: Terminal, event_id: str) -> None:
    draft = live.run("events", "create", "Draft", *SPAN, "--venue", "Hall", "--json").object["id"]
    assert draft in live.run("events", "list", "--status", "draft").out
    changed = live.run("events", "update", draft, "--title", "Day", "--venue", "", "--json").object
    assert (changed["title"], changed["venue"]) == ("Day", None)
    refused = live.run("events", "publish", draft)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("It cannot be published yet. Add a ticket category")
    assert live.run("events", "delete", draft).code == 2
    assert live.run("events", "delete", draft, "--yes", "--json").object == {"id": draft, "deleted": True}
    assert live.run("events", "update", event_id).code == 2
    asked = live.run("events", "cancel", event_id, "--reason", "Storm")
    assert (asked.code, asked.err) == (2, "Cancel Night and its 0 tickets, for good? Say --yes if so.\n")
    assert "cancelled" in live.run("events", "cancel", event_id, "--reason", "Storm", "--yes").out
    assert live.run("events", "end", event_id, "--yes").code == 1
    asked = live.run("events", "reopen", event_id, "--reason", "It goes on")
    assert (asked.code, asked.err) == (2, "Open Night again? Say --yes if so.\n")
    assert "is cancelled" in live.run("events", "reopen", event_id, "--reason", "It goes on", "--yes").err


def test_a_ticket_is_issued_moved_and_cancelled(live: Terminal, event_id: str) -> None:
    email, order = f"ada-{uuid4().hex[:8]}@example.com", ("--external-id", "order-1")
    issue = ("tickets", "issue", "--event", event_id, "--category", "general", "--email", email)
    ticket = live.run(*issue, *order, "--json").object
    assert (ticket["state"], ticket["external_id"]) == ("issued", "order-1")
    assert live.run(*issue, *order, "--json").object["id"] == ticket["id"]
    taken = live.run(*issue, *order, "--name", "Ada", "--json")
    assert (taken.code, taken.error["code"]) == (1, "external_id_taken")
    assert live.run(*issue, "--card", ticket["card_id"]).code == 2
    assert live.run("tickets", "issue", "-e", event_id, "-c", "VIP", "--name", "Ada").code == 2

    moved = live.run("tickets", "transfer", ticket["id"], "--name", "Bo", "--json").object
    assert moved["card_id"] != ticket["card_id"]
    (line,) = live.run("tickets", "list", "--event", event_id, "--state", "issued").out.splitlines()[1:]
    assert line.split()[0] == ticket["id"]
    shown = live.run("tickets", "cancel", ticket["id"], "--reason", "refund").out
    assert ["because", "refund"] in [line.split() for line in shown.splitlines()]
    again = live.run("tickets", "cancel", ticket["id"], "--reason", "refund")
    assert (again.code, "This ticket was cancelled." in again.err) == (1, True)


def test_a_card_is_registered_corrected_and_replaced(live: Terminal) -> None:
    email = f"ada-{uuid4().hex[:8]}@example.com"
    card = live.run("cards", "create", "--name", "Ada", "--email", email, "--json").object
    assert live.run("cards", "create", "--email", email.upper(), "--json").object["id"] == card["id"]
    assert f"Ada <{email}>" in live.run("cards", "list", "--number", card["number"]).out
    assert live.run("cards", "update", card["id"]).code == 2
    assert live.run("cards", "update", card["id"], "--locale", "fr", "--json").object["holder"]["locale"] == "fr"
    assert live.run("cards", "suspend", card["id"], "--reason", "lost", "--json").object["status"] == "suspended"
    refused = live.run("cards", "token", card["id"], "--json")
    assert (refused.code, refused.error["code"]) == (1, "card_suspended")
    live.run("cards", "resume", card["id"], "--reason", "found")
    token = live.run("cards", "token", card["id"])
    assert live.run("verify", token.out.strip(), "--json").object["card_number"] == card["number"]
    assert live.run("cards", "replace", card["id"], "--reason", "lost").code == 2
    new = live.run("cards", "replace", card["id"], "--reason", "lost", "--yes", "--json").object
    assert (new["holder"]["name"], live.run("cards", "show", card["id"], "--json").object["status"]) == (
        "Ada",
        "revoked",
    )
    assert live.run("cards", "revoke", new["id"], "--reason", "over", "--yes", "--json").object["status"] == "revoked"


def rows(count: int) -> Iterator[str]:
    yield "External_ID;Name;category;note"
    for number in range(count):
        yield f'order-{number};"Guest; {number}";General;x'


def test_an_import_is_run_again_and_issues_nothing_twice(live: Terminal, event_id: str, tmp_path: Path) -> None:
    file = tmp_path / "guests.csv"
    file.write_text("\n".join(rows(700)), "utf-8-sig")
    first = live.run("import", str(file), "--event", event_id)
    assert (first.code, first.out, first.err) == (0, "700 tickets were issued.\n", "")
    file.write_text(
        "\n".join([*rows(1500), ";No order;General", "x;No such;VIP", "order-1;Other;General", ""]), "utf-8"
    )
    seen = live.run_in_pty("import", str(file), "--event", event_id, env={"COLUMNS": "100"})
    assert "Importing" in seen
    assert "800 tickets were issued, 700 were there already, 3 rows were refused." in seen
    again = live.run("import", str(file), "--event", event_id, "--json")
    *items, total = again.objects
    assert (again.code, total) == (1, {"issued": 0, "already_issued": 1500, "refused": 3})
    refused = [(item["row"], item.get("code")) for item in items if "error" in item]
    assert sorted(refused, key=str) == [(1502, None), (1503, None), (1504, "external_id_taken")]
    (category,) = live.run("events", "show", event_id, "--json").object["ticket_categories"]
    assert category["quantity_sold"] == 1500


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"name,email\nAda,a@example.com\n", "external_id among them"),
        (b"", "external_id among them"),
        ("external_id,name\n1,Zoë\n".encode("latin-1"), "is not in UTF-8"),
    ],
)
def test_a_file_that_cannot_be_imported_is_told(live: Terminal, tmp_path: Path, content: bytes, sentence: str) -> None:
    file = tmp_path / "guests.csv"
    file.write_bytes(content)
    ran = live.run("import", str(file), "--event", str(uuid4()))
    assert (ran.code, ran.out, sentence in ran.err) == (2, "", True)
