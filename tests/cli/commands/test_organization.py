"""Organizations from the command line: list, suspend, resume, close, export, against running processes."""

import json
import stat
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gatepass.domain.lifecycle.export import FILES, OF_A_SANDBOX
from tests.cli.command import Command
from tests.cli.gate import DEMO, Gate, rows, serving

SUSPENDED = (403, "organization_suspended")
TENANT_TABLES = """
    SELECT c.relname
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'organization_id'
     WHERE c.relnamespace = 'public'::regnamespace
       AND c.relkind IN ('r', 'p')
       AND NOT c.relispartition
"""


def test_running_processes_refuse_the_next_call_and_take_the_first_after_resume(
    demo_command: Command, demo: dict[str, Any]
) -> None:
    """The key is cached in the process: nothing but the statement of a scan could notice."""
    with serving(demo_command) as client:
        gate = Gate(client, demo, demo["keys"]["live"])
        other = Gate(client, demo, demo["keys"]["other_organization"])
        assert [gate.scan()[0], gate.scan()[0], gate.verify()[0], other.events()[0]] == [200] * 4

        told = demo_command.cold("organization", "suspend", DEMO, "--reason", "The invoice of May is open.")
        assert told.returncode == 0, told.stderr
        assert told.stdout.startswith(f"{DEMO} is suspended. Keys that are refused: ")
        assert [gate.scan(), gate.verify(), gate.events()] == [SUSPENDED] * 3
        assert other.events()[0] == 200, "nobody else is touched"
        revoked = Gate(client, demo, demo["keys"]["revoked"])
        assert revoked.events() == (401, "invalid_key"), "a revoked key is told what it always was"

        assert demo_command("organization", "resume", DEMO).returncode == 0
        assert [gate.scan()[0], gate.verify()[0], gate.events()[0]] == [200] * 3
    logged = rows(demo_command, "SELECT path, status FROM logged_call WHERE code = 'organization_suspended'")
    assert sorted(logged) == [("/card/verify", 403), ("/events", 403), ("/scan", 403)]
    assert rows(demo_command, "SELECT count(*) FROM api_key WHERE resumed_expires_at IS NOT NULL") == [(0,)]


def test_a_key_keeps_its_own_expiry_and_a_revoked_one_stays_revoked(
    demo_command: Command, demo: dict[str, Any]
) -> None:
    before = rows(demo_command, "SELECT id, expires_at, revoked_at FROM api_key ORDER BY id")
    assert demo_command("organization", "suspend", demo["organization_id"], "--reason", "x").returncode == 0
    assert rows(demo_command, "SELECT id, expires_at, revoked_at FROM api_key ORDER BY id") != before
    assert demo_command("organization", "resume", demo["organization_id"]).returncode == 0
    assert rows(demo_command, "SELECT id, expires_at, revoked_at FROM api_key ORDER BY id") == before


def test_what_was_done_is_in_the_audit_log_and_in_the_log(demo_command: Command, demo: dict[str, Any]) -> None:
    told = demo_command("organization", "suspend", DEMO, "--reason", "Abuse.")
    line = json.loads(told.stderr)
    assert (line["event"], line["actor"], line["organization_ids"], line["reason"]) == (
        "organization_suspended", "operator", [demo["organization_id"]], "Abuse.",
    )  # fmt: skip
    assert json.loads(demo_command("organization", "resume", DEMO).stderr)["event"] == "organization_resumed"
    last = "SELECT action, actor, was, reason FROM audit_log WHERE subject = 'organization' ORDER BY at DESC LIMIT 2"
    assert rows(demo_command, last) == [
        ("resumed", "operator", "suspended", None),
        ("suspended", "operator", None, "Abuse."),
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("suspend", "Nobody", "--reason", "x"), 1, "No organization is called Nobody."),
        (("suspend", DEMO, "--reason", "a\nb"), 2, "A reason is one line of 1 to 500 characters."),
        (("suspend", DEMO, "--reason", " "), 2, "A reason is one line of 1 to 500 characters."),
        (("resume", DEMO), 1, f"{DEMO}: It is not suspended."),
        (("close", DEMO, "--reason", "x"), 2, "Say --yes: there is nobody to ask."),
    ],
)
def test_what_cannot_be_done_is_one_line(
    demo_command: Command, demo: dict[str, Any], arguments: tuple[str, ...], code: int, told: str
) -> None:
    answer = demo_command("organization", *arguments)
    assert (answer.returncode, answer.stderr.strip(), answer.stdout) == (code, told, "")


def test_the_list_has_every_organization_with_its_state(demo_command: Command, demo: dict[str, Any]) -> None:
    lines = demo_command("organization", "list").stdout.splitlines()
    assert len(lines) == 2
    mine = next(line for line in lines if line.startswith(demo["organization_id"]))
    assert "  open " in mine
    assert mine.endswith(f"  {DEMO}")
    found = [json.loads(line) for line in demo_command("organization", "list", "--json").stdout.splitlines()]
    assert {one["state"] for one in found} == {"open"}
    assert [one["keys"] for one in found if one["id"] == demo["organization_id"]] == [6]


