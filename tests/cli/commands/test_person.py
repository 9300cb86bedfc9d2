"""Links from the command line: for the first owner of an organization, and for a person without credentials."""

import json

import psycopg
import pytest

from tests.cli.command import Command

OWNER = "ada@example.org"


def rows(command: Command, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(command.env["GATEPASS_DATABASE_URL"]) as connection:
        return connection.execute(query.encode()).fetchall()


def an_owner(command: Command) -> str:
    """Ada, who owns Harbour Nights and has a password; her id."""
    organization, person = "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"
    with psycopg.connect(command.env["GATEPASS_DATABASE_URL"]) as connection:
        connection.execute(
            f"""
            INSERT INTO organization (id, name, created_at) VALUES ('{organization}', 'Harbour Nights', now());
            INSERT INTO person (id, email, name, created_at) VALUES ('{person}', '{OWNER}', 'Ada', now());
            INSERT INTO password (person_id, hash, set_at) VALUES ('{person}', 'a hash', now());
            INSERT INTO member (organization_id, person_id, role, joined_at)
            VALUES ('{organization}', '{person}', 'owner', now())
            """.encode()
        )
    return person


def test_an_organization_with_a_link_for_its_owner(on_database: Command) -> None:
    told = on_database("organization", "create", "Harbour Nights", "--owner", OWNER)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith("http://localhost:8000/studio/welcome/")
    assert rows(on_database, "SELECT o.name, i.email, i.role FROM organization o JOIN invitation i ON true") == [
        ("Harbour Nights", OWNER, "owner")
    ]
    assert rows(on_database, "SELECT count(*) FROM signing_key") == [(1,)]
    assert rows(on_database, "SELECT DISTINCT actor FROM audit_log") == [("operator",)]


@pytest.mark.parametrize(("name", "owner"), [("", OWNER), ("x" * 201, OWNER), ("Fine", "nobody"), ("a\nb", OWNER)])
def test_what_cannot_be_made_leaves_nothing(on_database: Command, name: str, owner: str) -> None:
    told = on_database("organization", "create", name, "--owner", owner)
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert rows(on_database, "SELECT FROM organization") == []


def test_a_link_for_somebody_who_lost_everything_is_in_the_audit(on_database: Command) -> None:
    person = an_owner(on_database)
    told = on_database.cold("person", "link", OWNER.upper())
    assert (told.returncode, told.stderr.partition(".")[0]) == (0, "Removed: 1 password")
    assert told.stdout.startswith("http://localhost:8000/studio/link/")
    assert told.stdout.count("\n") == 1, "nothing but the link, for a script"
    assert rows(on_database, "SELECT actor, subject_id::text, action, becomes FROM audit_log ORDER BY action") == [
        ("operator", person, "account_reset", "removed: 1 password"),
        ("operator", person, "sign_in_link_made", None),
    ]
    assert rows(on_database, "SELECT proven_at IS NOT NULL FROM person") == [(True,)]
    assert rows(on_database, "SELECT FROM password") == []
    (minutes,) = rows(
        on_database, "SELECT (expires_at - now()) BETWEEN '14 minutes' AND '15 minutes' FROM sign_in_link"
    )
    assert minutes == (True,)


def test_a_link_that_keeps_everything_proves_nothing(on_database: Command) -> None:
    an_owner(on_database)
    told = on_database("person", "link", OWNER, "--keep-credentials")
    assert (told.returncode, told.stderr.partition(".")[0]) == (0, "Kept everything that they sign in with")
    assert rows(on_database, "SELECT proven_at FROM person") == [(None,)]
    assert rows(on_database, "SELECT count(*) FROM password") == [(1,)]


def test_an_account_is_removed_and_its_address_is_free(on_database: Command) -> None:
    an_owner(on_database)
    told = on_database("person", "remove", OWNER)
    assert (told.returncode, told.stderr) == (
        1,
        f"{OWNER} is the only owner of Harbour Nights. Make somebody else an owner first, or use --even-last-owner.\n",
    )
    told = on_database("person", "remove", OWNER, "--even-last-owner")
    assert (told.returncode, told.stdout) == (0, f"Removed {OWNER}, a member of Harbour Nights, with: 1 password.\n")
    assert rows(on_database, "SELECT FROM member") == []
    assert on_database("person", "link", OWNER).returncode == 1


def test_an_account_is_disabled_and_enabled_again(on_database: Command) -> None:
    person = an_owner(on_database)
    told = [on_database("person", command, OWNER) for command in ("disable", "disable", "enable", "enable")]
    assert [one.stdout for one in told] == [
        f"{OWNER} is disabled. Sessions that ended: 0.\n",
        f"{OWNER} was disabled already.\n",
        f"{OWNER} can sign in again.\n",
        f"{OWNER} was not disabled.\n",
    ]
    assert [json.loads(one.stderr)["event"] for one in told if one.stderr] == ["account_disabled", "account_enabled"]
    entries = "SELECT actor, subject_id::text, action FROM audit_log ORDER BY at"
    assert rows(on_database, entries) == [
        ("operator", person, "account_disabled"),
        ("operator", person, "account_enabled"),
    ]


def test_a_disabled_person_gets_no_link(on_database: Command) -> None:
    an_owner(on_database)
    on_database("person", "disable", OWNER)
    told = on_database("person", "link", OWNER)
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr == f"{OWNER} is disabled. Run `gatepass person enable {OWNER}` first.\n"
    assert rows(on_database, "SELECT count(*) FROM password") == [(1,)], "nothing was reset"


def test_people_are_listed_with_their_roles(on_database: Command) -> None:
    an_owner(on_database)
    line = f"{OWNER}  enabled   seen never  owner of Harbour Nights\n"
    assert on_database("person", "list").stdout == line
    assert on_database("person", "list", "--organization", "Harbour Nights").stdout == line
    (found,) = [json.loads(one) for one in on_database("person", "list", "--json").stdout.splitlines()]
    assert (found["email"], found["disabled_at"], found["roles"]) == (OWNER, None, ["owner of Harbour Nights"])


@pytest.mark.parametrize("command", ["link", "remove", "disable", "enable"])
def test_nobody_is_told_apart(on_database: Command, command: str) -> None:
    told = on_database("person", command, "nobody@example.org")
    assert (told.returncode, told.stderr) == (1, "Nobody here has the e-mail address nobody@example.org.\n")


def test_a_studio_that_is_locked_is_opened_again(on_database: Command) -> None:
    with psycopg.connect(on_database.env["GATEPASS_DATABASE_URL"]) as connection:
        connection.execute(
            b"""
            INSERT INTO organization (id, name, created_at, studio_networks)
            SELECT gen_random_uuid(), name, now(), '{192.0.2.0/24}'
              FROM unnest(ARRAY['Harbour Nights', 'Twins', 'Twins']) AS named (name)
            """
        )
    told = [on_database("organization", "clear-networks", "Harbour Nights") for _ in range(2)]
    assert [one.stdout for one in told] == ["Every address is allowed again.\n", "Every address was allowed already.\n"]
    assert rows(on_database, "SELECT actor, action, becomes FROM audit_log") == [
        ("operator", "studio_networks_chosen", "every address")
    ]
    unclear = on_database("organization", "clear-networks", "Twins")
    assert (unclear.returncode, "Name one by its id" in unclear.stderr) == (1, True)
    nobody = on_database("organization", "clear-networks", "Nobody")
    assert (nobody.returncode, nobody.stderr) == (1, "No organization is called Nobody.\n")