def test_the_export_holds_everything_and_only_of_this_organization(
    demo_command: Command, demo: dict[str, Any], tmp_path: Path
) -> None:
    folder = tmp_path / "export"
    told = demo_command("organization", "export", DEMO, "--to", str(folder))
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stderr)["event"] == "organization_exported"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["format"], manifest["version"]) == ("gatepass-organization", 1)
    sandbox = {f"sandbox/{name}.jsonl" for name in OF_A_SANDBOX}
    assert set(manifest["files"]) == {f"{name}.jsonl" for name in FILES} | sandbox
    for name, known in manifest["files"].items():
        content = (folder / name).read_bytes()
        assert (sha256(content).hexdigest(), len(content)) == (known["sha256"], known["bytes"]), name
        assert len([json.loads(line) for line in content.splitlines()]) == known["rows"], name
    counted = {
        "cards": "SELECT count(*) FROM card c WHERE c.organization_id = '{}'",
        "tickets": "SELECT count(*) FROM ticket t WHERE t.organization_id = '{}'",
        "api_keys": "SELECT count(*) FROM api_key k WHERE k.organization_id = '{}'",
    }
    for name, query in counted.items():
        assert rows(demo_command, query.format(demo["organization_id"])) == [
            (manifest["files"][f"{name}.jsonl"]["rows"],)
        ]
    written = [path for path in folder.rglob("*") if path.is_file()]
    everything = "".join(path.read_text() for path in written)
    assert demo["events"]["other_organization"] not in everything
    assert demo["cards"]["other_organization"]["card_number"] not in everything
    for (hash,) in rows(demo_command, "SELECT encode(hash, 'hex') FROM api_key"):
        assert hash not in everything
    assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "sandbox")} == {0o700}
    again = demo_command("organization", "export", DEMO, "--to", str(folder))
    assert (again.returncode, again.stderr) == (2, f"{folder} exists already. Name a new folder.\n")


def test_text_of_any_kind_survives_the_export(demo_command: Command, demo: dict[str, Any], tmp_path: Path) -> None:
    """What a CSV writer would quote or escape: quotes, commas, backslashes, line ends, and letters of everywhere."""
    name = 'Zoë "Ö\'Neill", \\N \\. \\\\ \x01\x02\t"\n漢 \u2028 end'
    with psycopg.connect(demo_command.env["GATEPASS_DATABASE_URL"]) as connection:
        connection.execute(
            "INSERT INTO card_holder (organization_id, card_id, name, email)"
            " SELECT organization_id, id, %s, 'zoe@example.org'"
            "   FROM card WHERE organization_id = %s ORDER BY id LIMIT 1"
            " ON CONFLICT (organization_id, card_id) DO UPDATE SET name = excluded.name",
            (name, demo["organization_id"]),
        )
    folder = tmp_path / "export"
    assert demo_command("organization", "export", DEMO, "--to", str(folder)).returncode == 0
    lines = (folder / "card_holders.jsonl").read_bytes().split(b"\n")
    assert name in [json.loads(line)["name"] for line in lines if line]


def test_a_closed_organization_loses_its_keys_and_is_erased_in_time(
    demo_command: Command, demo: dict[str, Any]
) -> None:
    """The last test on this database: maintenance erases one organization and leaves the other."""
    tables = [name for (name,) in rows(demo_command, TENANT_TABLES)]
    of_others = {
        table: rows(demo_command, f"SELECT count(*) FROM {table} WHERE organization_id <> '{demo['organization_id']}'")
        for table in tables
    }
    with serving(demo_command) as client:
        gate = Gate(client, demo, demo["keys"]["live"])
        assert gate.scan()[0] in (200, 409)
        told = demo_command(
            "organization", "close", DEMO, "--reason", "The festival is over.", "--keep-days", "7", "--yes"
        )
        assert told.returncode == 0, told.stderr
        assert [gate.scan(), gate.events()] == [(401, "invalid_key")] * 2
    assert "closed" in demo_command("organization", "list").stdout
    assert demo_command("maintenance").returncode == 0
    assert rows(demo_command, "SELECT count(*) FROM card") > [(1,)], "not before the day after its day"

    with psycopg.connect(demo_command.env["GATEPASS_DATABASE_URL"]) as connection:
        connection.execute("UPDATE organization SET erase_at = now() - interval '25 hours' WHERE closed_at IS NOT NULL")
    done = demo_command("maintenance")
    assert (done.returncode, json.loads(done.stderr)["event"]) == (0, "organization_erased")
    assert "organization rows erased: " in done.stdout
    assert rows(demo_command, "SELECT count(*) FROM organization") == [(1,)]
    for table in tables:
        assert rows(demo_command, f"SELECT count(*) FROM {table}") == of_others[table], table
